'use strict'
// A separate HTTP server for operators. Its requests are neither gated nor counted, so it answers while the
// application rejects requests. Without a token it listens on a loopback address only. Connections, heads,
// bodies and request rates are limited. In a cluster, and among worker threads, one worker holds the port.
// The others try again every second, so that the port survives a rolling restart.

const cluster = /** @type {Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const http = require('node:http')
const net = require('node:net')
const { isMainThread } = require('node:worker_threads')
const { SpillwayError } = require('../../core/errors/errors')
const { markOwn } = require('../../core/process-use')
const { urlPath } = require('../../core/url-path')
const { AdminConnections } = require('./connections')
const { AdminGuard } = require('./guard')
const { failWith } = require('./profile-answers')

/**
 * @import { Cluster } from 'node:cluster'
 * @import { AdminAddress, Handler, ListenOptions } from '../../../index.js'
 * @import { Clock } from '../../core/clock'
 * @import { InternalErrors } from '../../core/errors/internal-errors'
 * @import { Rejection } from './guard'
 * @import { ACCESS } from './pages'
 */

/**
 * @typedef {{ [Name in keyof ListenOptions]-?: Name extends 'token' |
 *   'blockedPort' ? ListenOptions[Name] : NonNullable<ListenOptions[Name]> }} ResolvedListenOptions
 */

const MAX_HEAD_BYTES = 8192
/** How often Node checks for late heads, unless the timeout is shorter. */
const CHECK_INTERVAL_MS = 5000
const RETRY_MS = 1000

const HEADERS = Object.entries({
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
})

/** @param {string} host */
const isLoopback = (host) =>
  host === 'localhost' || host === '::1' || (net.isIPv4(host) && host.startsWith('127.'))

/** @param {string} message */
const listenError = (message) => new SpillwayError('ERR_SPILLWAY_LISTEN', message)

/** @type {Record<string, string | undefined>} */
const REASONS = {
  EADDRINUSE:
    'is in use. Use another `port`, or 0 for a free one. In a cluster, one worker holds the port, and another takes over when that worker exits. ' +
    'To start the service without the admin server, catch this error, or call listen() without await',
  EADDRNOTAVAIL: 'is not an address of this machine. Use another `host`',
  ENOTFOUND: 'cannot be resolved. Use another `host`',
  EACCES: 'requires privileges that this process does not have. Use a `port` above 1023',
}

const NO_TOKEN = {
  status: 403,
  text: 'The answer would show secrets of the process, so the admin server needs a token: give listen() a `token`.',
}

class AdminServer {
  #pages
  #access
  #clock
  #internalErrors
  /** @type {http.Server | undefined} */
  #server
  #isRetrying = false
  #isClosed = false
  /** @type {(error: Error) => void} */
  #fail = (_error) => {}

  /**
   * @param {{ pages: Map<string, Handler>, access: typeof ACCESS, clock: Clock,
   *   internalErrors: InternalErrors }} deps
   *   pages: the handler of each path; access: which pages take POST, need a token, or need none
   */
  constructor({ pages, access, clock, internalErrors }) {
    this.#pages = pages
    this.#access = access
    this.#clock = clock
    this.#internalErrors = internalErrors
  }

