'use strict'
// Answers a rejected request with 503: the same bytes in every framework, prepared at set-up, without an
// Error or a stack. The answer does not name the reason, because an attacker could use it. If a large body is
// unread, the connection is closed, because Node would otherwise read the whole body. Reading a small body is
// cheaper than a new connection.

const { prefersText } = require('../answer/accept')
const { CrossOrigin } = require('../answer/cross-origin')
const { OVERLOADED, OverloadError } = require('../errors/errors')
const { cutOff } = require('../answer/cut-off')
const { removeBodyHeaders } = require('../answer/body-headers')
const { SMOOTHING } = require('./measurements/request-cost')
const { PRIORITIES, figuresOf } = require('./decision')

/**
 * @import { ShedVerdict } from '../../../index.js'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { FrameworkNext, RejectedBy, RequestRecord } from '../request/request-record'
 * @import { GivenOptions, ShedOptions } from './admission'
 */

/**
 * @typedef {import('node:http').OutgoingHttpHeader[]} Head names and values in turn
 * @typedef {[name: string, value: import('node:http').OutgoingHttpHeader]} Header
 * @typedef {Header[]} Extra headers of the user
 */

// ASCII strings and not buffers: Node sends a string in one piece with the head.
const PROBLEM = JSON.stringify({
  type: 'about:blank',
  title: 'Service Unavailable',
  status: 503,
  detail: OVERLOADED,
})
const TEXT = 'Service Unavailable: overloaded, try again later.\n'

/**
 * `Retry-After` is last, so that `write` can set its value in a copy.
 *
 * @param {string} type
 * @param {string} body
 * @returns {Head}
 */
const headOf = (type, body) => [
  'Content-Type',
  type,
  'Content-Length',
  body.length,
  'Cache-Control',
  'no-store',
  'Retry-After',
  1,
]
const PROBLEM_HEAD = headOf('application/problem+json', PROBLEM)
const TEXT_HEAD = headOf('text/plain; charset=utf-8', TEXT)

/** A body up to this size is read, and the connection kept. */
const MAX_READ_BYTES = 65_536
/** The most seconds that rejections add to `Retry-After`. */
const SPREAD = 9

class Rejection {
  crossOrigin
  #internalErrors
  /** @type {ShedOptions | undefined} */
  #options

  /** @param {InternalErrors} internalErrors */
  constructor(internalErrors) {
    this.#internalErrors = internalErrors
    this.crossOrigin = new CrossOrigin(internalErrors)
  }

  /** @param {ShedOptions} options */
  update(options) {
    this.#options = options
    this.crossOrigin.update(options.mode)
  }

