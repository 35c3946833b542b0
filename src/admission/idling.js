'use strict'
// When the loop last idled, and whether what has come now came while one long turn of it lasted. Where the loop was free
// before, such a turn (a handler that blocks, a collection, a timer of the application's) is no overload, and those that came
// meanwhile are no crowd: they would have been let in one by one. The time it took is credited to them, up to maxDelay.
//
// At the first request in the turn that is long, for Node reads in it who came by a connection it has, or at its end, for new
// connections are read in those after it. (50 ms awaited and 1 ms burnt, a hundred a second, where a timer blocks for a second:
// 80 of the hundred that came meanwhile were turned away over sockets, now 3.)

const LEAST_MS = 0.05
const SPARE_SHARE = 0.1
const MEAN_MS = 50

class Idling {
  /** When it last did. */
  sinceMs
  #clock
  #totalMs
  #hasNapped = false
  #turnedMs
  #busyMs = 0
  #idleShare = 1
  #isFree = false
  #targetDelayMs = 0
  #maxDelayMs = 0

  constructor(clock) {
    this.#clock = clock
    this.sinceMs = this.#turnedMs = clock.now()
    this.#totalMs = clock.idleMs()
  }

  update({ targetDelay, maxDelay }) {
    this.#targetDelayMs = Math.min(targetDelay, maxDelay)
    this.#maxDelayMs = maxDelay
  }

  hasIdled(nowMs) {
    return nowMs - this.sinceMs < this.#targetDelayMs
  }

  /** Whether it idles for a tenth of the time. Less is what is left over between the turns of a loop that has all it can do. */
  get hasSpareTime() {
    return this.#idleShare >= SPARE_SHARE
  }

  /** How long the kernel may have held who comes now: this turn so far, and half the one before if the loop did not idle. */
  heldMs(nowMs, turnMs) {
    const hasIdled = nowMs - this.sinceMs <= turnMs + 1
    return turnMs + (hasIdled ? 0 : this.#busyMs / 2)
  }

  /** The loop will sleep though jobs wait: that is no idling. */
  noteNap() {
    this.#hasNapped = true
  }

  /** @returns {number} for how long it has idled since the turn before */
  noteTurn(busyMs, nowMs, idleMs, isCrowded) {
    const idledMs = idleMs - this.#totalMs
    const hasIdled = idledMs > LEAST_MS && !this.#hasNapped
    if (hasIdled) this.sinceMs = nowMs
    this.#hasNapped = false
    const countedMs = hasIdled ? idledMs : 0
    this.#noteShare(countedMs, nowMs - this.#turnedMs)
    this.#totalMs = idleMs
    this.#turnedMs = nowMs
    this.#busyMs = busyMs
    this.#isFree = !isCrowded && this.hasIdled(nowMs)
    return countedMs
  }

  #noteShare(idledMs, elapsedMs) {
    if (elapsedMs <= 0) return
    const share = Math.min(1, idledMs / elapsedMs)
    this.#idleShare += (share - this.#idleShare) * Math.min(1, elapsedMs / MEAN_MS)
  }

  // Hot path: once a request, two comparisons in a turn that is not long.
  /** @returns {number} what is credited to those that come now: once for each long turn, else 0 */
  takeCreditMs(nowMs) {
    if (nowMs - this.#turnedMs < this.#targetDelayMs || !this.#isFree) return 0
    const busyMs = nowMs - this.#turnedMs - (this.#clock.idleMs() - this.#totalMs)
    if (busyMs < this.#targetDelayMs) return 0
    this.#isFree = false
    return Math.min(busyMs, this.#maxDelayMs)
  }
}

module.exports = { Idling }
