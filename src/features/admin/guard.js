'use strict'
// Checks each request to the admin server: Host, token, method, body and rate. A website can make a browser
// send requests to a loopback address by a domain that resolves to it (DNS rebinding). So the Host must be
// one of our names. Tokens are compared by their hashes in constant time.

const { createHash, timingSafeEqual } = require('node:crypto')
const net = require('node:net')

/**
 * @import { IncomingMessage } from 'node:http'
 * @import { Socket } from 'node:net'
 */

const SECOND_MS = 1000
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']
const HTTP_PORT = 80
const SCHEME = 'bearer '
/** Largest share of one address of the requests without the token in a second. */
const SHARE_OF_ADDRESS = 0.75

/** @typedef {{ status: number, text: string, headers?: Record<string, string> }} Rejection */

/** @satisfies {Record<string, Rejection>} */
const REJECTIONS = {
  host: {
    status: 421,
    text: 'This server does not answer for this Host. Use its address, or give the name to listen() in `hosts`.',
  },
  token: {
    status: 401,
    text: 'A token is required: Authorization: Bearer <token>.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  method: { status: 405, text: 'Only GET and HEAD are allowed.', headers: { Allow: 'GET, HEAD' } },
  postMethod: {
    status: 405,
    text: 'Only GET, HEAD and POST are allowed.',
    headers: { Allow: 'GET, HEAD, POST' },
  },
  origin: { status: 403, text: 'Another website has sent this request.' },
  body: { status: 413, text: 'A request must not have a body.' },
  rate: { status: 429, text: 'Too many requests.', headers: { 'Retry-After': '1' } },
}

/** @param {string} text */
const digest = (text) => createHash('sha256').update(text).digest()
/** @param {string} host */
const bracketed = (host) => (net.isIPv6(host) ? `[${host}]` : host)

class AdminGuard {
  #token
  /**
   * A name of another port is `undefined`, which is in neither set.
   *
   * @type {ReadonlySet<string | undefined>}
   */
  #names
  /** @type {ReadonlySet<string | undefined>} */
  #hosts
  #clock
  #authorized
  #strangers

  /**
   * @param {{ host: string, token: string | undefined, hosts: readonly string[],
   *   maxRequestsPerSecond: number, clock: Pick<import('../../core/clock').Clock, 'now'> }} options
   */
  constructor({ host, token, hosts, maxRequestsPerSecond, clock }) {
    this.#token = token === undefined ? undefined : digest(token)
    this.#names = new Set([...LOOPBACK_NAMES, bracketed(host).toLowerCase()])
    this.#hosts = new Set(hosts.map((name) => name.toLowerCase()))
    this.#clock = clock
    // Separate limits, so that clients without the token cannot use up the requests of clients with it. One
    // address of strangers gets three quarters, so that it cannot keep the page from another address either,
    // which needs no token.
    this.#authorized = new RateLimit(maxRequestsPerSecond)
    this.#strangers = new RateLimit(maxRequestsPerSecond, SHARE_OF_ADDRESS)
  }

  get hasToken() {
    return this.#token !== undefined
  }

  /**
   * @param {IncomingMessage} req
   * @param {{ isPublic?: boolean, takesPost?: boolean }} [page] isPublic: whether what it asks for needs no
   *   token
   * @returns {Rejection | undefined} undefined if the request is allowed
   */
  check(req, { isPublic = false, takesPost = false } = {}) {
    const rejection = this.#authorize(req)
    const limit = rejection === undefined ? this.#authorized : this.#strangers
    if (!limit.take(this.#clock.now(), req.socket.remoteAddress)) return REJECTIONS.rate
    if (rejection !== undefined && !(isPublic && rejection === REJECTIONS.token)) return rejection
    const isPost = takesPost && req.method === 'POST'
    if (!isPost && req.method !== 'GET' && req.method !== 'HEAD')
      return takesPost ? REJECTIONS.postMethod : REJECTIONS.method
    if (isPost && !this.#isFromHere(req)) return REJECTIONS.origin
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers
    return encoding === undefined && length === '0' ? undefined : REJECTIONS.body
  }

  /** @param {IncomingMessage} req @returns {Rejection | undefined} */
  #authorize(req) {
    if (!this.#hasOurHost(req)) return REJECTIONS.host
    if (isOfAnotherWebsite(req)) return REJECTIONS.origin
    return this.#hasToken(req.headers.authorization) ? undefined : REJECTIONS.token
  }

  /**
   * A browser sends POST for any website, and says for which. Other clients say nothing.
   *
   * @param {IncomingMessage} req
   */
  #isFromHere({ headers, socket }) {
    const { origin, 'sec-fetch-site': site = 'none' } = headers
    if (site !== 'same-origin' && site !== 'none') return false
    if (origin === undefined) return true
    const host = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]
    return host !== undefined && this.#isOurs(host, socket)
  }

  /** @param {IncomingMessage} req */
  #hasOurHost({ headersDistinct: { host = [] }, socket }) {
    return host.length === 1 && this.#isOurs(host[0], socket)
  }

  /** @param {string} host @param {Socket} socket */
  #isOurs(host, socket) {
    const given = host.toLowerCase()
    // Compared with its port too: behind a proxy or a mapped port, a Host may have any port.
    if (this.#hosts.has(given)) return true
    const name = withoutPort(given, socket.localPort)
    // The address of the connection is safe: an attacker's domain has a name.
    return this.#names.has(name) || this.#hosts.has(name) || name === addressOf(socket)
  }

  #hasToken(authorization = '') {
    if (this.#token === undefined) return true
    const isBearer = authorization.slice(0, SCHEME.length).toLowerCase() === SCHEME
    const given = isBearer ? authorization.slice(SCHEME.length).trimStart() : ''
    return timingSafeEqual(digest(given), this.#token)
  }
}

/**
 * Whether a website makes a browser ask, for a script, an image or a frame. To follow a link is no such
 * request.
 *
 * @param {IncomingMessage} req
 */
const isOfAnotherWebsite = ({
  headers: { 'sec-fetch-site': site = 'none', 'sec-fetch-dest': destination },
}) => site !== 'same-origin' && site !== 'none' && destination !== 'document'

/**
 * @param {string} name
 * @param {number | undefined} port
 * @returns {string | undefined} the name; undefined if it has a different port
 */
function withoutPort(name, port) {
  if (name.endsWith(`:${port}`)) return name.slice(0, -`:${port}`.length)
  return port === HTTP_PORT ? name : undefined
}

/** An IPv4 address has the prefix `::ffff:` on an IPv6 wildcard socket. @param {Socket} socket */
const addressOf = ({ localAddress = '' }) => bracketed(localAddress.replace(/^::ffff:(?=\d+\.)/, ''))

/** Allows a number of requests in each second, and each address a share of them. */
class RateLimit {
  #max
  #maxPerAddress
  /** The requests of each address in this second. @type {Map<string, number>} */
  #byAddress = new Map()
  #left = 0
  #sinceMs = Number.NEGATIVE_INFINITY

  /** @param {number} max @param {number} [shareOfAddress] */
  constructor(max, shareOfAddress = 1) {
    this.#max = max
    this.#maxPerAddress = Math.ceil(max * shareOfAddress)
  }

  /** @param {number} nowMs @param {string} [address] */
  take(nowMs, address = '') {
    if (nowMs - this.#sinceMs >= SECOND_MS) {
      this.#sinceMs = nowMs
      this.#left = this.#max
      this.#byAddress.clear()
    }
    const taken = this.#byAddress.get(address) ?? 0
    if (this.#left <= 0 || taken >= this.#maxPerAddress) return false
    this.#left--
    this.#byAddress.set(address, taken + 1)
    return true
  }
}

exports.AdminGuard = AdminGuard
