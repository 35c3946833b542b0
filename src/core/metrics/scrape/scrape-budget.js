'use strict'
// Limits the loop time of all scrapes together in two ways. In one loop turn they take half a millisecond.
// Over time they take a quarter of the loop's time, after an initial 100 ms. The rest of the loop is for
// gated requests, so that scrapes cannot starve them. Work beyond the budget waits in line. The oldest scrape
// goes first: finishing a few scrapes is better than half-writing all.

const TURN_MS = 0.5
const SHARE = 0.25
/**
 * A single scrape must never use up its credit, so that it waits only for the next loop turn. Rendering and
 * writing 1000 series takes 10 ms.
 */
const BURST_MS = 100
/**
 * The cost of a byte that was written. It arises after `write()` has returned, so it cannot be measured here.
 * On a slow host a megabyte costs 4 ms. When this constant was 0.5 ms per megabyte, scrapes of 8 MB took two
 * thirds of the loop and not a quarter.
 */
const MS_PER_BYTE = 4e-6
/** The number that goes before all others. */
const FIRST_IN_LINE = 0

/**
 * @typedef {{ number: number, work: () => unknown, bytes: number, resolve(value: unknown): void,
 *   reject(error: unknown): void }} Entry
 */

class ScrapeBudget {
  #clock
  #isLimited
  /** When the first work of this loop turn began; undefined before that. @type {number | undefined} */
  #sinceMs
  #creditMs = BURST_MS
  #creditedMs
  /** @type {Entry[]} */
  #waiting = []
  #lastNumber = FIRST_IN_LINE

  /** @param {import('../../clock').Clock} clock if its time is frozen, no scrape waits for credit */
  constructor(clock) {
    this.#clock = clock
    this.#isLimited = !clock.isFrozen
    this.#creditedMs = clock.now()
  }

  /** Returns a number that goes after all numbers given so far. */
  takeNumber() {
    this.#lastNumber++
    return this.#lastNumber
  }

  /**
   * Runs the work now and returns its result, or queues it and returns a promise.
   *
   * @template Result
   * @param {number} number from `takeNumber()`
   * @param {() => Result} work a small step of a scrape
   * @param {number} [bytes] the number of bytes that the work writes
   * @returns {Result | Promise<Result>}
   */
  run(number, work, bytes = 0) {
    if (this.#sinceMs === undefined) this.#begin()
    if (!this.#isSpent()) return this.#do(work, bytes)
    return new Promise((resolve, reject) => this.#queue({ number, work, bytes, resolve, reject }))
  }

  /**
   * @template Result
   * @param {() => Result} work
   * @param {number} bytes
   */
  #do(work, bytes) {
    const sinceMs = this.#clock.now()
    try {
      return work()
    } finally {
      this.#creditMs -= this.#clock.now() - sinceMs + bytes * MS_PER_BYTE
    }
  }

  /** Searches from the end, where most entries belong. @param {Entry} entry */
  #queue(entry) {
    let at = this.#waiting.length
    while (at > 0 && this.#waiting[at - 1].number > entry.number) at--
    this.#waiting.splice(at, 0, entry)
  }

  #isSpent() {
    return this.#isUsedUp() || this.#clock.now() - /** @type {number} */ (this.#sinceMs) >= TURN_MS
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

  /**
   * Serves one entry per microtask: a served scrape may queue its next step, which goes before later scrapes.
   */
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

exports.FIRST_IN_LINE = FIRST_IN_LINE
exports.ScrapeBudget = ScrapeBudget
