'use strict'
// Owns the connections of one server, from the moment each is accepted, so that a drain can close, end or cut
// them.
//
// A connection that is idle at one moment is not closed: the client's next request may be on its way and
// would be lost. A drain closes a connection after its keep-alive timeout without traffic, or after a
// response with `Connection: close`. Some packages compare the number of listeners of `listening` before and
// after `listen()`, so `listen()` must not change it. A listener that we add before `listen()` is kept. One
// that we add during `listen()`, as spillway/register does, is added by `once`, so it is gone afterwards. A
// later `listen()` is noticed at its first connection. Node has no public API for the response in progress on
// a socket, so `socket._httpMessage` is read.

const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const tls = require('node:tls')
const { endIfEndless } = require('../request/event-stream')

const NO_ERROR = 0
const HIGHEST_STREAM_ID = 2 ** 31 - 1
/**
 * How much longer Node keeps an idle connection than its `Keep-Alive` header says. Node 20 has no property
 * for this time.
 */
const BUFFER_MS = 1000
/** A set of this size or less is not swept. */
const SMALL = 64
/** An estimate looks at this many sockets of a set at most, which takes 0.1 ms. */
const LOOKS = 2000

const kLastTraffic = Symbol('spillway.last-traffic')

/**
 * @import { ServerResponse } from 'node:http'
 * @import { Http2Session, ServerHttp2Stream } from 'node:http2'
 * @import { Server, Socket } from 'node:net'
 * @import { TLSSocket } from 'node:tls'
 *
 * @typedef {Server & { keepAliveTimeout?: number, keepAliveTimeoutBuffer?: number,
 *   closeIdleConnections?: () => void, closeAllConnections?: () => void }} AnyServer
 * @typedef {{ bytes: number, atMs: number }} Traffic the bytes so far, and when they last changed
 * @typedef {Socket & { server?: Server, _httpMessage?: ServerResponse | null, [kLastTraffic]?: Traffic }}
 *   ServerSocket
 * @typedef {{ stream?: ServerHttp2Stream, socket: ServerSocket }} ConnectionOwner a request, by its
 *   connection
 */

/**
 * The sockets, or HTTP/2 sessions, that are open now. No listener is added to a socket. Node removes its own
 * listeners before `connect` or `upgrade` hands a socket over, and some protocols count the listeners that
 * remain. So this set removes closed sockets when its size is read, and when it has doubled. Weak references
 * would cost a new connection 4 µs more.
 *
 * @template {{ readonly destroyed: boolean, readonly _handle?: unknown }} Open a socket or a session
 */
class OpenSockets {
  /** @type {Set<Open>} */
  #all = new Set()
  #sweepAbove = SMALL
  /** Where the next estimate goes on. */
  #looked = this.#all.values()

  /**
   * The size, read ten times a second by the gate. Each call looks at the next LOOKS sockets, and the others
   * count as open. So if many sockets close together, they are counted for some seconds.
   */
  estimate() {
    for (let i = 0; i < LOOKS; i++) {
      const { done, value } = this.#looked.next()
      if (done) {
        this.#looked = this.#all.values()
        break
      }
      if (isClosed(value)) this.#all.delete(value)
    }
    return this.#all.size
  }

  get size() {
    this.#sweep()
    return this.#all.size
  }

  #sweep() {
    for (const socket of this.#all) if (isClosed(socket)) this.#all.delete(socket)
    this.#sweepAbove = Math.max(SMALL, 2 * this.#all.size)
    // An old iterator would keep closed sockets in memory.
    this.#looked = this.#all.values()
  }