  /**
   * Whether the user's error handler answers. Only a middleware can pass the error on.
   *
   * @param {RequestRecord} request
   */
  goesToErrorHandler({ ticket }) {
    const { errorMode } = /** @type {ShedOptions} */ (this.#options)
    return errorMode === 'next' && ticket.frameworkNext !== undefined
  }

  // Hot path (bench/overload): at ten times the capacity, nine requests in ten end here.
  /**
   * @param {RequestRecord} request that is rejected
   * @param {number} retryAfterSeconds
   * @param {boolean} isForHandler whether the user's error handler answers
   */
  answer(request, retryAfterSeconds, isForHandler) {
    if (this.crossOrigin.answersPreflight(request)) return
    const { respond, headers } = /** @type {ShedOptions} */ (this.#options)
    const { req, res } = request
    // With `shed.respond` the application writes the body, which may be for its own pages only.
    if (respond === undefined) this.crossOrigin.allow(request)
    if (respond === undefined && headers === undefined && !isForHandler)
      return this.#write(req, res, retryAfterSeconds)
    const { ticket } = request
    const priority = PRIORITIES[ticket.priority]
    const by = /** @type {RejectedBy} */ (ticket.rejection)
    const verdict = { reason: by.reason, ...figuresOf(by), priority, retryAfterSeconds }
    if (isForHandler) return /** @type {FrameworkNext} */ (ticket.frameworkNext)(new OverloadError(verdict))
    const extra = headers === undefined ? undefined : this.#headersFor(req, verdict)
    if (respond === undefined) this.#writeWith(extra, req, res, retryAfterSeconds)
    else this.#respond(request, verdict, extra)
  }

  /**
   * @param {RequestRecord['req']} req @param {ShedVerdict} verdict
   * @returns {Extra | undefined} undefined if the user's function throws or returns a promise
   */
  #headersFor(req, verdict) {
    try {
      const given = /** @type {GivenOptions} */ (this.#options).headers(req, verdict)
      if (this.#internalErrors.catchRejection('shed.headers', given))
        throw new TypeError('it returned a promise instead of headers')
      return /** @type {Extra} */ (Object.entries(given ?? {}).filter(isSendable))
    } catch (error) {
      this.#internalErrors.report('shed.headers', error)
      return undefined
    }
  }

  /**
   * Calls `shed.respond`. The standard answer is sent if the function throws or returns `false` before it has
   * begun to answer.
   * @param {RequestRecord} request @param {ShedVerdict} verdict @param {Extra | undefined} extra
   */
  #respond(request, verdict, extra) {
    const { req, res } = request
    const { retryAfterSeconds } = verdict
    const sendStandardAnswer = () => {
      if ((res.stream ?? res).destroyed) return
      // The header describes the body that the user's function meant to send.
      res.removeHeader('Content-Encoding')
      this.crossOrigin.allow(request)
      this.#writeWith(extra, req, res, retryAfterSeconds)
    }
    /** @param {unknown} returned */
    const onReturn = (returned) => {
      if (returned === false && !res.headersSent) sendStandardAnswer()
    }
    /** @param {unknown} error */
    const onFailure = (error) => {
      this.#internalErrors.report('shed.respond', error)
      if (!res.headersSent) sendStandardAnswer()
      // No code is left that would end the answer.
      else if (!res.writableEnded) cutOff(res)
    }
    try {
      // HTTP/2 throws if the stream is closed.
      if (!res.headersSent && !(res.stream ?? res).destroyed)
        this.#prepare(req, res, retryAfterSeconds, extra)
      const returned = /** @type {PromiseLike<unknown> | null | undefined} */ (
        /** @type {GivenOptions} */ (this.#options).respond(req, res, verdict)
      )
      if (typeof returned?.then === 'function') returned.then(onReturn, onFailure)
      else onReturn(returned)
    } catch (error) {
      onFailure(error)
    }
  }

  /**
   * Sets the status and headers that `respond` may replace. Koa has set 404 by now.
   * @param {RequestRecord['req']} req @param {RequestRecord['res']} res @param {number} retryAfterSeconds
   * @param {Extra | undefined} extra
   */
  #prepare(req, res, retryAfterSeconds, extra) {
    res.statusCode = 503
    setStandardHeaders(req, res, retryAfterSeconds)
    if (extra === undefined) return
    try {
      for (const [name, value] of extra) res.setHeader(name, value)
    } catch (error) {
      this.#internalErrors.report('shed.headers', error)
      removeAll(res, extra)
      setStandardHeaders(req, res, retryAfterSeconds)
    }
  }

  /**
   * Another package may have replaced `writeHead` with a function that throws. Uncaught, its error would end
   * the process.
   * @param {RequestRecord['req']} req @param {RequestRecord['res']} res @param {number} retryAfterSeconds
   */
  #write(req, res, retryAfterSeconds) {
    try {
      write(req, res, retryAfterSeconds)
    } catch (error) {
      this.#internalErrors.report('shed', error)
      cutOff(res)
    }
  }

  /**
   * Writes the user's headers too, or leaves them out if Node does not accept them.
   * @param {Extra | undefined} extra @param {RequestRecord['req']} req @param {RequestRecord['res']} res
   * @param {number} retryAfterSeconds
   */
  #writeWith(extra, req, res, retryAfterSeconds) {
    if (extra === undefined) return this.#write(req, res, retryAfterSeconds)
    try {
      write(req, res, retryAfterSeconds, extra)
    } catch (error) {
      this.#internalErrors.report('shed.headers', error)
      // HTTP/2 keeps the headers it has set and would fail again.
      if (!res.headersSent) removeAll(res, extra)
      this.#write(req, res, retryAfterSeconds)
    }
  }
}

