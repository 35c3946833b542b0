'use strict'
// How many requests are in flight: those that are shown, by method and scheme, and those that are left out of the metrics.

const { METRICS } = require('./ignore')
const { METHODS } = require('./methods')

const SCHEMES = Object.freeze(['http', 'https'])

class ActiveRequests {
  /** By method and scheme. */
  counts = new Float64Array(METHODS.length * SCHEMES.length)
  #unmeasured = 0

  // Hot path: twice a request.
  /** @param {any} request @param {1 | -1} change whether it begins or ends */
  add({ ignores, method, scheme }, change) {
    if ((ignores & METRICS) === 0) this.counts[method * SCHEMES.length + scheme] += change
    else this.#unmeasured += change
  }

  /** Of all: a drain waits for those too that are left out. */
  get total() {
    return this.counts.reduce((sum, count) => sum + count, this.#unmeasured)
  }
}

module.exports = { ActiveRequests, SCHEMES }
