'use strict'
// A server of our own for operators, beside the application's: nothing of it is gated or counted, so it answers while
// that one turns requests away. It listens on the loopback address unless it has a token, trusts nobody it has not
// let in, and takes little: few connections, small heads, no bodies, and so many requests a second.
// A worker of a cluster that finds the port with another one stands by: once the workers have been replaced in turn, the
// port would be nobody's otherwise.

const cluster = /** @type {any} */ (require('node:cluster'))
const http = require('node:http')
const net = require('node:net')
const { SpillwayError } = require('../errors')
const { urlPath } = require('../url-path')
const { AdminConnections } = require('./connections')
const { AdminGuard } = require('./guard')

const LARGEST_HEAD_BYTES = 8192
/** How often Node looks for heads that are late; it is asked for no more than its own timeout needs. */
const LOOK_MS = 5000
const STAND_BY_MS = 1000

const HEADERS = Object.entries({
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
})

const isLoopback = (host) =>
  host === 'localhost' || host === '::1' || (net.isIPv4(host) && host.startsWith('127.'))

const listenError = (message) => new SpillwayError('ERR_SPILLWAY_LISTEN', message)

const REASONS = {
  EADDRINUSE:
    'is in use. Give another `port`, or 0 for a free one; of the workers of a cluster one has it, and another when that has gone',
  EADDRNOTAVAIL: 'is no address of this machine. Give another `host`',
  ENOTFOUND: 'is no name that can be resolved. Give another `host`',
  EACCES: 'may not be used by this user. Give a `port` above 1023',
}

class AdminServer {
  #pages
  #clock
  #faults
  #server
  #isStandingBy = false
  #isClosed = false
  #fail = (_error) => {}

  /**
   * @param {{ pages: Map<string, (req: any, res: any) => void>, clock: any, faults: any }} parts
   *   pages: what answers each path
   */
  constructor({ pages, clock, faults }) {
    this.#pages = pages
    this.#clock = clock
    this.#faults = faults
  }

  /**
   * @param {Required<import('../../index.js').ListenOptions>} options
   * @returns {Promise<import('../../index.js').AdminAddress>}
   */
  listen(options) {
    const { port, host, token } = options
    if (token === undefined && !isLoopback(host)) {
      throw new SpillwayError(
        'ERR_SPILLWAY_TOKEN',
        `The admin server would answer anybody who reaches '${host}'. Give a \`token\` of at least 16 characters, or host: '127.0.0.1'.`
      )
    }
    if (this.#isClosed)
      return Promise.reject(listenError('This spillway is closed: call listen() before close().'))
    if (this.#server !== undefined && !this.#isStandingBy) {
      return Promise.reject(
        listenError('The admin server of this spillway listens already. Call listen() once.')
      )
    }
    const server = this.#create(options)
    this.#server = server
    this.#isStandingBy = false
    // A worker of a cluster would otherwise share the port, and each scrape would see another worker.
    const open = () => server.listen({ port, host, exclusive: true })
    return new Promise((resolve, reject) => {
      this.#fail = reject
      server.on('error', (error) => {
        reject(explained(error, options))
        if (this.#server !== server || server.listening) return
        if (isTaken(error) && cluster.isWorker) this.#standBy(server, open)
        else this.#server = undefined
      })
      server.on('listening', () => {
        // close() came while the name of the host was looked up.
        if (this.#isClosed) return void server.close()
        this.#isStandingBy = false
        resolve(addressOf(server, host))
      })
      open()
    })
  }

  #standBy(server, open) {
    this.#isStandingBy = true
    this.#clock.after(STAND_BY_MS, () => {
      if (this.#server === server && !this.#isClosed) open()
    })
  }

  #create({ host, token, hosts, timeout, maxConnections, maxRequestsPerSecond }) {
    const connections = new AdminConnections({
      clock: this.#clock,
      most: maxConnections,
      timeoutMs: timeout,
    })
    const server = http.createServer({
      maxHeaderSize: LARGEST_HEAD_BYTES,
      headersTimeout: connections.strangerMs,
      requestTimeout: timeout,
      keepAliveTimeout: Math.min(timeout, LOOK_MS),
      connectionsCheckingInterval: Math.min(timeout, LOOK_MS),
    })
    // Who takes no byte of its answer for so long is gone.
    server.timeout = timeout
    const guard = new AdminGuard({ host, token, hosts, maxRequestsPerSecond, clock: this.#clock })
    server.on('request', (req, res) => {
      try {
        this.#answer({ guard, connections }, req, res)
      } catch (error) {
        this.#faults.report('listen', error)
        res.destroy()
      }
    })
    server.on('connection', (socket) => {
      socket.unref()
      connections.add(socket)
    })
    return server.unref()
  }

  #answer({ guard, connections }, req, res) {
    for (const [name, value] of HEADERS) res.setHeader(name, value)
    const refusal = guard.refuse(req)
    if (refusal !== undefined) return refuse(res, refusal)
    connections.letIn(req.socket)
    const page = this.#pages.get(urlPath(req.url))
    if (page === undefined) return refuse(res, { status: 404, text: 'Not found. / lists what there is.' })
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
 * What is refused is not read either: its connection ends with the answer.
 *
 * @param {http.ServerResponse} res
 * @param {{ status: number, text: string, headers?: Record<string, string> }} refusal
 */
function refuse(res, { status, text, headers }) {
  const bytes = Buffer.from(`${text}\n`)
  res.writeHead(status, {
    ...headers,
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': bytes.length,
    Connection: 'close',
  })
  res.end(res.req.method === 'HEAD' ? undefined : bytes)
}

const isTaken = (error) => error.code === 'EADDRINUSE'

function explained(error, { host, port }) {
  const reason = REASONS[error.code]
  if (reason === undefined) return error
  return listenError(`The admin server cannot listen: ${authority(host, port)} ${reason}.`)
}

const authority = (host, port) => `${net.isIPv6(host) ? `[${host}]` : host}:${port}`

function addressOf(server, host) {
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  return Object.freeze({ host, port, url: `http://${authority(host, port)}` })
}

module.exports = { AdminServer }
