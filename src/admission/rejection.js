'use strict'
// The answer to a rejected request: 503, the same bytes from every framework, written straight to the response from what
// was made at set-up, with no Error and no stack. It does not say the reason: an attacker could steer by it. A large body
// that is not read yet closes the connection, or Node would read all of it for nobody; a small one is cheaper to read.

const { OverloadError } = require('../errors')
const { PRIORITIES } = require('./verdict')

// ASCII strings, not buffers: Node sends a string in one piece with the head (54.4 thousand instructions, 57.4 with a buffer).
const PROBLEM = JSON.stringify({
  type: 'about:blank',
  title: 'Service Unavailable',
  status: 503,
  detail: 'Overloaded. Try again later.',
})
const TEXT = 'Service Unavailable: overloaded, try again later.\n'

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

const READ_ANYWAY_BYTES = 65_536

class Rejection {
  #faults
  #options

  constructor(faults) {
    this.#faults = faults
  }

  update(options) {
    this.#options = options
  }

  /** Whether the error goes to the framework. Only a middleware can pass it on. */
  passesOn({ admission }) {
    return this.#options.errorMode === 'next' && admission.proceed !== undefined
  }

  // Hot path: bench/overload.js. At ten times the capacity nine requests in ten end here.
  answer(request, reason, retryAfterSeconds) {
    const { respond, errorMode, headers } = this.#options
    const { req, res } = request
    if (respond === undefined && headers === undefined && errorMode === 'respond')
      return this.#write(req, res, retryAfterSeconds)
    const verdict = { reason, priority: PRIORITIES[request.admission.priority], retryAfterSeconds }
    if (this.passesOn(request)) return request.admission.proceed(new OverloadError(verdict))
    const extra = headers === undefined ? undefined : this.#headersFor(req, verdict)
    if (respond === undefined) this.#writeWith(extra, req, res, retryAfterSeconds)
    else this.#respond(req, res, verdict, extra)
  }

  /** @returns {[name: string, value: any][] | undefined} undefined too where the user's function throws, or gives a promise */
  #headersFor(req, verdict) {
    try {
      const given = this.#options.headers(req, verdict)
      if (this.#faults.catchRejection('shed.headers', given))
        throw new TypeError('it returned a promise, and not headers')
      return Object.entries(given ?? {}).filter(isSent)
    } catch (error) {
      this.#faults.report('shed.headers', error)
      return undefined
    }
  }

  /** Where the user's function throws or gives `false`, the standard answer goes out; half an answer is cut. */
  #respond(req, res, verdict, extra) {
    const { retryAfterSeconds } = verdict
    const answerInstead = () => {
      if ((res.stream ?? res).destroyed) return
      // The body is another now.
      res.removeHeader('Content-Encoding')
      this.#writeWith(extra, req, res, retryAfterSeconds)
    }
    const onReturn = (returned) => {
      if (returned === false && !res.headersSent) answerInstead()
    }
    const onFailure = (error) => {
      this.#faults.report('shed.respond', error)
      if (!res.headersSent) answerInstead()
      // Half an answer that nobody will end.
      else if (!res.writableEnded) (res.stream ?? res).destroy()
    }
    try {
      // HTTP/2 throws where the stream is gone.
      if (!res.headersSent && !(res.stream ?? res).destroyed)
        this.#prepare(req, res, retryAfterSeconds, extra)
      const returned = this.#options.respond(req, res, verdict)
      if (typeof returned?.then === 'function') returned.then(onReturn, onFailure)
      else onReturn(returned)
    } catch (error) {
      onFailure(error)
    }
  }

  /** What holds unless `respond` sets another. Koa has set 404 by now: the status is 503 everywhere. */
  #prepare(req, res, retryAfterSeconds, extra) {
    res.statusCode = 503
    setOurs(req, res, retryAfterSeconds)
    if (extra === undefined) return
    try {
      for (const [name, value] of extra) res.setHeader(name, value)
    } catch (error) {
      this.#faults.report('shed.headers', error)
      removeAll(res, extra)
      setOurs(req, res, retryAfterSeconds)
    }
  }

  /** A `writeHead` of somebody else's in place of Node's may throw: amid our batch, that would end the process. */
  #write(req, res, retryAfterSeconds) {
    try {
      write(req, res, retryAfterSeconds)
    } catch (error) {
      this.#faults.report('shed', error)
      ;(res.stream ?? res).destroy()
    }
  }

  /** Without the user's headers where Node does not take them. */
  #writeWith(extra, req, res, retryAfterSeconds) {
    if (extra === undefined) return this.#write(req, res, retryAfterSeconds)
    try {
      write(req, res, retryAfterSeconds, extra)
    } catch (error) {
      this.#faults.report('shed.headers', error)
      // HTTP/2 looks at them once all are set: there they would fail ours too.
      if (!res.headersSent) removeAll(res, extra)
      this.#write(req, res, retryAfterSeconds)
    }
  }
}

function write(req, res, retryAfterSeconds, extra) {
  if (res.headersSent || res.destroyed) return
  const isText = prefersText(req.headers.accept)
  const head = isText ? TEXT_HEAD.slice() : PROBLEM_HEAD.slice()
  head[head.length - 1] = retryAfterSeconds
  if (extra !== undefined) addHeaders(head, extra)
  if (closesConnection(req)) head.push('Connection', 'close')
  // One by one where headers stand already (X-Powered-By): Node takes no flat list beside them.
  if (res.getHeaderNames().length > 0) {
    for (let i = 0; i < head.length; i += 2) res.setHeader(head[i], head[i + 1])
    res.writeHead(503)
  } else res.writeHead(503, head)
  if (req.method === 'HEAD') res.end()
  else res.end(isText ? TEXT : PROBLEM, 'latin1')
}

/** The user's headers replace ours. */
function addHeaders(head, extra) {
  for (const [name, value] of extra) {
    const lower = name.toLowerCase()
    const at = head.findIndex((each, i) => i % 2 === 0 && each.toLowerCase() === lower)
    if (at < 0) head.push(name, value)
    else head[at + 1] = value
  }
}

/** Node throws at a header without a value; two say where the body ends, which is not known yet or is ours. */
function isSent([name, value]) {
  const lower = name.toLowerCase()
  return value !== undefined && lower !== 'content-length' && lower !== 'transfer-encoding'
}

function setOurs(req, res, retryAfterSeconds) {
  res.setHeader('Retry-After', String(retryAfterSeconds))
  res.setHeader('Cache-Control', 'no-store')
  if (closesConnection(req)) res.setHeader('Connection', 'close')
}

function removeAll(res, headers) {
  for (const [name] of headers) res.removeHeader(name)
}

function prefersText(accept) {
  return accept?.includes('text/') && !accept.includes('json') && !accept.includes('*/*')
}

const closesConnection = (req) => req.httpVersionMajor < 2 && hasUnreadBody(req.headers)

function hasUnreadBody(headers) {
  const length = headers['content-length']
  if (headers['transfer-encoding'] !== undefined || Number(length) > READ_ANYWAY_BYTES) return true
  // A client that asks before it sends may now keep its body: nobody knows where the next request begins.
  return headers.expect !== undefined && length !== undefined && length !== '0'
}

module.exports = { Rejection, prefersText }
