'use strict'
// Lets the browser application that a 503 belongs to read it. Without CORS headers `fetch` sees a network
// error, and neither the status nor `Retry-After`. The gate rejects before the application can set these
// headers. So Spillway repeats them as the application last set them for the same origin, host and first path
// segment. An origin that the application has not allowed gets no such headers. An answer that the
// application writes itself gets none either.
//
// Before some requests a browser sends a preflight, and accepts only a 2xx as its answer. So a rejected
// preflight gets the last answer of the application to the same preflight, if there is one. The host and the
// whole path must be the same: the answer permits a request that may change something, and another path may
// forbid it.

const { urlPath } = require('../url-path')

/**
 * @import { RoutedRequest, RoutedResponse } from '../route/route-state'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { RequestRecord } from '../request/request-record'
 */

const PLACE = 'cross-origin'
const ALLOW_ORIGIN = 'access-control-allow-origin'
const EXPOSE_HEADERS = 'access-control-expose-headers'
const RETRY_AFTER = 'Retry-After'
const OF_ANSWER = [ALLOW_ORIGIN, 'access-control-allow-credentials', EXPOSE_HEADERS]
const OF_PREFLIGHT = [
  ALLOW_ORIGIN,
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-max-age',
]
const REQUESTED_METHOD = 'access-control-request-method'
const REQUESTED_HEADERS = 'access-control-request-headers'

/** At most one answer is read in this time. Reading 100 answers a second costs nothing measurable. */
const EVERY_MS = 10
const MAX_ANSWERS = 100
const LONGEST_KEY = 1024
const LONGEST_VALUE = 1024
/** How long an answer is remembered. The application may change what it allows. */
const KEPT_MS = 600_000

class CrossOrigin {
  /** When the next answer may be read. */
  nextMs = Number.POSITIVE_INFINITY
  /**
   * @type {Map<string, { headers: [name: string, value: string][], atMs: number }>} the least recently
   *   confirmed first
   */
  #answers = new Map()

  #internalErrors

  /** @param {InternalErrors} internalErrors */
  constructor(internalErrors) {
    this.#internalErrors = internalErrors
  }

  /** @param {'adaptive' | 'threshold' | 'observe' | 'off'} mode */
  update(mode) {
    this.nextMs = mode === 'observe' || mode === 'off' ? Number.POSITIVE_INFINITY : 0
  }

  /**
   * Reads the headers of an answer. The answer to a preflight is always read: browsers remember it, so
   * preflights are few.
   *
   * @param {RequestRecord} request with an origin
   * @param {number} nowMs
   */
  onEnd(request, nowMs) {
    if (request.req.method !== 'OPTIONS') {
      if (nowMs < this.nextMs) return
      this.nextMs = nowMs + EVERY_MS
    } else if (this.nextMs === Number.POSITIVE_INFINITY) return
    if (request.ticket.isRejected) return
    this.#internalErrors.guard(PLACE, () => this.#learn(request, nowMs))
  }

  /** @param {RequestRecord} request @param {number} nowMs */
  #learn({ req, res, status }, nowMs) {
    const allowed = res.getHeader(ALLOW_ORIGIN)
    if (allowed === undefined) return
    // No browser sends the origin `*`, which is in the key of an answer that allows any origin.
    if (req.headers.origin === '*') return
    const isPreflight = isPreflightOf(req)
    if (isPreflight && (status < 200 || status > 299)) return
    const key = keyOf(req, allowed === '*' ? '*' : req.headers.origin, isPreflight)
    const headers = headersOf(res, isPreflight)
    if (headers === undefined || key.length > LONGEST_KEY) return
    this.#answers.delete(key)
    this.#answers.set(key, { headers, atMs: nowMs })
    const [oldest] = this.#answers.keys()
    if (this.#answers.size > MAX_ANSWERS) this.#answers.delete(oldest)
  }

  /**
   * Answers a rejected preflight, if the application has answered the same preflight before.
   *
   * @param {RequestRecord} request
   * @returns {boolean} whether the preflight was answered
   */
  answersPreflight(request) {
    if (request.req.method !== 'OPTIONS' || !isPreflightOf(request.req)) return false
    if (!this.allow(request, true)) return false
    request.res.statusCode = 204
    request.res.end()
    return true
  }

  /**
   * Sets the headers on the answer to a rejected request.
   *
   * @param {RequestRecord} request
   * @returns {boolean} whether headers were set
   */
  allow({ req, res, startedMs }, isPreflight = false) {
    const { origin } = req.headers
    if (origin === undefined || this.#answers.size === 0) return false
    try {
      return this.#allow(req, res, { origin, isPreflight, sinceMs: startedMs - KEPT_MS })
    } catch (error) {
      this.#internalErrors.report(PLACE, error)
      return false
    }
  }

  /**
   * @param {RoutedRequest} req
   * @param {RoutedResponse} res
   * @param {{ origin: string, isPreflight: boolean, sinceMs: number }} asked
   */
  #allow(req, res, { origin, isPreflight, sinceMs }) {
    // A middleware before ours may have set the headers.
    if (res.headersSent || (res.stream ?? res).destroyed || res.hasHeader(ALLOW_ORIGIN)) return false
    const known =
      this.#allowedSince(sinceMs, keyOf(req, origin, isPreflight)) ??
      this.#allowedSince(sinceMs, keyOf(req, '*', isPreflight))
    if (known === undefined) return false
    for (const [name, value] of known.headers) res.setHeader(name, value)
    return true
  }

  /** @param {number} sinceMs @param {string} key */
  #allowedSince(sinceMs, key) {
    const known = this.#answers.get(key)
    return known !== undefined && known.atMs >= sinceMs ? known : undefined
  }
}

/** @param {RoutedRequest} req */
const isPreflightOf = ({ headers, method }) => method === 'OPTIONS' && headers[REQUESTED_METHOD] !== undefined

/** @param {RoutedRequest} req @param {string | undefined} origin @param {boolean} isPreflight */
function keyOf({ headers, url }, origin, isPreflight) {
  const path = urlPath(/** @type {string} */ (url))
  const host = headers[':authority'] ?? headers.host
  if (isPreflight)
    return `${origin} ${host} ${path} ${headers[REQUESTED_METHOD]} ${headers[REQUESTED_HEADERS]}`
  const end = path.indexOf('/', 1)
  return `${origin} ${host} ${end === -1 ? path : path.slice(0, end)}`
}

/**
 * @param {RoutedResponse} res @param {boolean} isPreflight
 * @returns {[name: string, value: string][] | undefined} undefined if a value is too long, or is not one that
 *   browsers accept
 */
function headersOf(res, isPreflight) {
  /** @type {[string, string][]} */
  const headers = []
  for (const name of isPreflight ? OF_PREFLIGHT : OF_ANSWER) {
    const value = res.getHeader(name)
    if (value === undefined) continue
    const text = String(value)
    if (text.length > LONGEST_VALUE) return undefined
    if (name !== EXPOSE_HEADERS) headers.push([name, text])
  }
  if (!isPreflight) headers.push([EXPOSE_HEADERS, exposedWith(res.getHeader(EXPOSE_HEADERS))])
  return headers
}

/**
 * Spillway may expose `Retry-After`, because this header says nothing about the application.
 *
 * @param {ReturnType<RoutedResponse['getHeader']>} exposed
 */
const exposedWith = (exposed) => (exposed === undefined ? RETRY_AFTER : `${exposed}, ${RETRY_AFTER}`)

exports.CrossOrigin = CrossOrigin
