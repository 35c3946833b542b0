'use strict'
// Watches connections that opened in the last five seconds and are still open. Counts those whose load is
// known, and sums the loop time of their listeners. The load of a connection is unknown until its first
// message. After a second without one, the connection counts as silent. Times are in buckets of half a
// second.

const BUCKET_MS = 500
const BUCKETS = 10
/** After this many buckets, a newcomer that has sent nothing counts as silent, so its load is known. */
const SILENT_BUCKETS = 2

/** The bucket of a closed connection. */
const GONE = Number.NEGATIVE_INFINITY

/** @param {number} ms */
const bucketOf = (ms) => Math.floor(ms / BUCKET_MS)

/** @typedef {{ bucket: number, hasSent: boolean }} Newcomer `bucket`: when it opened */

class Newcomers {
  /** How long the listeners of newcomers have run, until each first returned. */
  handledMs = 0
  #clock
  /**
   * Open connections by the bucket that they opened in, modulo BUCKETS. `#sentOf`: only those that have sent
   * a message
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
  /** How many newcomers have a known load. */
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
   * @param {Newcomer | undefined} newcomer undefined for a connection that was open before Spillway watched
   *   it
   * @param {number} nowMs
   * @returns {boolean} whether it is still a newcomer
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

  /** Called when a connection has closed, or is no longer watched. @param {Newcomer | undefined} newcomer */
  remove(newcomer) {
    if (newcomer === undefined || this.#forget() - newcomer.bucket >= BUCKETS) return
    this.#openOf[newcomer.bucket % BUCKETS]--
    if (newcomer.hasSent) this.#sentOf[newcomer.bucket % BUCKETS]--
    newcomer.bucket = GONE
  }
}

exports.Newcomers = Newcomers
