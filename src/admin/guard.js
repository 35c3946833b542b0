'use strict'
// Who may ask the admin server, and how often. A browser can be made to ask a loopback address in a stranger's name,
// by a domain that resolves to it: so the Host has to be a name of ours. The token is compared by its hash, in a time
// that tells nothing of either.

const { createHash, timingSafeEqual } = require('node:crypto')
const net = require('node:net')

const SECOND_MS = 1000
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']
const HTTP_PORT = 80
const SCHEME = 'bearer '

const REFUSALS = {
  host: {
    status: 421,
    text: 'This Host is none of this server. Ask it by its address, or give listen() the name in `hosts`.',
  },
  token: {
    status: 401,
    text: 'A token is needed: Authorization: Bearer <token>.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  method: { status: 405, text: 'GET and HEAD only.', headers: { Allow: 'GET, HEAD' } },
  body: { status: 413, text: 'No body is taken.' },
  rate: { status: 429, text: 'Too many requests.', headers: { 'Retry-After': '1' } },
}

const digest = (text) => createHash('sha256').update(text).digest()
const bracketed = (host) => (net.isIPv6(host) ? `[${host}]` : host)

class AdminGuard {
  #token
  #names
  #hosts
  #clock
  #known
  #strangers

  constructor({ host, token, hosts, maxRequestsPerSecond, clock }) {
    this.#token = token === undefined ? undefined : digest(token)
    this.#names = new Set([...LOOPBACK_NAMES, bracketed(host).toLowerCase()])
    this.#hosts = new Set(hosts.map((name) => name.toLowerCase()))
    this.#clock = clock
    // Two, so that who has no token cannot use up what is left for who has.
    this.#known = new Allowance(maxRequestsPerSecond)
    this.#strangers = new Allowance(maxRequestsPerSecond)
  }

  /** @returns {{ status: number, text: string, headers?: Record<string, string> } | undefined} */
  refuse(req) {
    const wrong = this.#stranger(req)
    const allowance = wrong === undefined ? this.#known : this.#strangers
    if (!allowance.take(this.#clock.now())) return REFUSALS.rate
    if (wrong !== undefined) return wrong
    if (req.method !== 'GET' && req.method !== 'HEAD') return REFUSALS.method
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = req.headers
    return encoding === undefined && length === '0' ? undefined : REFUSALS.body
  }

  #stranger(req) {
    if (!this.#isOurs(req)) return REFUSALS.host
    return this.#hasToken(req.headers.authorization) ? undefined : REFUSALS.token
  }

  #isOurs({ headersDistinct: { host = [] }, socket }) {
    if (host.length !== 1) return false
    const asked = host[0].toLowerCase()
    // Behind a proxy or a mapped port it may have any port.
    if (this.#hosts.has(asked)) return true
    const name = withoutPort(asked, socket.localPort)
    // The address it was reached by is no name that could have been made to resolve to it.
    return this.#names.has(name) || this.#hosts.has(name) || name === addressOf(socket)
  }

  #hasToken(authorization = '') {
    if (this.#token === undefined) return true
    const isBearer = authorization.slice(0, SCHEME.length).toLowerCase() === SCHEME
    const given = isBearer ? authorization.slice(SCHEME.length).trimStart() : ''
    return timingSafeEqual(digest(given), this.#token)
  }
}

/** @returns {string | undefined} the name; none where it is followed by another port */
function withoutPort(name, port) {
  if (name.endsWith(`:${port}`)) return name.slice(0, -`:${port}`.length)
  return port === HTTP_PORT ? name : undefined
}

/** On a wildcard socket of IPv6 an IPv4 address has `::ffff:` before it. */
const addressOf = ({ localAddress = '' }) => bracketed(localAddress.replace(/^::ffff:(?=\d+\.)/, ''))

/** So many in each second. */
class Allowance {
  #most
  #left = 0
  #sinceMs = Number.NEGATIVE_INFINITY

  constructor(most) {
    this.#most = most
  }

  take(nowMs) {
    if (nowMs - this.#sinceMs >= SECOND_MS) {
      this.#sinceMs = nowMs
      this.#left = this.#most
    }
    return this.#left-- > 0
  }
}

module.exports = { AdminGuard }
