'use strict'
// Answers the paths of our own endpoints: metrics, liveness and readiness. Every request is checked, so a
// different URL is ruled out by its length and second character, without creating a string. If
// `endpoints.allow` denies a request, the application gets it, as if the endpoint did not exist.

const { urlPath } = require('../url-path')

/**
 * @import { Handler, HandlerName, Request, ResolvedOptions, Response } from '../../../index.js'
 * @import { Health, HealthAnswer, HealthBody } from '../lifecycle/health'
 * @import { Prometheus } from '../metrics/scrape/prometheus'
 * @import { InternalErrors } from '../errors/internal-errors'
 *
 * @typedef {ReturnType<typeof textOf>} Text
 * @typedef {{ readonly value: Pick<Prometheus, 'formatFor' | 'write'> }} Exporter
 */

const JSON_TYPE = 'application/json; charset=utf-8'
const HEALTH_JSON = 'application/health+json'
const ALLOW = 'endpoints.allow'
const READ_METHODS = new Set(['GET', 'HEAD'])

class Endpoints {
  /** @type {Map<string, { name: HandlerName, handler: Handler }>} */
  #byPath = new Map()
  #allow
  #internalErrors
  #firstLetters = new Uint8Array(128)
  #shortest = Number.POSITIVE_INFINITY

  /**
   * @param {Partial<ResolvedOptions['endpoints']>} options
   * @param {Record<string, Handler>} handlers
   * @param {InternalErrors} [internalErrors] required with `allow`
   */
  constructor({ allow, ...paths }, handlers, internalErrors) {
    this.#allow = allow
    this.#internalErrors = internalErrors
    for (const [name, path] of /** @type {[HandlerName, string | false][]} */ (Object.entries(paths))) {
      if (path === false) continue
      this.#byPath.set(path, { name, handler: handlers[name] })
      this.#firstLetters[path.charCodeAt(1) & 127] = 1
      this.#shortest = Math.min(this.#shortest, path.length)
    }
  }

  // Hot path, once a request (bench/overhead).
  /**
   * @param {Request} req
   * @param {Response} res
   * @returns {boolean} whether the request was for an endpoint and has been answered
   */
  serve(req, res) {
    const endpoint = this.#find(/** @type {string} */ (req.url))
    if (endpoint === undefined || !this.#isAllowed(req, endpoint.name)) return false
    endpoint.handler(req, res)
    return true
  }

  /** @param {{ url?: string | undefined }} req */
  has({ url }) {
    return this.#find(/** @type {string} */ (url)) !== undefined
  }

  /**
   * Whether `endpoints.allow` decides about this request. The function must then get the framework's own
   * request object.
   *
   * @param {Request} req
   */
  callsAllow({ url }) {
    return this.#allow !== undefined && this.#find(/** @type {string} */ (url)) !== undefined
  }

  /** @param {string} url */
  #find(url) {
    if (url.length < this.#shortest || this.#firstLetters[url.charCodeAt(1) & 127] === 0) return undefined
    return this.#byPath.get(urlPath(url))
  }

  /**
   * Only `true` allows a request: a mistake in the user's function must not expose an endpoint.
   *
   * @param {Request} req
   * @param {HandlerName} name
   */
  #isAllowed(req, name) {
    if (this.#allow === undefined) return true
    try {
      const answer = this.#allow(req, name)
      if (typeof answer === 'boolean') return answer
      this.#internalErrors?.catchRejection(ALLOW, answer)
      this.#internalErrors?.report(
        ALLOW,
        new Error(
          `\`endpoints.allow\` must return true or false, but returned '${String(answer)}'. The request is denied.`
        )
      )
    } catch (error) {
      this.#internalErrors?.report(ALLOW, error)
    }
    return false
  }
}

/** Wraps a handler that answers GET and HEAD only. @param {Handler} answer @returns {Handler} */
function readOnly(answer) {
  return (req, res) => {
    if (READ_METHODS.has(req.method ?? '')) return answer(req, res)
    res.writeHead(405, { Allow: 'GET, HEAD', 'Cache-Control': 'no-store', 'Content-Length': 0 })
    res.end()
  }
}

/**
 * @param {() => HealthAnswer | Promise<HealthAnswer>} check its promise is never rejected
 * @param {InternalErrors} internalErrors
 */
function jsonHandler(check, internalErrors) {
  return readOnly((req, res) => {
    const answer = check()
    if (answer instanceof Promise) writeLater(req, res, answer, internalErrors)
    else writeJson(req, res, answer)
  })
}

