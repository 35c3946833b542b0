'use strict'
// What an error that ends a request says of itself: its status, and whether a stranger may read its message. Anything can be
// thrown; what is read of it, and what of that is shown, is decided in redaction/error-description.js.
// Only what it says itself is believed: `res.status(404)` before a `throw` sets the status, but does not make the message of
// whatever was thrown fit for a stranger.

const { describeError, messageOf, read, stackOf, typeOf } = require('../redaction/error-description')

const MOST_HEADERS = 64
/** How body-parser and raw-body call it. co-body has no word for it, but hangs the body on a SyntaxError. */
const OF_BODY = new Set([
  'charset.unsupported',
  'encoding.unsupported',
  'entity.parse.failed',
  'entity.too.large',
  'entity.verify.failed',
  'parameters.too.many',
  'request.aborted',
  'request.size.invalid',
])

const isErrorStatus = (status) => Number.isInteger(status) && status >= 400 && status <= 599

function namesIn(object) {
  try {
    return Object.keys(object).slice(0, MOST_HEADERS)
  } catch {
    return []
  }
}

class Failure {
  error
  /** 400 to 599: its `status`, its `statusCode`, or the fallback; 500 where none of them is one. */
  status
  /** One of few words: the class, or for a plain Error its code. */
  type
  /** Whether a stranger may read the message. */
  isExposed
  /** Another of the same request, which came before. */
  earlier = undefined
  #message

  /** @param {number} [fallbackStatus] what the response says, where that is a way to give a status */
  constructor(error, fallbackStatus) {
    this.error = error
    const own = ownStatus(error)
    this.status = own ?? (isErrorStatus(fallbackStatus) ? /** @type {number} */ (fallbackStatus) : 500)
    this.type = typeOf(error)
    const expose = read(error, 'expose')
    this.isExposed = expose === true || (expose !== false && own !== undefined && own < 500)
  }

  /** Whether a body parser of Express, Koa or Connect says that it can make nothing of the body. */
  get isOfBody() {
    return (
      OF_BODY.has(read(this.error, 'type')) ||
      (this.type === 'SyntaxError' && this.status === 400 && typeof read(this.error, 'body') === 'string')
    )
  }

  get message() {
    return (this.#message ??= messageOf(this.error))
  }

  get stack() {
    return stackOf(this.error, this.message)
  }

  /** @returns {[name: string, value: unknown][]} what the error wants its answer to carry, unchecked; the first of them */
  get headers() {
    const headers = read(this.error, 'headers')
    if (typeof headers !== 'object' || headers === null) return []
    return namesIn(headers).map((name) => [name, read(headers, name)])
  }

  /** The error as pino shows one, in words of ours. */
  describe() {
    return describeError(this.error)
  }
}

function ownStatus(error) {
  const status = read(error, 'status')
  if (isErrorStatus(status)) return status
  const statusCode = read(error, 'statusCode')
  return isErrorStatus(statusCode) ? statusCode : undefined
}

module.exports = { Failure }