  /**
   * @param {ResolvedListenOptions} options
   * @returns {Promise<AdminAddress>}
   */
  listen(options) {
    const { port, host, token } = options
    if (token === undefined && !isLoopback(host)) {
      throw new SpillwayError(
        'ERR_SPILLWAY_TOKEN',
        `The admin server would answer any client that reaches '${host}'. Give a \`token\` of at least 16 characters, or host: '127.0.0.1'.`
      )
    }
    if (this.#isClosed)
      return Promise.reject(listenError('This spillway is closed: call listen() before close().'))
    if (this.#server !== undefined && !this.#isRetrying) {
      return Promise.reject(
        listenError('The admin server of this spillway is already listening. Call listen() once.')
      )
    }
    const server = this.#create(options)
    this.#server = server
    this.#isRetrying = false
    // Without `exclusive`, cluster workers would share the port, and each scrape would reach another worker.
    const open = () => server.listen({ port, host, exclusive: true })
    return new Promise((resolve, reject) => {
      this.#fail = reject
      server.on('error', (error) => {
        reject(explain(error, options))
        if (this.#server !== server || server.listening) return
        if (isPortInUse(error) && hasSiblings()) this.#retryLater(server, open)
        else this.#server = undefined
      })
      server.on('listening', () => {
        // close() was called while the host name was being resolved.
        if (this.#isClosed) return void server.close()
        this.#isRetrying = false
        resolve(addressOf(server, host))
      })
      open()
    })
  }

  /** @param {http.Server} server @param {() => void} open */
  #retryLater(server, open) {
    this.#isRetrying = true
    this.#clock.after(RETRY_MS, () => {
      if (this.#server === server && !this.#isClosed) open()
    })
  }

  /** @param {ResolvedListenOptions} options */
  #create({ host, token, hosts, timeout, maxConnections, maxRequestsPerSecond }) {
    const connections = new AdminConnections({
      clock: this.#clock,
      max: maxConnections,
      timeoutMs: timeout,
    })
    const server = http.createServer({
      maxHeaderSize: MAX_HEAD_BYTES,
      headersTimeout: connections.strangerMs,
      requestTimeout: timeout,
      keepAliveTimeout: Math.min(timeout, CHECK_INTERVAL_MS),
      connectionsCheckingInterval: Math.min(timeout, CHECK_INTERVAL_MS),
    })
    // Destroys the socket of a client that reads nothing of its response for this long.
    server.timeout = timeout
    const guard = new AdminGuard({ host, token, hosts, maxRequestsPerSecond, clock: this.#clock })
    markOwn(server)
    server.on('request', (req, res) => {
      try {
        this.#answer({ guard, connections }, req, res)
      } catch (error) {
        this.#internalErrors.report('listen', error)
        failWith(res, `The page could not be made: ${/** @type {Error} */ (error).message}`)
      }
    })
    server.on('connection', (socket) => {
      socket.unref()
      connections.add(socket)
    })
    return server.unref()
  }

  /**
   * @param {{ guard: AdminGuard, connections: AdminConnections }} checks
   * @param {http.IncomingMessage} req @param {http.ServerResponse} res
   */
  #answer({ guard, connections }, req, res) {
    for (const [name, value] of HEADERS) res.setHeader(name, value)
    const path = urlPath(/** @type {string} */ (req.url))
    const { posts, secrets } = this.#access
    const isPublic = this.#access.isPublic(req)
    const rejection = guard.check(req, { isPublic, takesPost: posts.has(path) })
    if (rejection !== undefined) return reject(res, rejection)
    // Without a token the live page and its data are equally public.
    if (!isPublic || !guard.hasToken) connections.authorize(req.socket)
    if (req.method === 'POST' && secrets.has(path) && !guard.hasToken) return reject(res, NO_TOKEN)
    const page = this.#pages.get(path)
    if (page === undefined) return reject(res, { status: 404, text: 'Not found. / lists all pages.' })
    page(req, res)
  }

  close() {
    this.#isClosed = true
    this.#fail(listenError('This spillway was closed before its admin server listened.'))
    this.#server?.close()
    this.#server?.closeAllConnections()
  }
}

/**
 * Answers a rejected request without reading its body, and closes the connection.
 *
 * @param {http.ServerResponse} res
 * @param {Rejection} rejection
 */
function reject(res, { status, text, headers }) {
  const bytes = Buffer.from(`${text}\n`)
  res.writeHead(status, {
    ...headers,
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': bytes.length,
    Connection: 'close',
  })
  res.end(res.req.method === 'HEAD' ? undefined : bytes)
}

/** @param {NodeJS.ErrnoException} error */
const isPortInUse = (error) => error.code === 'EADDRINUSE'

/** Whether another worker or thread of the application may hold the port. */
const hasSiblings = () => cluster.isWorker || !isMainThread

/** @param {NodeJS.ErrnoException} error @param {ResolvedListenOptions} options */
function explain(error, { host, port }) {
  const reason = REASONS[/** @type {string} */ (error.code)]
  if (reason === undefined) return error
  const message = `The admin server cannot listen: ${authority(host, port)} ${reason}.`
  return Object.assign(listenError(message), { cause: error })
}

/** @param {string} host @param {number} port */
const authority = (host, port) => `${net.isIPv6(host) ? `[${host}]` : host}:${port}`

/** @param {http.Server} server @param {string} host */
function addressOf(server, host) {
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  return Object.freeze({ host, port, url: `http://${authority(host, port)}` })
}

exports.AdminServer = AdminServer
