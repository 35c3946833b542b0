'use strict'
// Measures the turns of the event loop: the share of its time that it idles, and the stall-free clock. On
// that clock a turn counts for at most the cost of the requests that ended in it plus 20 ms. So a blocking
// handler, a collection or a suspended machine does not count as waiting (docs/decisions/0003).

/**
 * The time in a loop turn for requests that start in that turn, and their ticks and promises. Then the loop
 * polls and accepts again.
 */
const TURN_BUDGET_MS = 5
/** Interval of the timer that turns an otherwise sleeping loop while requests are queued. */
const RECHECK_MS = 2
/** Sampling interval of slow figures: clients, load, the share of rejections, the user's shortage. */
const SAMPLE_MS = 100
/** How far back recent clients and rejections count. */
const LATELY_MS = 1000
/** The horizon of the idle share. */
const HORIZON_MS = 50
/** A loop that idles at least this share of its time is idling; else it is full. */
const IDLE_SHARE = 0.1
/** How much a turn may exceed the known cost of its requests before the rest is a stall. */
const STALL_MS = 20
/** For how long a long turn is remembered. */
const LONG_MEMORY_MS = 3000

class LoopTurns {
  #clock
  #turnedMs
  #turnedIdleMs
  #busyMs = 0
  #idleShare = 1
  #stalledMs = 0
  #isSleeping = false
  /** How long the gate has made the loop sleep. The idle time of the clock includes this time. */
  sleptMs = 0
  #longestMs = 0
  #secondMs = 0

  /** @param {import('../../clock').Clock} clock */
  constructor(clock) {
    this.#clock = clock
    this.#turnedMs = clock.now()
    this.#turnedIdleMs = clock.idleMs()
  }

  /** The share of its time that the loop idles, averaged up to now. @param {number} nowMs */
  idleShare(nowMs) {
    // The turn has just been measured.
    if (nowMs === this.#turnedMs) return this.#idleShare
    const idledMs = this.#clock.idleMs() - this.#turnedIdleMs
    const busyMs = nowMs - this.#turnedMs - idledMs
    return shareAfter(this.#idleShare, this.#isSleeping ? 0 : idledMs, busyMs, HORIZON_MS)
  }

  /** Whether the loop was idling when the current turn began: before anything arrived in that turn. */
  get beganIdle() {
    return shareAfter(this.#idleShare, this.#clock.idleMs() - this.#turnedIdleMs, 0, HORIZON_MS) >= IDLE_SHARE
  }

  /** @param {number} nowMs */
  isIdling(nowMs) {
    return this.idleShare(nowMs) >= IDLE_SHARE
  }

  /**
   * The time on the stall-free clock. A stall is known only when its turn has ended; until then this clock
   * runs on.
   *
   * @param {number} nowMs
   */
  stallFreeMs(nowMs) {
    return nowMs - this.#stalledMs
  }

  /** How long the current turn has been busy. @param {number} nowMs @param {number} idleMs */
  #busySince(nowMs, idleMs) {
    return nowMs - this.#turnedMs - (idleMs - this.#turnedIdleMs)
  }

  /**
   * The mean time for which a ready callback has waited: the busy time of this turn, and half of that of the
   * previous turn.
   * @param {number} nowMs @param {number} idleMs
   */
  meanReadyDelayMs(nowMs, idleMs) {
    return this.#busySince(nowMs, idleMs) + this.#busyMs / 2
  }

  /**
   * The longest that a ready callback may have waited: this turn and the previous one.
   * @param {number} nowMs @param {number} idleMs
   */
  mostReadyDelayMs(nowMs, idleMs) {
    return this.#busySince(nowMs, idleMs) + this.#busyMs
  }

  /**
   * The usual long turn: the second-longest of the last seconds, without the known cost of the requests in
   * it.
   */
  get usualLongMs() {
    return this.#secondMs
  }

  /** @param {number} busyMs @param {number} elapsedMs */
  #recordLong(busyMs, elapsedMs) {
    const kept = Math.max(0, 1 - elapsedMs / LONG_MEMORY_MS)
    this.#longestMs *= kept
    this.#secondMs *= kept
    if (busyMs > this.#longestMs) {
      this.#secondMs = this.#longestMs
      this.#longestMs = busyMs
    } else if (busyMs > this.#secondMs) this.#secondMs = busyMs
  }

  /** The gate makes the loop sleep while requests are queued: that time does not count as idling. */
  onSleep() {
    this.#isSleeping = true
  }

  /**
   * @param {number} busyMs @param {number} nowMs @param {number} idleMs
   * @param {number} workMs the known cost of the requests that ended in this turn
   * @param {number} [longestMs] the longest turn, if `busyMs` is the sum of several short turns
   */
  onTurn(busyMs, nowMs, idleMs, workMs, longestMs = busyMs) {
    this.#recordLong(longestMs - workMs, nowMs - this.#turnedMs)
    this.#stalledMs += Math.max(0, busyMs - workMs - STALL_MS)
    const idledMs = idleMs - this.#turnedIdleMs
    if (this.#isSleeping) this.sleptMs += idledMs
    this.#idleShare = shareAfter(this.#idleShare, this.#isSleeping ? 0 : idledMs, busyMs, HORIZON_MS)
    this.#isSleeping = false
    this.#busyMs = longestMs
    this.#turnedMs = nowMs
    this.#turnedIdleMs = idleMs
  }
}

/**
 * The idle share after a turn. A turn first idles, in the poll phase, and then is busy.
 *
 * @param {number} before @param {number} idledMs @param {number} busyMs @param {number} horizonMs
 */
function shareAfter(before, idledMs, busyMs, horizonMs) {
  const share = 1 - (1 - before) * Math.exp(-idledMs / horizonMs)
  return share * Math.exp(-busyMs / horizonMs)
}

exports.IDLE_SHARE = IDLE_SHARE
exports.LATELY_MS = LATELY_MS
exports.LoopTurns = LoopTurns
exports.RECHECK_MS = RECHECK_MS
exports.SAMPLE_MS = SAMPLE_MS
exports.TURN_BUDGET_MS = TURN_BUDGET_MS
exports.shareAfter = shareAfter
