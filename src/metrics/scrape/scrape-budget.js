'use strict'
// How much of the loop all scrapes together may take, be they one or a hundred: half a millisecond of a turn, and a
// quarter of the time once they have had a tenth of a second. The rest is for what is gated, so that scrapes cannot starve it.
// Who finds it spent waits in line: whoever came first goes first, for a hundred half-written answers are of use to nobody.

const TURN_MS = 0.5
const SHARE = 0.25
/** A thousand series, rendered and written, take 10; so that a scrape that comes alone never waits. */
const BURST_MS = 100
/**
 * What writing costs, most of it after `write()` has returned, where nothing tells it: 0.5 ms a megabyte over loopback. Left
 * out, the quarter was two thirds.
 */
const MS_PER_BYTE = 0.5e-6
/** The place in the line before all others. */
const FIRST = 0

class ScrapeBudget {
  #clock
  #isLimited
  /** When the first work of this turn began; none if there was none. What else came since is part of the turn. */
  #sinceMs
  #creditMs = BURST_MS
  #creditedMs
  /** @type {{ order: number, work: () => any, bytes: number, resolve: (value: any) => void, reject: (error: unknown) => void }[]} */
  #waiting = []
  #lastOrder = FIRST

  /** @param {any} clock where time stands nothing may wait for it */
  constructor(clock) {
    this.#clock = clock
    this.#isLimited = !clock.stands
    this.#creditedMs = clock.now()
  }

  /** A place in the line, behind all there are. */
  takeOrder() {
    this.#lastOrder++
    return this.#lastOrder
  }

  /**
   * @param {number} order
   * @param {() => any} work does a part of it and returns, at once where nothing has to be waited for
   * @param {number} [bytes] how many it writes
   */
  run(order, work, bytes = 0) {
    if (this.#sinceMs === undefined) this.#begin()
    if (!this.#isSpent()) return this.#do(work, bytes)
    return new Promise((resolve, reject) => this.#queue({ order, work, bytes, resolve, reject }))
  }

  #do(work, bytes) {
    const sinceMs = this.#clock.now()
    try {
      return work()
    } finally {
      this.#creditMs -= Math.max(this.#clock.now() - sinceMs, bytes * MS_PER_BYTE)
    }
  }

  /** Most come last: they are looked at from there. */
  #queue(entry) {
    let at = this.#waiting.length
    while (at > 0 && this.#waiting[at - 1].order > entry.order) at--
    this.#waiting.splice(at, 0, entry)
  }

  #isSpent() {
    return this.#isUsedUp() || this.#clock.now() - this.#sinceMs >= TURN_MS
  }

  #isUsedUp() {
    return this.#isLimited && this.#creditMs <= 0
  }

  #begin() {
    this.#sinceMs = this.#clock.now()
    this.#credit()
    const next = () => {
      this.#sinceMs = undefined
      if (this.#waiting.length === 0) return
      this.#begin()
      this.#serve()
    }
    if (this.#isUsedUp()) this.#clock.after(-this.#creditMs / SHARE + 1, next)
    else this.#clock.afterTurn(next)
  }

  #credit() {
    const nowMs = this.#clock.now()
    this.#creditMs = Math.min(BURST_MS, this.#creditMs + (nowMs - this.#creditedMs) * SHARE)
    this.#creditedMs = nowMs
  }

  /** One after the other: what one has done may let it come again before the next. */
  #serve() {
    if (this.#sinceMs === undefined || this.#isSpent()) return
    const entry = this.#waiting.shift()
    if (entry === undefined) return
    try {
      entry.resolve(this.#do(entry.work, entry.bytes))
    } catch (error) {
      entry.reject(error)
    }
    queueMicrotask(() => this.#serve())
  }
}

module.exports = { FIRST, ScrapeBudget }
