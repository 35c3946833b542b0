'use strict'
// The errors that this package throws. `code` is stable, the message is not. Every message says what is
// wrong, what was given and what to do.

/** Body of a rejection. */
const OVERLOADED = 'Overloaded. Try again later.'

class SpillwayError extends Error {
  /**
   * @param {import('../../../index.js').ErrorCode} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

Object.defineProperty(SpillwayError.prototype, 'name', { value: 'SpillwayError' })

/** The error that `shed.errorMode: 'next'` passes to the error handler of the application. */
class OverloadError extends SpillwayError {
  /** @type {503} */
  status = 503
  /** @type {503} */
  statusCode = 503
  /** @type {true} */
  expose = true

  /** @param {import('../../../index.js').ShedVerdict} verdict */
  constructor({ reason, value, bound, priority, retryAfterSeconds }) {
    super('ERR_SPILLWAY_OVERLOADED', OVERLOADED)
    this.reason = reason
    this.value = value
    this.bound = bound
    this.priority = priority
    this.retryAfterSeconds = retryAfterSeconds
    // Koa removes all headers but these from the answer to an error.
    this.headers = { 'Retry-After': String(retryAfterSeconds), 'Cache-Control': 'no-store' }
  }
}

Object.defineProperty(OverloadError.prototype, 'name', { value: 'OverloadError' })

exports.OVERLOADED = OVERLOADED
exports.OverloadError = OverloadError
exports.SpillwayError = SpillwayError
