'use strict'
// A cut that was taken back, on probation. It was taken back because the throughput seemed to fall with the limit: now
// that must rise again. When those in flight at that moment have been answered, what ends is counted for a second:
//
//   ended + 2 sqrt(middle) < middle = (throughput when it was taken back + that before the cut) / 2 x time
//
// says that more concurrency has brought nothing. Then the throughput of before was not the pool's, but that of quick
// answers beside it which have ended since, and what was learnt meanwhile is the wait before the pool: it is forgotten.
// (Quick answers up to the moment at which twice a pool's load begins: p99 of the third second 456 to 500 ms and of the
// eighth still 408 to 440; now 84 to 90.)

const WATCHED_MS = 1000
const CERTAIN = 2

class Probation {
  isOn = false
  /** What was in flight whatever ended, before. */
  standing = 0
  #fromMs = 0
  #middle = 0
  #ended = 0
  #learnt = new Map()

  /**
   * @param {number} nowMs when it is taken back
   * @param {{ inFlight: number, throughput: number, before: number, standing: number }} found then
   */
  begin(nowMs, found) {
    // Of a cut taken back twice, what stood before the first time counts.
    if (!this.isOn) this.standing = found.standing
    this.isOn = true
    this.#fromMs = nowMs + found.inFlight / found.throughput
    this.#middle = (found.throughput + found.before) / 2
    this.#ended = 0
  }

  /** What is usual will be learnt anew. */
  keep(usual) {
    if (this.isOn && !this.#learnt.has(usual)) this.#learnt.set(usual, usual.learnt)
  }

  noteEnd(nowMs) {
    if (nowMs >= this.#fromMs) this.#ended++
  }

  isOver(nowMs) {
    return nowMs - this.#fromMs >= WATCHED_MS
  }

  /** @returns {number} the throughput, if it was wrong to take the cut back; 0 if not */
  end(nowMs) {
    this.isOn = false
    const watchedMs = nowMs - this.#fromMs
    const middle = this.#middle * watchedMs
    const wasWrong = this.#ended + CERTAIN * Math.sqrt(middle) < middle
    if (wasWrong) for (const [usual, learnt] of this.#learnt) usual.learnt = learnt
    this.#learnt.clear()
    return wasWrong ? this.#ended / watchedMs : 0
  }
}

module.exports = { Probation }