/**
 * @param {RequestRecord['req']} req
 * @param {RequestRecord['res']} res
 * @param {number} retryAfterSeconds
 * @param {Extra} [extra]
 */
function write(req, res, retryAfterSeconds, extra) {
  if (res.headersSent || res.destroyed) return
  const isText = prefersText(req.headers.accept)
  const head = isText ? TEXT_HEAD.slice() : PROBLEM_HEAD.slice()
  head[head.length - 1] = retryAfterSeconds
  if (extra !== undefined) addHeaders(head, extra)
  if (closesConnection(req)) head.push('Connection', 'close')
  // Node does not accept a flat list if headers such as X-Powered-By are set already.
  if (res.getHeaderNames().length > 0) {
    removeBodyHeaders(res)
    for (let i = 0; i < head.length; i += 2) res.setHeader(/** @type {string} */ (head[i]), head[i + 1])
    res.writeHead(503)
  } else res.writeHead(503, head)
  if (req.method === 'HEAD') res.end()
  else res.end(isText ? TEXT : PROBLEM, 'latin1')
}

/** The user's headers replace the standard ones of the same name. @param {Head} head @param {Extra} extra */
function addHeaders(head, extra) {
  for (const [name, value] of extra) {
    const lower = name.toLowerCase()
    const at = head.findIndex(
      (each, i) => i % 2 === 0 && /** @type {string} */ (each).toLowerCase() === lower
    )
    if (at < 0) head.push(name, value)
    else head[at + 1] = value
  }
}

/**
 * Node throws at a header without a value. The two headers named here belong to a body: the standard one, or
 * one that is not written yet.
 * @param {[name: string, value: unknown]} header
 */
function isSendable([name, value]) {
  const lower = name.toLowerCase()
  return value !== undefined && lower !== 'content-length' && lower !== 'transfer-encoding'
}

/** @param {RequestRecord['req']} req @param {RequestRecord['res']} res @param {number} retryAfterSeconds */
function setStandardHeaders(req, res, retryAfterSeconds) {
  res.setHeader('Retry-After', String(retryAfterSeconds))
  res.setHeader('Cache-Control', 'no-store')
  if (closesConnection(req)) res.setHeader('Connection', 'close')
}

/** @param {RequestRecord['res']} res @param {Extra} headers */
function removeAll(res, headers) {
  for (const [name] of headers) res.removeHeader(name)
}

/** @param {RequestRecord['req']} req */
const closesConnection = (req) => req.httpVersionMajor < 2 && hasUnreadBody(req.headers)

/** @param {import('node:http').IncomingHttpHeaders} headers */
function hasUnreadBody(headers) {
  const length = headers['content-length']
  if (headers['transfer-encoding'] !== undefined || Number(length) > MAX_READ_BYTES) return true
  // A client with `Expect` may omit its body now, so where the next request starts is unknown.
  return headers.expect !== undefined && length !== undefined && length !== '0'
}

/**
 * Computes `Retry-After`: a random whole number of seconds, because a constant would bring all clients back
 * together. The spread grows with the share of requests rejected lately:
 *   seconds = least + floor(random x (1 + 9 x rejected share))        1 at first, 1 to 10 at worst
 */
class RetryAfter {
  /**
   * Whether the spread is wider than at first. While it is, each request that is not rejected on arrival
   * narrows it.
   */
  isSpread = false
  #leastSeconds
  #random
  #rejectedShare = 0

  /** @param {number} leastSeconds */
  constructor(leastSeconds, random = Math.random) {
    this.#leastSeconds = leastSeconds
    this.#random = random
  }

  onAdmit() {
    this.#rejectedShare -= this.#rejectedShare * SMOOTHING
    // A share below what one rejection adds counts as 0.
    if (this.#rejectedShare >= SMOOTHING) return
    this.#rejectedShare = 0
    this.isSpread = false
  }

  onReject() {
    this.#rejectedShare += (1 - this.#rejectedShare) * SMOOTHING
    this.isSpread = true
  }

  seconds() {
    return this.#leastSeconds + Math.floor(this.#random() * (1 + SPREAD * this.#rejectedShare))
  }
}

exports.PROBLEM = PROBLEM
exports.Rejection = Rejection
exports.RetryAfter = RetryAfter
