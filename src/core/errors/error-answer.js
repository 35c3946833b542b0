'use strict'
// Writes the response to a request that failed: a problem document (RFC 9457), or text for a client that
// accepts only text. The response contains the message of an error only if the error is meant for the client.
// Headers that the application set for its own answer are removed (core/answer/body-headers.js). Other
// headers stay: without CORS headers a browser cannot read the error.

const { STATUS_CODES, validateHeaderName, validateHeaderValue } = require('node:http')
const { prefersText } = require('../answer/accept')
const { isOfBody, removeBodyHeaders } = require('../answer/body-headers')
const { cutOff } = require('../answer/cut-off')

/**
 * @import { NodeRequest, NodeResponse } from '../http/entrance'
 * @import { InternalErrors } from './internal-errors'
 * @import { Failure } from './failure'
 */

/** The most header characters that one error may add: Node's own client accepts a head of at most 16 kB. */
const MAX_CHARACTERS = 8192
const MAX_VALUES = 64

/**
 * Headers that frame a message. An error may carry them from the response of an upstream. They are not
 * copied, because Node writes its own.
 */
const OF_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

/** Whether the response has ended or the client has disconnected. @param {NodeResponse} res */
function isOver(res) {
  if (res.writableEnded) return true
  return res.stream === undefined
    ? res.destroyed === true || res.socket?.destroyed === true
    : res.stream.closed || res.stream.destroyed
}

class ErrorAnswer {
  #internalErrors
  #showsStack

  /** @param {{ internalErrors: InternalErrors, showsStack?: boolean }} deps */
  constructor({ internalErrors, showsStack = process.env.NODE_ENV === 'development' }) {
    this.#internalErrors = internalErrors
    this.#showsStack = showsStack
  }

  /**
   * Ends the response, whatever state it is in.
   *
   * @param {NodeRequest} req
   * @param {NodeResponse} res
   * @param {Failure} failure
   */
  send(req, res, failure) {
    if (isOver(res)) return
    // Cutting waits for the next tick, because a head that was written in this tick is sent only then. A
    // client that gets no head may regard the request as lost, and repeat it.
    if (res.headersSent) return void process.nextTick(cutOff, res)
    try {
      write(req, res, failure, this.#showsStack)
    } catch (error) {
      // Middleware may have wrapped methods of the response, and these wrappers may throw.
      this.#internalErrors.report('error_answer', error)
      cutOff(res)
    }
  }
}

/** @param {NodeRequest} req @param {NodeResponse} res @param {Failure} failure @param {boolean} showsStack */
function write(req, res, failure, showsStack) {
  removeBodyHeaders(res)
  const title = STATUS_CODES[failure.status] ?? 'Error'
  const isText = prefersText(req.headers.accept)
  const body = isText ? textOf(failure, title, showsStack) : problemOf(failure, title, showsStack)
  res.statusCode = failure.status
  // HTTP/2 has no status message, and Node warns if it is set.
  if (req.httpVersionMajor < 2) res.statusMessage = title
  res.setHeader('Cache-Control', 'no-store')
  setHeaders(res, failure.headers)
  res.setHeader('Content-Type', isText ? 'text/plain; charset=utf-8' : 'application/problem+json')
  res.setHeader('Content-Length', Buffer.byteLength(body))
  // The message may quote what the client sent, and a browser must not take it for HTML.
  res.setHeader('X-Content-Type-Options', 'nosniff')
  // The reader of the body has failed. A request that stays paused would keep the connection open for ever.
  if (!req.complete && mayHaveBody(req)) {
    req.unpipe?.()
    req.resume?.()
  }
  res.end(req.method === 'HEAD' ? undefined : body)
}

/** @param {NodeRequest} req */
function mayHaveBody({ headers, httpVersionMajor }) {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  return length !== undefined || coding !== undefined || httpVersionMajor === 2
}

/** By status: the documents without a detail. @type {Map<number, string>} */
const plainProblems = new Map()

/** @param {Failure} failure @param {string} title @param {boolean} showsStack */
function problemOf(failure, title, showsStack) {
  const { status } = failure
  if (failure.isExposed || showsStack) return detailedProblem(failure, title, showsStack)
  let problem = plainProblems.get(status)
  if (problem === undefined) {
    problem = JSON.stringify({ type: 'about:blank', title, status })
    plainProblems.set(status, problem)
  }
  return problem
}

/** @param {Failure} failure @param {string} title @param {boolean} showsStack */
function detailedProblem(failure, title, showsStack) {
  const detail = failure.message
  return JSON.stringify({
    type: 'about:blank',
    title,
    status: failure.status,
    ...(detail !== '' && { detail }),
    ...(showsStack && { stack: failure.stack }),
  })
}

/** @param {Failure} failure @param {string} title @param {boolean} showsStack */
function textOf(failure, title, showsStack) {
  const detail = failure.isExposed || showsStack ? failure.message : ''
  const lines = [detail === '' ? title : `${title}: ${detail}`]
  // A thrown text has no stack.
  if (showsStack && failure.stack !== undefined) lines.push(failure.stack)
  return `${lines.join('\n')}\n`
}

/**
 * Sets the headers of an error. Invalid headers, headers of the body, and headers beyond the limit are left
 * out.
 *
 * @param {NodeResponse} res
 * @param {Failure['headers']} headers
 */
function setHeaders(res, headers) {
  let charactersLeft = MAX_CHARACTERS
  for (const [name, given] of headers) {
    const lower = name.toLowerCase()
    if (OF_CONNECTION.has(lower) || (isOfBody(lower) && lower !== 'cache-control')) continue
    const values = valuesOf(name, given)
    const length = name.length + values.join().length
    if (values.length === 0 || length > charactersLeft) continue
    charactersLeft -= length
    res.setHeader(name, values.length > 1 ? values : values[0])
  }
}

/**
 * @param {string} name
 * @param {unknown} given
 * @returns {string[]} copies, so that the values sent are the values checked; none if a value is invalid
 */
function valuesOf(name, given) {
  try {
    validateHeaderName(name)
    if (!Array.isArray(given)) return [checked(name, given)]
    return Array.from({ length: Math.min(given.length, MAX_VALUES) }, (_, i) => checked(name, given[i]))
  } catch {
    return []
  }
}

/** @param {string} name @param {unknown} value @throws {TypeError} if the value is invalid */
function checked(name, value) {
  if (typeof value !== 'string' && typeof value !== 'number') throw new TypeError('not a header value')
  const text = String(value)
  validateHeaderValue(name, text)
  return text
}

exports.ErrorAnswer = ErrorAnswer
exports.isOver = isOver
