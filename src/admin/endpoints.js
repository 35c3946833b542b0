'use strict'
// The paths a middleware of ours answers itself: metrics, liveness, readiness. Looked at on every request, so a
// request for anything else is told by the length and second character of its URL, without a string made.
// Whom the user refuses finds no endpoint there: the request goes on to the application.

const { urlPath } = require('../url-path')

const JSON_TYPE = 'application/json; charset=utf-8'
const HEALTH_JSON = 'application/health+json'
const ALLOW = 'endpoints.allow'
const READS = new Set(['GET', 'HEAD'])

class Endpoints {
  /** @type {Map<string, { name: string, handler: (req: any, res: any) => void }>} */
  #byPath = new Map()
  #allow
  #faults
  #firstLetters = new Uint8Array(128)
  #shortest = Number.POSITIVE_INFINITY

  /**
   * @param {Partial<import('../../index.js').ResolvedOptions['endpoints']>} options
   * @param {Record<string, (req: any, res: any) => void>} handlers
   * @param {any} [faults]
   */
  constructor({ allow, ...paths }, handlers, faults) {
    this.#allow = allow
    this.#faults = faults
    for (const [name, path] of Object.entries(paths)) {
      if (path === false) continue
      this.#byPath.set(path, { name, handler: handlers[name] })
      this.#firstLetters[path.charCodeAt(1) & 127] = 1
      this.#shortest = Math.min(this.#shortest, path.length)
    }
  }

  // Hot path: bench/overhead.js.
  /** @returns {boolean} whether the request was one for an endpoint, and is answered */
  serve(req, res) {
    const endpoint = this.#find(req.url)
    if (endpoint === undefined || !this.#isAllowed(req, endpoint.name)) return false
    endpoint.handler(req, res)
    return true
  }

  has({ url }) {
    return this.#find(url) !== undefined
  }

  /** Whether the user is asked about this request: a framework's user expects the request that the framework has made. */
  asksUser({ url }) {
    return this.#allow !== undefined && this.#find(url) !== undefined
  }

  #find(url) {
    if (url.length < this.#shortest || this.#firstLetters[url.charCodeAt(1) & 127] === 0) return undefined
    return this.#byPath.get(urlPath(url))
  }

  /** Nothing but `true` lets anybody in: a mistake in the user's function must not open what it guards. */
  #isAllowed(req, name) {
    if (this.#allow === undefined) return true
    try {
      const answer = this.#allow(req, name)
      if (typeof answer === 'boolean') return answer
      this.#faults.heed(ALLOW, answer)
      this.#faults.report(ALLOW, new Error(`'${String(answer)}' is neither true nor false; it is refused`))
    } catch (error) {
      this.#faults.report(ALLOW, error)
    }
    return false
  }
}

/** Reading endpoints answer GET and HEAD, and nothing keeps what they said. */
function readOnly(answer) {
  return (req, res) => {
    if (READS.has(req.method)) return answer(req, res)
    res.writeHead(405, { Allow: 'GET, HEAD', 'Cache-Control': 'no-store', 'Content-Length': 0 })
    res.end()
  }
}

/** @param {() => any} check an answer, or the promise of one, which is not rejected */
function jsonHandler(check, faults) {
  return readOnly((req, res) => {
    const answer = check()
    if (typeof answer.then === 'function') writeLater(req, res, answer, faults)
    else writeJson(req, res, answer)
  })
}

/** By then a timeout in front of us may have answered, or a Koa that was not told `ctx.respond = false`. */
function writeLater(req, res, answer, faults) {
  answer
    .then((later) => res.headersSent || writeJson(req, res, later))
    .catch((error) => {
      // A `writeHead` of somebody's that throws: nobody waits for us whom it could reach.
      faults.report('ready', error)
      res.destroy()
    })
}

/** What was written of an answer: an answer of a health check is one object for as long as it stays the same. */
const written = new WeakMap()

// Hot path: orchestrators and balancers ask often, and a flood of them must starve nothing that is gated.
function writeJson(req, res, answer) {
  const isHealthJson = req.headers.accept?.includes(HEALTH_JSON) === true
  let texts = written.get(answer)
  if (texts === undefined) written.set(answer, (texts = { json: undefined, healthJson: undefined }))
  const { head, text } = isHealthJson
    ? (texts.healthJson ??= textOf(HEALTH_JSON, healthJsonOf(answer.body)))
    : (texts.json ??= textOf(JSON_TYPE, answer.body))
  res.writeHead(answer.status, head)
  res.end(req.method === 'HEAD' ? undefined : text)
}

function textOf(contentType, body) {
  const text = JSON.stringify(body)
  return { head: headOf(contentType, Buffer.byteLength(text)), text }
}

const headOf = (contentType, length) => ({
  'Content-Type': contentType,
  'Content-Length': length,
  'Cache-Control': 'no-store',
})

function write(req, res, { contentType, text }) {
  const bytes = Buffer.from(text)
  res.writeHead(200, headOf(contentType, bytes.length))
  res.end(req.method === 'HEAD' ? undefined : bytes)
}

/** @param {() => string} take what is shown; it does not fail */
function dataHandler(contentType, take) {
  return readOnly((req, res) => write(req, res, { contentType, text: take() }))
}

/** Health in the words of draft-inadarei-api-health-check. */
function healthJsonOf({ status, reason, checks = {} }) {
  const passed = (verdict) => (verdict === 'ok' ? 'pass' : 'fail')
  const entries = Object.entries(checks).map(([name, verdict]) => [
    name,
    [{ status: passed(verdict), output: verdict === 'ok' ? undefined : verdict }],
  ])
  return {
    status: passed(status),
    output: reason,
    checks: entries.length === 0 ? undefined : Object.fromEntries(entries),
  }
}

/**
 * @param {{ formatFor(accept?: string): { contentType: string }, write(res: any, format: any, how?: object): Promise<void> }} exporter
 * @param {{ isFirst?: boolean }} [how]
 */
function streamHandler(exporter, faults, how) {
  return readOnly((req, res) => {
    const format = exporter.formatFor(req.headers.accept)
    res.writeHead(200, {
      'Content-Type': format.contentType,
      'Cache-Control': 'no-store',
      Vary: 'Accept',
    })
    if (req.method === 'HEAD') return res.end()
    exporter.write(res, format, how).catch((error) => {
      faults.report('metrics', error)
      res.destroy()
    })
  })
}

module.exports = { Endpoints, JSON_TYPE, dataHandler, jsonHandler, streamHandler }
