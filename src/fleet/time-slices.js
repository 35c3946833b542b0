'use strict'
// Work that comes in steps, cut into slices: the loop gets its turn after a millisecond of it. One for all the parts of a
// job: with one for each part, the reports of four workers, 0.6 ms each, were one block of 2.5.

const WORK_MS = 1

class Slices {
  #clock
  #sinceMs

  /** @param {{ now(): number, afterTurn(callback: () => void): unknown }} clock */
  constructor(clock) {
    this.#clock = clock
    this.#sinceMs = clock.now()
  }

  /** @param {Iterable<unknown>} steps */
  async run(steps) {
    for (const _ of steps) {
      if (this.#clock.now() - this.#sinceMs < WORK_MS) continue
      await new Promise((resolve) => this.#clock.afterTurn(() => resolve(undefined)))
      this.#sinceMs = this.#clock.now()
    }
  }
}

module.exports = { Slices }
