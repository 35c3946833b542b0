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
    if (respond === undefined && errorMode === 'respond') {
      if (headers === undefined) return this.#write(req, res, retryAfterSeconds)
      return this.#writeWith(headers, req, res, retryAfterSeconds)
    }
    const verdict = { reason, priority: PRIORITIES[request.admission.priority], retryAfterSeconds }
    if (this.passesOn(request)) return request.admission.proceed(new OverloadError(verdict))
    if (respond === undefined) return this.#write(req, res, retryAfterSeconds)
    const onFailure = (error) => {
      this.#faults.report('shed.respond', error)
      if (!res.headersSent) this.#write(req, res, retryAfterSeconds)
      // Half an answer that nobody will end.
      else if (!res.writableEnded) (res.stream ?? res).destroy()
    }
    try {
      // What `respond` does not set itself. HTTP/2 throws where the stream is gone.
      if (!res.headersSent && !res.destroyed) {
        res.setHeader('Retry-After', String(retryAfterSeconds))
        res.setHeader('Cache-Control', 'no-store')
      }
      respond(req, res, verdict)?.then?.(undefined, onFailure)
    } catch (error) {
      onFailure(error)
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

  /** Without the user's headers where they throw, or Node does not take them. */
  #writeWith(headers, req, res, retryAfterSeconds) {
    let given
    try {
      given = headers(req)
      if (!this.#faults.heed('shed.headers', given)) write(req, res, retryAfterSeconds, given ?? undefined)
      else throw new TypeError('it returned a promise, and not headers')
    } catch (error) {
      this.#faults.report('shed.headers', error)
      // HTTP/2 looks at them once all are set: there they would fail ours too.
      if (!res.headersSent) for (const name of Object.keys(given ?? {})) res.removeHeader(name)
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
  if (req.httpVersionMajor < 2 && hasUnreadBody(req.headers)) head.push('Connection', 'close')
  // One by one where headers stand already (X-Powered-By): Node takes no flat list beside them.
  if (res.getHeaderNames().length > 0) {
    for (let i = 0; i < head.length; i += 2) res.setHeader(head[i], head[i + 1])
    res.writeHead(503)
  } else res.writeHead(503, head)
  if (req.method === 'HEAD') res.end()
  else res.end(isText ? TEXT : PROBLEM, 'latin1')
}

/** The user's headers replace ours, but for those that say where what we send ends. Node throws at one without a value. */
function addHeaders(head, extra) {
  for (const [name, value] of Object.entries(extra)) {
    const lower = name.toLowerCase()
    if (value === undefined || lower === 'content-length' || lower === 'transfer-encoding') continue
    const at = head.findIndex((each, i) => i % 2 === 0 && each.toLowerCase() === lower)
    if (at < 0) head.push(name, value)
    else head[at + 1] = value
  }
}

function prefersText(accept) {
  return accept?.includes('text/') && !accept.includes('json') && !accept.includes('*/*')
}

function hasUnreadBody(headers) {
  const length = headers['content-length']
  if (headers['transfer-encoding'] !== undefined || Number(length) > READ_ANYWAY_BYTES) return true
  // A client that asks before it sends may now keep its body: nobody knows where the next request begins.
  return headers.expect !== undefined && length !== undefined && length !== '0'
}

module.exports = { Rejection, prefersText }
