'use strict'
// Reports when the pressure passes one of the user's steps. On the way down a step is passed only 0.05 below
// it. So a pressure close to a step does not pass it again and again.

/**
 * @import { SpillwayEvents } from '../../../index.js'
 * @typedef {SpillwayEvents['pressure']} Passed
 */

const HYSTERESIS = 0.05

class Steps {
  #steps
  #onPass
  /** Number of steps that the pressure is above. */
  #above = 0

  /** @param {readonly number[]} steps @param {(passed: Passed) => void} onPass */
  constructor(steps, onPass) {
    this.#steps = [...new Set(steps)].sort((a, b) => a - b)
    this.#onPass = onPass
  }

  /** @param {number} pressure @param {Passed['by']} by */
  onSample(pressure, by) {
    while (this.#above < this.#steps.length && pressure >= this.#steps[this.#above])
      this.#onPass({ pressure, step: this.#steps[this.#above++], isAbove: true, by })
    while (this.#above > 0 && pressure < this.#steps[this.#above - 1] - HYSTERESIS)
      this.#onPass({ pressure, step: this.#steps[--this.#above], isAbove: false, by })
  }
}

exports.HYSTERESIS = HYSTERESIS
exports.Steps = Steps
