'use strict'
// Why a command cannot be carried out, as a sentence that says what to do next. Scripts get exit code 2 for
// it.

const EXIT = Object.freeze({
  done: 0,
  /** Of `doctor`: something is wrong with the process. */
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
