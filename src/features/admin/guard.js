'use strict'
// Checks each request to the admin server: Host, token, method, body and rate. A website can own a domain
// that resolves to a loopback address, and so make a browser send requests there (DNS rebinding). So the Host
// must be one of our names. The hashes of tokens are compared in constant time.

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
/** Largest share that one address may have of the requests without the token in a second. */
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
   * Host names that are ours. `withoutPort()` returns `undefined` for another port, which is in neither set.
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
    // Separate limits, so that clients without the token cannot use up the requests of clients with the
    // token. One address gets at most three quarters of the requests without the token. So it cannot keep the
    // live page, which needs no token, from other addresses.
    this.#authorized = new RateLimit(maxRequestsPerSecond)
    this.#strangers = new RateLimit(maxRequestsPerSecond, SHARE_OF_ADDRESS)
  }

  get hasToken() {
    return this.#token !== undefined
  }

  /**
   * @param {IncomingMessage} req
   * @param {{ isPublic?: boolean, takesPost?: boolean }} [page] isPublic: whether the page needs no token
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
   * Whether a POST is not from another website. A browser sends POST for any website, and names the website.
   * Other clients name none.
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
    // The option `hosts` may list names with their port, because the port of a Host differs behind a proxy or
    // a mapped port.
    if (this.#hosts.has(given)) return true
    const name = withoutPort(given, socket.localPort)
    // The address of the connection is safe, because DNS rebinding needs a Host that is a domain name.
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
 * Whether another website makes a browser request a script, an image or a frame. Following a link does not
 * count.
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

/** On an IPv6 wildcard socket, an IPv4 address has the prefix `::ffff:`. @param {Socket} socket */
const addressOf = ({ localAddress = '' }) => bracketed(localAddress.replace(/^::ffff:(?=\d+\.)/, ''))

/** Allows a number of requests in each second, and a share of that number to each address. */
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
