'use strict'
// The paths a middleware of ours answers itself: metrics, liveness, readiness. Looked at on every request, so a
// request for anything else is told by the length and second character of its URL, without a string made.

const { urlPath } = require('../routing/url-path')

const JSON_TYPE = 'application/json; charset=utf-8'
const HEALTH_JSON = 'application/health+json'
const READS = new Set(['GET', 'HEAD'])

class Endpoints {
  #handlers = new Map()
  #firstLetters = new Uint8Array(128)
  #shortest = Number.POSITIVE_INFINITY

  /**
   * @param {Record<string, string | false>} paths
   * @param {Record<string, (req: any, res: any) => void>} handlers
   */
  constructor(paths, handlers) {
    for (const [name, path] of Object.entries(paths)) {
      if (path === false) continue
      this.#handlers.set(path, handlers[name])
      this.#firstLetters[path.charCodeAt(1) & 127] = 1
      this.#shortest = Math.min(this.#shortest, path.length)
    }
  }

  // Hot path: bench/overhead.js.
  /** @returns {boolean} whether the request was one for an endpoint, and is answered */
  serve(req, res) {
    const { url } = req
    if (url.length < this.#shortest || this.#firstLetters[url.charCodeAt(1) & 127] === 0) return false
    const handler = this.#handlers.get(urlPath(url))
    if (handler === undefined) return false
    handler(req, res)
    return true
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

function writeJson(req, res, { status, body }) {
  const isHealthJson = req.headers.accept?.includes(HEALTH_JSON)
  const text = JSON.stringify(isHealthJson ? healthJsonOf(body) : body)
  write(req, res, { status, contentType: isHealthJson ? HEALTH_JSON : JSON_TYPE, text })
}

function write(req, res, { status = 200, contentType, text }) {
  const bytes = Buffer.from(text)
  res.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': bytes.length,
    'Cache-Control': 'no-store',
  })
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

/** @param {{ formatFor(accept?: string): { contentType: string }, write(res: any, format: any): Promise<void> }} exporter */
function streamHandler(exporter, faults) {
  return readOnly((req, res) => {
    const format = exporter.formatFor(req.headers.accept)
    res.writeHead(200, {
      'Content-Type': format.contentType,
      'Cache-Control': 'no-store',
      Vary: 'Accept',
    })
    if (req.method === 'HEAD') return res.end()
    exporter.write(res, format).catch((error) => {
      faults.report('metrics', error)
      res.destroy()
    })
  })
}

module.exports = { Endpoints, JSON_TYPE, dataHandler, jsonHandler, streamHandler }
