'use strict'
// The connections that opened in the last five seconds and are open still: how many show what they do, and
// what their listeners took. A new connection counts from its first message on, or after a second of silence:
// at first it has sent nothing. Times are in buckets of half a second.

const BUCKET_MS = 500
const BUCKETS = 10
/** After so many buckets a newcomer that has sent nothing shows that it is silent. */
const SILENT_BUCKETS = 2

/** The bucket of one that is open no more. */
const GONE = Number.NEGATIVE_INFINITY

/** @param {number} ms */
const bucketOf = (ms) => Math.floor(ms / BUCKET_MS)

/** @typedef {{ bucket: number, hasSent: boolean }} Newcomer `bucket`: that it opened in */

class Newcomers {
  /** For how long their listeners have run, until each first returned. */
  handledMs = 0
  #clock
  /**
   * Open connections by the bucket that they opened in, modulo BUCKETS; and those of them that have sent a
   * message.
   */
  #openOf = new Float64Array(BUCKETS)
  #sentOf = new Float64Array(BUCKETS)
  #bucket

  /** @param {{ now: () => number }} clock */
  constructor(clock) {
    this.#clock = clock
    this.#bucket = bucketOf(clock.now())
  }

  // Hot path: once a loop turn.
  /** How many show what they do. */
  count() {
    const bucket = this.#forget()
    let count = 0
    for (let age = 0; age < BUCKETS && age <= bucket; age++) {
      const of = age < SILENT_BUCKETS ? this.#sentOf : this.#openOf
      count += of[(bucket - age) % BUCKETS]
    }
    return count
  }

  #forget() {
    const bucket = bucketOf(this.#clock.now())
    for (let each = Math.max(this.#bucket + 1, bucket - BUCKETS + 1); each <= bucket; each++)
      this.#openOf[each % BUCKETS] = this.#sentOf[each % BUCKETS] = 0
    this.#bucket = bucket
    return bucket
  }

  /** A connection has opened. @returns {Newcomer} */
  add() {
    const bucket = this.#forget()
    this.#openOf[bucket % BUCKETS]++
    return { bucket, hasSent: false }
  }

  // Hot path: once a message.
  /**
   * @param {Newcomer | undefined} newcomer undefined: it was open before
   * @param {number} nowMs
   * @returns {boolean} whether it is one still
   */
  receive(newcomer, nowMs) {
    if (newcomer === undefined || bucketOf(nowMs) - newcomer.bucket >= BUCKETS) return false
    if (!newcomer.hasSent) {
      this.#forget()
      newcomer.hasSent = true
      this.#sentOf[newcomer.bucket % BUCKETS]++
    }
    return true
  }

  /** It has closed, or is watched no longer. @param {Newcomer | undefined} newcomer */
  remove(newcomer) {
    if (newcomer === undefined || this.#forget() - newcomer.bucket >= BUCKETS) return
    this.#openOf[newcomer.bucket % BUCKETS]--
    if (newcomer.hasSent) this.#sentOf[newcomer.bucket % BUCKETS]--
    newcomer.bucket = GONE
  }
}

exports.Newcomers = Newcomers
