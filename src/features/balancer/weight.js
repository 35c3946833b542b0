'use strict'
// The weight of this process among its servers, in per cent: 100 x (1 - pressure), at least 1. Servers of
// different speed then settle where weight and pressure agree. The two follow each other with a lag of a
// second or two, which the pressure and the checks cause. So the weight is a mean of five seconds, because a
// quicker weight would swing.

const HORIZON_MS = 5000
/** At weight 0, HAProxy sends no requests, so nothing would show that the pressure has gone. */
const LEAST = 1

class Weight {
  #clock
  #pressure
  #mean
  #readMs

  /**
   * @param {{ clock: Pick<import('../../core/clock').Clock, 'now'>, pressure: { readonly ratio: number } }}
   *   deps
   */
  constructor({ clock, pressure }) {
    this.#clock = clock
    this.#pressure = pressure
    this.#mean = pressure.ratio
    this.#readMs = clock.now()
  }

  get percent() {
    const nowMs = this.#clock.now()
    const kept = Math.exp((this.#readMs - nowMs) / HORIZON_MS)
    this.#mean = this.#mean * kept + this.#pressure.ratio * (1 - kept)
    this.#readMs = nowMs
    return Math.max(LEAST, Math.round(100 * (1 - this.#mean)))
  }
}

exports.Weight = Weight
