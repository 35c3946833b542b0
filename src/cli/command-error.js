'use strict'
// An error that ends a command. Its message is a sentence that says what to do next. The exit code is 2.

const EXIT = Object.freeze({
  done: 0,
  /** `doctor` only: something is wrong with the process. */
  unhealthy: 1,
  /** The command was wrong, or the service could not be asked. */
  failed: 2,
})

class CommandError extends Error {
  /** @param {string} message one sentence, or two: what is wrong, and what to do next */
  constructor(message) {
    super(message)
    this.name = 'CommandError'
  }
}

exports.CommandError = CommandError
exports.EXIT = EXIT
