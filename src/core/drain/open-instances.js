'use strict'
// Counts the open instances of this process. A call of createSpillway() in a request handler makes an instance per request.
// Each instance keeps timers and figures until close(), so the process slows down and grows.

const environment = require('../environment/deployment')

/** More than any application makes on purpose, and a count that a call per request reaches within seconds. */
const TOO_MANY = 100

class OpenInstances {
  #count = 0
  #isTested

  /** @param {() => boolean} [isTested] whether a test runner has started this process: few tests close what they make */
  constructor(isTested = environment.isTested) {
    this.#isTested = isTested
  }

  /** @returns {string | undefined} a warning, for the hundredth open instance only */
  add() {
    if (++this.#count !== TOO_MANY || this.#isTested()) return undefined
    return (
      `${TOO_MANY} instances are open in this process. If createSpillway() is called for each request, call it once, when the process starts. ` +
      'Write spillway.close() for each instance that is no longer used.'
    )
  }

  remove() {
    this.#count--
  }
}

/** One per process, like the module. */
const openInstances = new OpenInstances()

exports.OpenInstances = OpenInstances
exports.openInstances = openInstances
