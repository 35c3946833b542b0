'use strict'
// The connections that opened in the last five seconds and are open still: how many show what they do, and
// what their listeners took. A new connection counts from its first message on, or after a second of silence:
// at first it has sent nothing. Times are in slots of half a second.

const SLOT_MS = 500
const SLOTS = 10
/** After so many slots a newcomer that has sent nothing shows that it is silent. */
const SILENT_SLOTS = 2

/** The slot of one that is open no more. */
const GONE = Number.NEGATIVE_INFINITY

/** @param {number} ms */
const slotOf = (ms) => Math.floor(ms / SLOT_MS)

/** @typedef {{ slot: number, hasSent: boolean }} Newcomer `slot`: that it opened in */

class Newcomers {
  /** For how long their listeners have run, until each first returned. */
  handledMs = 0
  #clock
  /**
   * How many are open of those that opened in a slot, by its number modulo SLOTS, and how many of these have
   * sent a message.
   */
  #openOf = new Float64Array(SLOTS)
  #sentOf = new Float64Array(SLOTS)
  #slot

  /** @param {{ now: () => number }} clock */
  constructor(clock) {
    this.#clock = clock
    this.#slot = slotOf(clock.now())
  }

  // Hot path: once a loop turn.
  /** How many show what they do. */
  count() {
    const slot = this.#forget()
    let count = 0
    for (let age = 0; age < SLOTS && age <= slot; age++) {
      const of = age < SILENT_SLOTS ? this.#sentOf : this.#openOf
      count += of[(slot - age) % SLOTS]
    }
    return count
  }

  #forget() {
    const slot = slotOf(this.#clock.now())
    for (let each = Math.max(this.#slot + 1, slot - SLOTS + 1); each <= slot; each++)
      this.#openOf[each % SLOTS] = this.#sentOf[each % SLOTS] = 0
    this.#slot = slot
    return slot
  }

  /** A connection has opened. @returns {Newcomer} */
  add() {
    const slot = this.#forget()
    this.#openOf[slot % SLOTS]++
    return { slot, hasSent: false }
  }

  // Hot path: once a message.
  /**
   * @param {Newcomer | undefined} newcomer undefined: it was open before
   * @param {number} nowMs
   * @returns {boolean} whether it is one still
   */
  receive(newcomer, nowMs) {
    if (newcomer === undefined || slotOf(nowMs) - newcomer.slot >= SLOTS) return false
    if (!newcomer.hasSent) {
      this.#forget()
      newcomer.hasSent = true
      this.#sentOf[newcomer.slot % SLOTS]++
    }
    return true
  }

  /** It has closed, or is watched no longer. @param {Newcomer | undefined} newcomer */
  remove(newcomer) {
    if (newcomer === undefined || this.#forget() - newcomer.slot >= SLOTS) return
    this.#openOf[newcomer.slot % SLOTS]--
    if (newcomer.hasSent) this.#sentOf[newcomer.slot % SLOTS]--
    newcomer.slot = GONE
  }
}

exports.Newcomers = Newcomers
