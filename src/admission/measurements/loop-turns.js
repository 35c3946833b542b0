'use strict'
// Measures the turns of the event loop: the share of its time that it idles, and a patient
// clock for requests that wait. On that clock a turn counts for the work of the requests that ended in it and 20 ms more:
// a blocking handler, a collection or a stopped machine ages nobody (docs/decisions/0003).

/** The horizon of the idle share. */
const HORIZON_MS = 50
/** A loop that idles this share of its time has room. */
const ROOMY_SHARE = 0.1
/** What a turn counts for beyond the work in it. */
const STALL_MS = 20

class LoopTurns {
  #clock
  #workMs
  #turnedMs
  #turnedIdleMs
  #busyMs = 0
  #idleShare = 1
  #stalledMs = 0
  #isNapping = false

  /** @param {any} clock @param {() => number} workMs what the requests that ended in this turn are known to cost */
  constructor(clock, workMs) {
    this.#clock = clock
    this.#workMs = workMs
    this.#turnedMs = clock.now()
    this.#turnedIdleMs = clock.idleMs()
  }

  /** The share of its time that the loop idles, up to now. */
  idleShare(nowMs) {
    const idledMs = this.#clock.idleMs() - this.#turnedIdleMs
    return this.#shareAfter(this.#isNapping ? 0 : idledMs, nowMs - this.#turnedMs - idledMs)
  }

  /** In a turn the loop idles first, waiting for something to do, and is busy then. */
  #shareAfter(idledMs, busyMs) {
    const share = 1 - (1 - this.#idleShare) * Math.exp(-idledMs / HORIZON_MS)
    return share * Math.exp(-busyMs / HORIZON_MS)
  }

  /** Whether it had room when the turn that is running began: before anything came in it. */
  get beganWithRoom() {
    return this.#shareAfter(this.#clock.idleMs() - this.#turnedIdleMs, 0) >= ROOMY_SHARE
  }

  hasRoom(nowMs) {
    return this.idleShare(nowMs) >= ROOMY_SHARE
  }

  /** The time on the patient clock. Within a turn it goes on as any clock: what is a stall is known when the turn is over. */
  patientMs(nowMs) {
    return nowMs - this.#stalledMs
  }

  #stallOf(busyMs) {
    return busyMs > STALL_MS ? Math.max(0, busyMs - this.#workMs() - STALL_MS) : 0
  }

  /** For how long the turn that is running has been busy. */
  #busySince(nowMs, idleMs) {
    return nowMs - this.#turnedMs - (idleMs - this.#turnedIdleMs)
  }

  /** How long what is ready has waited for the loop, in the mean: for this turn so far, and half of the one before. */
  behindMs(nowMs, idleMs) {
    return this.#busySince(nowMs, idleMs) + this.#busyMs / 2
  }

  /** The loop sleeps until its next turn though requests are queued: that is no idling. */
  onNap() {
    this.#isNapping = true
  }

  onTurn(busyMs, nowMs, idleMs) {
    this.#stalledMs += this.#stallOf(busyMs)
    this.#idleShare = this.#shareAfter(this.#isNapping ? 0 : idleMs - this.#turnedIdleMs, busyMs)
    this.#isNapping = false
    this.#busyMs = busyMs
    this.#turnedMs = nowMs
    this.#turnedIdleMs = idleMs
  }
}

module.exports = { LoopTurns, ROOMY_SHARE }
