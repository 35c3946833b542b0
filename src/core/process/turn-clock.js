'use strict'
// Measures each loop turn, by an unref'd immediate. Unlike a timer, an immediate does not wake a sleeping
// loop and misses no stall. Being unref'd, it does not keep the loop spinning either. The busy time of a turn
// is the time since the last check phase, minus idle time. A stream has two short turns for each 64 kB, so
// short turns are summed. A turn is handed over alone only if it is long, or if `measureTurnAlone()` was
// called.

/**
 * A turn of this length or more is never summed with others: it makes requests wait, so its own length
 * matters.
 */
const LONG_MS = 1
/** Turns are summed for this long at most. */
const INTERVAL_MS = 10

/**
 * @typedef {(busyMs: number, nowMs: number) => void} OnEachTurn
 * @typedef {(busyMs: number, nowMs: number, idleMs: number, longestMs: number) => void} OnTurns
 * @typedef {(nowMs: number, idleMs: number) => void} OnInterval
 */

class TurnClock {
  #clock
  /** @type {OnEachTurn[]} */
  #ofEachTurn = []
  /** @type {OnTurns[]} */
  #ofTurns = []
  /** @type {OnInterval[]} */
  #ofIntervals = []
  /** @type {NodeJS.Immediate | undefined} */
  #immediate
  #lastMs = 0
  #lastIdleMs = 0
  #dueMs = 0
  /** The turns not handed over yet: whether there are any, their busy time, and the longest. */
  #hasTurns = false
  #busyMs = 0
  #longestMs = 0
  #isMeasuredAlone = false
  #tick = () => this.#onTurn()

  /** @param {import('../clock').Clock} clock */
  constructor(clock) {
    this.#clock = clock
  }

  /** @param {OnEachTurn} listener called once a turn */
  onEachTurn(listener) {
    this.#ofEachTurn.push(listener)
  }

  /** @param {OnTurns} listener called with one turn, or with a sum of short turns */
  onTurns(listener) {
    this.#ofTurns.push(listener)
  }

  /** @param {OnInterval} listener called in the first turn of each 10 ms */
  onInterval(listener) {
    this.#ofIntervals.push(listener)
  }

  // Hot path, once a request (bench/overhead).
  /** Hands over the sum so far. So the current turn is handed over alone when it ends. */
  measureTurnAlone = () => {
    if (this.#isMeasuredAlone) return
    this.#isMeasuredAlone = true
    if (this.#hasTurns) this.#handOver(this.#lastMs, this.#lastIdleMs)
  }

  start() {
    this.#lastMs = this.#clock.now()
    this.#lastIdleMs = this.#clock.idleMs()
    this.#immediate = this.#clock.onTurn(this.#tick)
  }

  close() {
    this.#clock.cancelTurn(this.#immediate)
    this.#ofEachTurn.length = this.#ofTurns.length = this.#ofIntervals.length = 0
  }

  // Hot path: once a loop turn. Allocates nothing but the immediate.
  #onTurn() {
    const nowMs = this.#clock.now()
    const idleMs = this.#clock.idleMs()
    const beforeMs = this.#lastMs
    const beforeIdleMs = this.#lastIdleMs
    const busyMs = nowMs - beforeMs - (idleMs - beforeIdleMs)
    this.#lastMs = nowMs
    this.#lastIdleMs = idleMs
    this.#immediate = this.#clock.onTurn(this.#tick)
    for (let i = 0; i < this.#ofEachTurn.length; i++) this.#ofEachTurn[i](busyMs, nowMs)
    const isLong = busyMs >= LONG_MS
    const isDue = nowMs >= this.#dueMs
    if (isLong && this.#hasTurns) this.#handOver(beforeMs, beforeIdleMs)
    this.#add(busyMs)
    if (isLong || isDue || this.#isMeasuredAlone) {
      // Reset before the listeners run, because a listener may call `measureTurnAlone()` for the next turn.
      this.#isMeasuredAlone = false
      this.#handOver(nowMs, idleMs)
    }
    if (isDue) this.#endInterval(nowMs, idleMs)
  }

  /** @param {number} busyMs */
  #add(busyMs) {
    this.#hasTurns = true
    this.#busyMs += busyMs
    if (busyMs > this.#longestMs) this.#longestMs = busyMs
  }

  /** @param {number} nowMs @param {number} idleMs */
  #handOver(nowMs, idleMs) {
    const busyMs = this.#busyMs
    const longestMs = this.#longestMs
    this.#hasTurns = false
    this.#busyMs = this.#longestMs = 0
    for (let i = 0; i < this.#ofTurns.length; i++) this.#ofTurns[i](busyMs, nowMs, idleMs, longestMs)
  }

  /** @param {number} nowMs @param {number} idleMs */
  #endInterval(nowMs, idleMs) {
    this.#dueMs = nowMs + INTERVAL_MS
    for (let i = 0; i < this.#ofIntervals.length; i++) this.#ofIntervals[i](nowMs, idleMs)
  }
}

exports.INTERVAL_MS = INTERVAL_MS
exports.LONG_MS = LONG_MS
exports.TurnClock = TurnClock
