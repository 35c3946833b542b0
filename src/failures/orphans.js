'use strict'
// What ends in no handler, put together: requests that nobody answers, and errors that nobody catches.

const { ProcessErrors } = require('./process-errors')
const { Timeouts } = require('./timeouts')

class Orphans {
  processErrors
  #timeouts

  /**
   * @param {{ clock: any, faults: any, log: any, recorder: any, options: any, leave: (reason: string) => void,
   *   warn: (fields: object, message: string) => void }} parts
   */
  constructor(parts) {
    this.#timeouts = new Timeouts(parts)
    this.processErrors = new ProcessErrors(parts)
  }

  start() {
    this.#timeouts.start()
    this.processErrors.start()
  }

  close() {
    this.#timeouts.close()
    this.processErrors.close()
  }
}

module.exports = { Orphans }