/**
 * When the check ends, other code may have answered: a timeout middleware, or Koa without
 * `ctx.respond = false`.
 *
 * @param {Request} req
 * @param {Response} res
 * @param {Promise<HealthAnswer>} answer
 * @param {InternalErrors} internalErrors
 */
function writeLater(req, res, answer, internalErrors) {
  answer
    .then((later) => res.headersSent || writeJson(req, res, later))
    .catch((error) => {
      // A patched `writeHead` may throw, and no caller is left to catch the error.
      internalErrors.report('ready', error)
      res.destroy()
    })
}

/**
 * The text of each answer. A health check returns the same object for as long as its result stays the same.
 * @type {WeakMap<HealthAnswer, { json: Text | undefined, healthJson: Text | undefined }>}
 */
const textsOfAnswers = new WeakMap()

// Hot path: load balancers probe often, and a flood of probes must not starve gated requests.
/** @param {Request} req @param {Response} res @param {HealthAnswer} answer */
function writeJson(req, res, answer) {
  const isHealthJson = req.headers.accept?.includes(HEALTH_JSON) === true
  let texts = textsOfAnswers.get(answer)
  if (texts === undefined) textsOfAnswers.set(answer, (texts = { json: undefined, healthJson: undefined }))
  const { head, text } = isHealthJson
    ? (texts.healthJson ??= textOf(HEALTH_JSON, healthJsonOf(answer.body)))
    : (texts.json ??= textOf(JSON_TYPE, answer.body))
  res.writeHead(answer.status, head)
  res.end(/** @type {string} */ (req.method === 'HEAD' ? undefined : text))
}

/** @param {string} contentType @param {object} body */
function textOf(contentType, body) {
  const text = JSON.stringify(body)
  return { head: headOf(contentType, Buffer.byteLength(text)), text }
}

/** @param {string} contentType @param {number} length */
const headOf = (contentType, length) => ({
  'Content-Type': contentType,
  'Content-Length': length,
  'Cache-Control': 'no-store',
})

/** @param {Request} req @param {Response} res @param {{ contentType: string, text: string | Buffer }} data */
function write(req, res, { contentType, text }) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  res.writeHead(200, headOf(contentType, bytes.length))
  res.end(/** @type {Buffer} */ (req.method === 'HEAD' ? undefined : bytes))
}

/** @param {string} contentType @param {() => string | Buffer} makeText must not throw */
function dataHandler(contentType, makeText) {
  return readOnly((req, res) => write(req, res, { contentType, text: makeText() }))
}

/** Converts a health answer to the format of draft-inadarei-api-health-check. @param {HealthBody} body */
function healthJsonOf({ status, reason, checks = {} }) {
  /** @param {string} verdict */
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
 * @param {Exporter} exporter loaded with the first scrape
 * @param {InternalErrors} internalErrors
 * @param {{ isFirst?: boolean, isPublic?: boolean }} [options] isFirst: written before other scrapes;
 *   isPublic: anybody may read it
 */
function streamHandler(exporter, internalErrors, { isFirst, isPublic } = {}) {
  return readOnly((req, res) => {
    const { value } = exporter
    const format = value.formatFor(req.headers.accept, isPublic)
    res.writeHead(200, {
      'Content-Type': format.contentType,
      'Cache-Control': 'no-store',
      Vary: 'Accept',
    })
    if (req.method === 'HEAD') return res.end()
    value
      .write(/** @type {import('node:http').ServerResponse} */ (res), format, { isFirst })
      .catch((error) => {
        internalErrors.report('metrics', error)
        res.destroy()
      })
  })
}

/**
 * The handlers of the endpoints of an instance. `isPublic`: anybody may read the answers.
 *
 * @param {{ exporter: Exporter, health: Health, internalErrors: InternalErrors, isPublic?: boolean }} deps
 */
function endpointHandlers({ exporter, health, internalErrors, isPublic = false }) {
  return {
    metrics: streamHandler(exporter, internalErrors, { isPublic }),
    live: jsonHandler(() => health.live(), internalErrors),
    ready: jsonHandler(() => health.ready(), internalErrors),
  }
}

exports.Endpoints = Endpoints
exports.JSON_TYPE = JSON_TYPE
exports.dataHandler = dataHandler
exports.endpointHandlers = endpointHandlers
exports.readOnly = readOnly
exports.streamHandler = streamHandler
