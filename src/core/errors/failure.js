'use strict'
// An error that ended a request: its status, its type, and whether the client may read its message. A handler
// may throw any value, so every property is read through core/redaction/error-description.js. Only the error
// itself can expose its message, as in Koa: a status exposes nothing.

const { describeError, messageOf, read, stackOf, typeOf } = require('../redaction/error-description')

const MAX_HEADERS = 64
/**
 * The `type` of the errors of body-parser and raw-body. co-body sets no type, but puts the `body` on a
 * SyntaxError.
 */
const PARSE_FAILED = 'entity.parse.failed'
/** @type {Set<unknown>} */
const OF_BODY = new Set([
  PARSE_FAILED,
  'charset.unsupported',
  'encoding.unsupported',
  'entity.too.large',
  'entity.verify.failed',
  'parameters.too.many',
  'request.aborted',
  'request.size.invalid',
])

/** @param {unknown} status @returns {status is number} */
const isErrorStatus = (status) =>
  Number.isInteger(status) && /** @type {number} */ (status) >= 400 && /** @type {number} */ (status) <= 599

/** @param {object} object */
function namesIn(object) {
  try {
    return Object.keys(object).slice(0, MAX_HEADERS)
  } catch {
    return []
  }
}

class Failure {
  error
  /**
   * The error's `status`, its `statusCode` or the fallback, whichever is the first from 400 to 599. Else 500.
   */
  status
  /** The class of the error, or the code of a plain Error. */
  type
  /** Whether the client may read the message: `ctx.throw` and http-errors say so by `expose`. */
  isExposed
  /** Whether the error's stack was read, to write a log line. */
  isDescribed = false
  /** The previous failure of the same request. @type {Failure | undefined} */
  earlier = undefined
  /** @type {string | undefined} */
  #message
  /**
   * Whether the error has a status, so it is meant for HTTP. The headers of an error without a status are not
   * used, because they may come from an upstream.
   */
  hasStatus

  /**
   * @param {unknown} error
   * @param {number} [fallbackStatus] the status of the response, in a framework where handlers set it before
   *   they throw
   */
  constructor(error, fallbackStatus) {
    this.error = error
    const own = ownStatus(error)
    this.hasStatus = own !== undefined
    this.status = own ?? (isErrorStatus(fallbackStatus) ? fallbackStatus : 500)
    this.type = typeOf(error)
    this.isExposed = read(error, 'expose') === true && !this.#isOfParser
  }

  /** Whether a body parser of Express, Koa or Connect rejected the body. */
  get isBodyError() {
    return (
      OF_BODY.has(read(this.error, 'type')) ||
      (this.type === 'SyntaxError' && this.status === 400 && typeof read(this.error, 'body') === 'string')
    )
  }

  /**
   * Whether a parser threw the error. The client does not get the message of a parser, although body-parser
   * exposes it, because the message describes the parser.
   */
  get #isOfParser() {
    return this.type === 'SyntaxError' || read(this.error, 'type') === PARSE_FAILED
  }

  get message() {
    return (this.#message ??= messageOf(this.error))
  }

  get stack() {
    return stackOf(this.error, this.message)
  }

  /**
   * @returns {[name: string, value: unknown][]} at most MAX_HEADERS headers that the error sets on its
   *   response. They are not checked
   */
  get headers() {
    if (!this.hasStatus) return []
    const headers = read(this.error, 'headers')
    if (typeof headers !== 'object' || headers === null) return []
    return namesIn(headers).map((name) => [name, read(headers, name)])
  }

  /** The error in the shape of pino's serializer, redacted. */
  describe() {
    this.isDescribed = true
    return describeError(this.error)
  }
}

/** @param {unknown} error */
function ownStatus(error) {
  const status = read(error, 'status')
  if (isErrorStatus(status)) return status
  const statusCode = read(error, 'statusCode')
  return isErrorStatus(statusCode) ? statusCode : undefined
}

exports.Failure = Failure