  *[Symbol.iterator]() {
    for (const socket of this.#all) if (!isClosed(socket)) yield socket
  }

  /** @param {Open} socket */
  add(socket) {
    // The client of a server's first known request may have disconnected already.
    if (isClosed(socket)) return
    this.#all.add(socket)
    if (this.#all.size > this.#sweepAbove) this.#sweep()
  }

  release() {
    this.#all.clear()
    this.#looked = this.#all.values()
  }
}

class Connections {
  /** The number of connections accepted since the server became known */
  accepted = 0
  #server
  /**
   * @type {{ connection: (socket: ServerSocket) => void, secureConnection?: (socket: TLSSocket) => void,
   *   session: (session: Http2Session) => void, close: () => void }}
   */
  #listeners
  #onListen
  /** Whether the server is known to have listened, and has not emitted `close` since. */
  #isOpen = false
  /**
   * Sockets that speak HTTP/1, and sockets that HTTP/1 handed over by `connect` or `upgrade`.
   *
   * @type {OpenSockets<ServerSocket>}
   */
  #http = new OpenSockets()
  /** The TCP sockets beneath TLS or HTTP/2. @type {OpenSockets<ServerSocket>} */
  #carriers = new OpenSockets()
  /** HTTP/2 sessions. @type {OpenSockets<Http2Session>} */
  #sessions = new OpenSockets()
  /**
   * TLS sockets that negotiated HTTP/2. Another package than Node's http2 may own the session.
   *
   * @type {OpenSockets<TLSSocket>}
   */
  #multiplexed = new OpenSockets()
  /** Sessions that were sent a GOAWAY frame. @type {WeakSet<Http2Session>} */
  #goneAway = new WeakSet()
  #isClosing = false
  #keepsIdle = false

  /**
   * @param {AnyServer} server
   * @param {{ onClose?: () => void, onListen?: () => void, isInListen?: boolean }} [options] what is called
   *   when the server closes and when it listens, and whether the server is in its `listen()` right now
   */
  constructor(server, options = {}) {
    const { onClose = () => {}, onListen = () => {}, isInListen = false } = options
    this.#server = server
    this.#onListen = onListen
    const accepts = server instanceof http.Server ? this.#http : this.#carriers
    this.#listeners = {
      connection: (socket) => {
        this.accepted++
        accepts.add(socket)
        if (!this.#isOpen) this.#lookOpen()
      },
      session: (session) => this.#sessions.add(session),
      close: () => {
        this.#isOpen = false
        onClose()
      },
    }
    if (server instanceof tls.Server) {
      this.#listeners.secureConnection = (socket) => {
        const sockets = socket.alpnProtocol === 'h2' ? this.#multiplexed : this.#http
        sockets.add(socket)
      }
    }
    for (const [event, listener] of Object.entries(this.#listeners)) server.on(event, listener)
    if (server.listening) this.#lookOpen()
    else if (isInListen) server.once('listening', this.#lookOpen)
    else server.on('listening', this.#lookOpen)
  }

  #lookOpen = () => {
    if (this.#isOpen || !this.#server.listening) return
    this.#isOpen = true
    this.#onListen()
  }

  /**
   * Adds the connection of a request. A server that becomes known by its first request accepted this
   * connection before the listeners were added.
   *
   * @param {ConnectionOwner} request
   */
  addFrom({ stream, socket }) {
    if (stream?.session !== undefined) this.#sessions.add(stream.session)
    else this.#http.add(socket)
  }

  /** @param {Http2Session} session */
  addSession(session) {
    this.#sessions.add(session)
  }

  /** About how many connections are open. All streams of an HTTP/2 session share one. */
  get open() {
    // The sizes of these two are read at a drain only, and closed sockets would stay in memory until then.
    this.#carriers.estimate()
    this.#multiplexed.estimate()
    return this.#http.estimate() + this.sessions
  }

  get sessions() {
    return this.#sessions.estimate()
  }

  get isDone() {
    return (
      !this.#isOpen &&
      !this.#server.listening &&
      this.#http.size + this.#carriers.size + this.#sessions.size === 0
    )
  }

  /**
   * Keeps idle connections open when the server closes. Since Node 19 `server.close()` destroys every idle
   * connection, and the application may call it as soon as the drain begins. The `close()` of http2 (Node 24)
   * closes all sessions, and calls no method that could be replaced to prevent this.
   */
  keepIdle() {
    this.#keepsIdle = true
    this.#server.closeIdleConnections = () => {}
  }

  /**
   * Runs `stopAccepting` on an unused server. The first run is slow, and clients that connect during it are
   * reset.
   */
  static warmUp() {
    const server = http.createServer()
    server.close()
    new Connections(server).stopAccepting()
  }

  /** Accepts no more connections. Open connections go on. */
  stopAccepting() {
    if (!this.#isClosing) this.#close()
    // After a GOAWAY with the highest stream id, a session still accepts streams that are on their way.
    // `session.close()` would refuse these streams.
    for (const session of this.#sessions) {
      if (session.closed || session.destroyed || this.#goneAway.has(session)) continue
      this.#goneAway.add(session)
      session.goaway(NO_ERROR, HIGHEST_STREAM_ID)
    }
  }

  #close() {
    this.#isClosing = true
    const server = this.#server
    this.#lookOpen()
    this.keepIdle()
    const isHttp1 = server instanceof http.Server || server instanceof https.Server
    if (server.listening && isHttp1) server.close()
    else if (server.listening) net.Server.prototype.close.call(server)
  }

  /**
   * Samples the byte counters of every socket, so that `closeStill` knows when each last carried traffic.
   *
   * @param {number} nowMs
   */
  sampleTraffic(nowMs) {
    for (const sockets of [this.#http, this.#carriers]) {
      for (const socket of sockets) {
        // A stream that is not a socket has no counters, so the sum is NaN. Then traffic is known only while
        // a response is in progress on the stream.
        const bytes = socket.bytesRead + socket.bytesWritten
        const last = (socket[kLastTraffic] ??= { bytes: -1, atMs: nowMs })
        if (Object.is(last.bytes, bytes) && !isAnswering(socket)) continue
        last.bytes = bytes
        last.atMs = nowMs
      }
    }
  }

  /**
   * Closes every connection that had no traffic for the time that Node keeps an idle connection, or for
   * `mostMs` if that is shorter.
   *
   * @param {number} nowMs of the last sample
   * @param {number} mostMs
   */
  closeStill(nowMs, mostMs) {
    const { keepAliveTimeout, keepAliveTimeoutBuffer = BUFFER_MS } = this.#server
    const keptMs = keepAliveTimeout ? keepAliveTimeout + keepAliveTimeoutBuffer : mostMs
    const stillMs = Math.min(keptMs, mostMs)
    /** @param {ServerSocket} socket */
    const isStill = (socket) => nowMs - /** @type {Traffic} */ (socket[kLastTraffic]).atMs >= stillMs
    for (const socket of this.#http) if (isStill(socket)) (socket.destroySoon ?? socket.destroy).call(socket)
    // A carrier without traffic may still have a stream in flight. A carrier has none if its client has sent
    // nothing. No carrier has one while none of them has completed its handshake. If a client vanishes during
    // its handshake, Node keeps the carrier for two minutes.
    const areUnused = this.#areCarriersUnused
    for (const socket of this.#carriers) {
      if ((areUnused || socket.bytesRead === 0) && isStill(socket)) socket.destroy()
    }
  }

  get #areCarriersUnused() {
    return this.#http.size + this.#sessions.size + this.#multiplexed.size === 0
  }

  /**
   * Closes every connection without a request in flight. If a peer does not read, the second call destroys
   * its connection.
   */
  closeIdle() {
    for (const socket of this.#http) {
      if (isAnswering(socket)) continue
      if (socket.writableEnded || socket.destroySoon === undefined) socket.destroy()
      else socket.destroySoon()
    }
    const areUnused = this.#areCarriersUnused
    for (const socket of this.#carriers) if (areUnused || socket.bytesRead === 0) socket.destroy()
  }

  /**
   * Makes sessions refuse new streams. Ends the responses that an `EventSource` reads, because an
   * `EventSource` reconnects.
   */
  endStreams() {
    for (const session of this.#sessions) if (!session.closed && !session.destroyed) session.close()
    for (const { _httpMessage: res } of this.#http) endIfEndless(res)
  }

  /** Destroys every connection, with the requests in flight on it. */
  cut() {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#http) socket.destroy()
    for (const socket of this.#carriers) socket.destroy()
    this.#server.closeAllConnections?.()
  }

  release() {
    if (this.#keepsIdle) delete this.#server.closeIdleConnections
    for (const [event, listener] of Object.entries(this.#listeners)) this.#server.off(event, listener)
    this.#server.off('listening', this.#lookOpen)
    for (const open of [this.#http, this.#carriers, this.#sessions, this.#multiplexed]) open.release()
  }
}

/**
 * Whether the socket is closed, or was sent to another process.
 *
 * @param {{ readonly destroyed: boolean, readonly _handle?: unknown }} socket
 */
const isClosed = ({ destroyed, _handle }) => destroyed || _handle === null

/** Whether a response is in progress on the socket. @param {ServerSocket} socket */
const isAnswering = ({ _httpMessage: res }) => res != null && !res.writableFinished

exports.BUFFER_MS = BUFFER_MS
exports.Connections = Connections
exports.OpenSockets = OpenSockets
exports.isAnswering = isAnswering
