'use strict'
// The answer to a request that failed: a problem document (RFC 9457), or text for who accepts only that. It says what the
// status says, and the message only of an error meant for the client. What the application had set for its own answer is taken
// off where it describes a body (Content-Encoding, ETag, Cache-Control), and kept where it does not (CORS, cookies, ids):
// without its CORS headers a browser cannot read the error.

const { STATUS_CODES, validateHeaderName, validateHeaderValue } = require('node:http')
const { prefersText } = require('../admission/rejection')

const INTERNAL_ERROR = 2
/** Of the headers of one error: Node's own client takes no head of more than 16 kB. */
const MOST_CHARACTERS = 8192
const MOST_VALUES = 64

/** What says something of the body, or how long it may be kept. */
const OF_BODY = new Set([
  'accept-ranges',
  'age',
  'cache-control',
  'etag',
  'expires',
  'last-modified',
  'trailer',
])
/** What says how a message is framed is for Node to say; an error may carry the headers of an upstream's answer. */
const OF_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

const isOfBody = (name) =>
  OF_BODY.has(name) || (name.startsWith('content-') && !name.startsWith('content-security-policy'))

/** Takes off what was set for another body than ours. */
function removeBodyHeaders(res) {
  for (const name of res.getHeaderNames()) {
    if (isOfBody(name) || name === 'transfer-encoding') res.removeHeader(name)
  }
}

/** Whether there is nobody left to answer, or nothing left to say. */
function isOver(res) {
  if (res.writableEnded) return true
  return res.stream === undefined
    ? res.destroyed === true || res.socket?.destroyed === true
    : res.stream.closed || res.stream.destroyed
}

/** Half an answer that nobody will end. Its client must be able to tell it from a whole one. */
function cutOff(res) {
  if (typeof res.stream?.close === 'function') res.stream.close(INTERNAL_ERROR)
  else res.destroy()
}

class ErrorAnswer {
  #faults
  #showsStack

  /** @param {{ faults: any, showsStack?: boolean }} parts */
  constructor({ faults, showsStack = process.env.NODE_ENV === 'development' }) {
    this.#faults = faults
    this.#showsStack = showsStack
  }

  /** Ends the request, whatever state it is in. */
  send(req, res, failure) {
    if (isOver(res)) return
    if (res.headersSent) return cutOff(res)
    try {
      write(req, res, failure, this.#showsStack)
    } catch (error) {
      // A `writeHead` of somebody's that throws.
      this.#faults.report('error_answer', error)
      cutOff(res)
    }
  }
}

function write(req, res, failure, showsStack) {
  removeBodyHeaders(res)
  const title = STATUS_CODES[failure.status] ?? 'Error'
  const isText = prefersText(req.headers.accept)
  const body = isText ? textOf(failure, title) : problemOf(failure, title, showsStack)
  res.statusCode = failure.status
  // HTTP/2 has none, and warns.
  if (req.httpVersionMajor < 2) res.statusMessage = title
  res.setHeader('Cache-Control', 'no-store')
  setHeaders(res, failure.headers)
  res.setHeader('Content-Type', isText ? 'text/plain; charset=utf-8' : 'application/problem+json')
  res.setHeader('Content-Length', Buffer.byteLength(body))
  // The message may quote what the client sent.
  res.setHeader('X-Content-Type-Options', 'nosniff')
  // Whoever was reading the body has failed: left paused, it would keep the connection for ever.
  if (!req.complete && mayHaveBody(req)) {
    req.unpipe?.()
    req.resume?.()
  }
  res.end(req.method === 'HEAD' ? undefined : body)
}

function mayHaveBody({ headers, httpVersionMajor }) {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  return length !== undefined || coding !== undefined || httpVersionMajor === 2
}

/** Documents that say nothing but the status, made once for each. */
const plainProblems = new Map()

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

function textOf(failure, title) {
  const detail = failure.isExposed ? failure.message : ''
  return detail === '' ? `${title}\n` : `${title}: ${detail}\n`
}

/** What Node would not take, or nobody would read, is left out. */
function setHeaders(res, headers) {
  let left = MOST_CHARACTERS
  for (const [name, given] of headers) {
    const lower = name.toLowerCase()
    if (OF_CONNECTION.has(lower) || (isOfBody(lower) && lower !== 'cache-control')) continue
    const values = valuesOf(name, given)
    const length = name.length + values.join().length
    if (values.length === 0 || length > left) continue
    left -= length
    res.setHeader(name, values.length > 1 ? values : values[0])
  }
}

/** @returns {string[]} copies, so that what was checked is what is sent; none where any of them is no value of a header */
function valuesOf(name, given) {
  try {
    validateHeaderName(name)
    if (!Array.isArray(given)) return [checked(name, given)]
    return Array.from({ length: Math.min(given.length, MOST_VALUES) }, (_, i) => checked(name, given[i]))
  } catch {
    return []
  }
}

/** @returns {string} throws where it is no value of a header */
function checked(name, value) {
  if (typeof value !== 'string' && typeof value !== 'number') throw new TypeError('no value of a header')
  const text = String(value)
  validateHeaderValue(name, text)
  return text
}

module.exports = { ErrorAnswer, cutOff, isOver, removeBodyHeaders }
