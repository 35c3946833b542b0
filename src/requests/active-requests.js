'use strict'
// Counts the requests in flight: by method and scheme, for the gauge, and in total, for the drain.

const { METRICS } = require('./ignore')
const { METHODS } = require('./methods')

const SCHEMES = Object.freeze(['http', 'https'])

class ActiveRequests {
  /** By method and scheme. */
  counts = new Float64Array(METHODS.length * SCHEMES.length)
  /** Requests that `ignore` leaves out of the metrics. */
  #unmeasured = 0

  // Hot path: twice a request.
  /** @param {InstanceType<typeof import('./request').Request>} request @param {1 | -1} change whether it begins or ends */
  add({ ignores, method, scheme }, change) {
    if ((ignores & METRICS) === 0) this.counts[method * SCHEMES.length + scheme] += change
    else this.#unmeasured += change
  }

  /** Includes the unmeasured requests, because a drain waits for them too. */
  get total() {
    return this.counts.reduce((sum, count) => sum + count, this.#unmeasured)
  }
}

module.exports = { ActiveRequests, SCHEMES }
