'use strict'
// The errors this package throws at its user. Match on `code`: it is stable, the sentence is not.
// Every message says what is wrong, what was given and what to do.

class SpillwayError extends Error {
  /**
   * @param {import('../index.js').ErrorCode} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

Object.defineProperty(SpillwayError.prototype, 'name', { value: 'SpillwayError' })

/** What `shed.errorMode: 'next'` passes on instead of answering. */
class OverloadError extends SpillwayError {
  /** @type {503} */
  status = 503
  /** @type {503} */
  statusCode = 503
  /** @type {true} */
  expose = true

  /** @param {import('../index.js').ShedVerdict} verdict */
  constructor({ reason, priority, retryAfterSeconds }) {
    super('ERR_SPILLWAY_OVERLOADED', 'Overloaded. Try again later.')
    this.reason = reason
    this.priority = priority
    this.retryAfterSeconds = retryAfterSeconds
    // Koa wipes every header of an error answer but these.
    this.headers = { 'Retry-After': String(retryAfterSeconds), 'Cache-Control': 'no-store' }
  }
}

Object.defineProperty(OverloadError.prototype, 'name', { value: 'OverloadError' })

module.exports = { OverloadError, SpillwayError }
