'use strict'
// The reasons with which a signal aborts. Packages recognize a cancelled call by the name `AbortError`.
// `code` says what ended the request.

const { SpillwayError } = require('../../core/errors/errors')

/** @typedef {import('../../../index.js').AbortCode} AbortCode */

/** @type {Record<AbortCode, string>} */
const MESSAGES = {
  ERR_SPILLWAY_CLIENT_DISCONNECTED: 'The client disconnected before its answer was complete.',
  ERR_SPILLWAY_DEADLINE: 'The deadline of the request has passed.',
  ERR_SPILLWAY_DRAIN: 'A drain ended the request.',
  ERR_SPILLWAY_RESPONSE_CUT: 'The response was destroyed before it was complete.',
  ERR_SPILLWAY_TIMEOUT: '`errors.timeout` has passed, and spillway has answered the request.',
}

class RequestAbortError extends SpillwayError {
  /** @param {AbortCode} code */
  constructor(code) {
    super(code, MESSAGES[code])
  }
}

Object.defineProperty(RequestAbortError.prototype, 'name', { value: 'AbortError' })

exports.RequestAbortError = RequestAbortError
