'use strict'
// What the user's own functions say: how hard pressed something behind us is, asked ten times a second, and how long a request
// may still wait. Each returns a number or nothing, and never an exception: that is reported, and counts as nothing.

const INTERVAL_MS = 100

class Callbacks {
  /** From 0 to 1. */
  pressure = 0
  #pressureMs = 0
  #options
  #faults

  constructor({ faults }) {
    this.#faults = faults
  }

  update(options) {
    this.#options = options
    if (options.pressure === undefined) this.pressure = 0
  }

  /** How long this request may still wait by its own deadline. */
  deadlineMs(request) {
    const { deadline } = this.#options
    if (deadline === undefined) return Number.POSITIVE_INFINITY
    const leftMs = this.#ask('shed.deadline', () => deadline(request.req))
    return leftMs === undefined ? Number.POSITIVE_INFINITY : leftMs
  }

  noteTurn(nowMs) {
    if (nowMs - this.#pressureMs < INTERVAL_MS) return
    this.#pressureMs = nowMs
    const { pressure } = this.#options
    if (pressure === undefined) return
    this.pressure = Math.min(1, Math.max(0, this.#ask('shed.pressure', pressure) ?? 0))
  }

  #ask(place, callback) {
    try {
      const value = callback()
      if (typeof value === 'number') return Number.isNaN(value) ? undefined : value
      // A header that is not there is no mistake; a promise is one, whatever it will hold.
      if (value === undefined || value === null) return undefined
      this.#faults.heed(place, value)
      this.#faults.report(place, new Error(`it returned ${typeof value}, and not a number`))
    } catch (error) {
      this.#faults.report(place, error)
    }
    return undefined
  }
}

module.exports = { Callbacks }
