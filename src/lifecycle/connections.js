'use strict'
// The connections of one server, kept from the moment each is accepted, so that a drain can close those that carry
// nothing, end those that would never end, and cut what is left.
//
// No connection is closed for being idle at one moment: its client may have sent the next request already, which would
// be lost. It is closed once nothing has moved on it for as long as its client was promised, or after an answer that
// says `Connection: close`. `_httpMessage` is where Node itself keeps the answer under way; nothing public tells of
// one connection, and `closeIdleConnections` knows nothing of when each became idle.

const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const tls = require('node:tls')
const { endIfEndless } = require('./endless-responses')
const { OpenSet } = require('./open-sockets')

const NO_ERROR = 0
const HIGHEST_STREAM_ID = 2 ** 31 - 1

const kMoved = Symbol('spillway.moved')

class Connections {
  /** How many were accepted, ever. */
  accepted = 0
  #server
  #listeners
  /** Whether the server listens, or has connections left from when it did. */
  #isOpen
  /** What speaks HTTP/1, or has been handed over by it. */
  #http = new OpenSet()
  /** What carries TLS, or an HTTP/2 session. */
  #carriers = new OpenSet()
  #sessions = new OpenSet()
  /** What has shaken hands for HTTP/2, with a session of Node's or of somebody else's. */
  #multiplexed = new OpenSet()
  /** Sessions that have got their GOAWAY. */
  #told = new WeakSet()
  #isClosing = false
  #keepsIdle = false

  /** @param {{ onClose?: () => void, onListen?: () => void }} [listeners] told that the server has closed, and that it listens */
  constructor(server, listeners = {}) {
    const { onClose = () => {}, onListen = () => {} } = listeners
    this.#server = server
    this.#isOpen = server.listening
    const accepts = server instanceof http.Server ? this.#http : this.#carriers
    this.#listeners = {
      connection: (socket) => {
        this.accepted++
        accepts.add(socket)
      },
      session: (session) => this.#sessions.add(session),
      listening: () => {
        this.#isOpen = true
        onListen()
      },
      close: () => {
        this.#isOpen = false
        onClose()
      },
    }
    if (server instanceof tls.Server) {
      this.#listeners.secureConnection = (socket) => {
        const shaken = socket.alpnProtocol === 'h2' ? this.#multiplexed : this.#http
        shaken.add(socket)
      }
    }
    for (const [event, listener] of Object.entries(this.#listeners)) server.on(event, listener)
  }

  /** A server met with its first request has accepted that request's connection already. */
  addFrom({ stream, socket }) {
    if (stream?.session !== undefined) this.#sessions.add(stream.session)
    else this.#http.add(socket)
  }

  addSession(session) {
    this.#sessions.add(session)
  }

  get isDone() {
    return !this.#isOpen && this.#http.size + this.#carriers.size + this.#sessions.size === 0
  }

  /**
   * Since Node 19 `close` hangs up every connection idle at that moment, be its next request on its way or not; since Node 24
   * that of http2 closes every session, and has nothing to be shadowed. The application may call it as soon as it is told to go.
   */
  keepIdle() {
    this.#keepsIdle = true
    this.#server.closeIdleConnections = () => {}
  }

  /** What runs for the first time takes its time, and `stopAccepting` has none: who connects meanwhile is reset. */
  static rehearseStop() {
    const server = http.createServer()
    server.close()
    new Connections(server).stopAccepting()
  }

  /** No connection from now on; those there are go on. */
  stopAccepting() {
    if (!this.#isClosing) this.#close()
    // All streams that come are still taken: one that was on its way is not lost. The session's `close` refuses them.
    for (const session of this.#sessions) {
      if (session.closed || session.destroyed || this.#told.has(session)) continue
      this.#told.add(session)
      session.goaway(NO_ERROR, HIGHEST_STREAM_ID)
    }
  }

  #close() {
    this.#isClosing = true
    const server = this.#server
    this.keepIdle()
    const isHttp1 = server instanceof http.Server || server instanceof https.Server
    if (server.listening && isHttp1) server.close()
    else if (server.listening) net.Server.prototype.close.call(server)
  }

  /** Looks what has moved since it last did. */
  watchStillness(nowMs) {
    for (const sockets of [this.#http, this.#carriers]) {
      for (const socket of sockets) {
        // Not a number where somebody has given the server a stream that is no socket: that moves while it is answered.
        const bytes = socket.bytesRead + socket.bytesWritten
        const moved = (socket[kMoved] ??= { bytes: -1, atMs: nowMs })
        if (Object.is(moved.bytes, bytes) && !isAnswering(socket)) continue
        moved.bytes = bytes
        moved.atMs = nowMs
      }
    }
  }

  /** Closes what has been still for as long as its client was promised, at the most for `mostMs`. */
  closeStill(nowMs, mostMs) {
    const stillMs = Math.min(this.#server.keepAliveTimeout || mostMs, mostMs)
    const isStill = (socket) => nowMs - socket[kMoved].atMs >= stillMs
    for (const socket of this.#http) if (isStill(socket)) (socket.destroySoon ?? socket.destroy).call(socket)
    // A carrier that is still may have a stream that is being answered; not one that has sent nothing, nor any where all are in
    // the middle of their handshake. Clients that vanish there are left by Node for two minutes.
    const areUnused = this.#http.size + this.#sessions.size + this.#multiplexed.size === 0
    for (const socket of this.#carriers) {
      if ((areUnused || socket.bytesRead === 0) && isStill(socket)) socket.destroy()
    }
  }

  /** Closes what carries no request now, whatever its client was promised; where its peer does not read, the second time. */
  closeIdle() {
    for (const socket of this.#http) {
      if (isAnswering(socket)) continue
      if (socket.writableEnded || socket.destroySoon === undefined) socket.destroy()
      else socket.destroySoon()
    }
    const areUnused = this.#http.size + this.#sessions.size + this.#multiplexed.size === 0
    for (const socket of this.#carriers) if (areUnused || socket.bytesRead === 0) socket.destroy()
  }

  /** Ends what would not end: sessions take no more streams, and what `EventSource` reads is ended, as it comes again. */
  endStreams() {
    for (const session of this.#sessions) if (!session.closed && !session.destroyed) session.close()
    for (const { _httpMessage: res } of this.#http) endIfEndless(res)
  }

  cut() {
    for (const session of this.#sessions) session.destroy()
    for (const socket of this.#http) socket.destroy()
    for (const socket of this.#carriers) socket.destroy()
    this.#server.closeAllConnections?.()
  }

  release() {
    if (this.#keepsIdle) delete this.#server.closeIdleConnections
    for (const [event, listener] of Object.entries(this.#listeners)) this.#server.off(event, listener)
    for (const open of [this.#http, this.#carriers, this.#sessions, this.#multiplexed]) open.release()
  }
}

const isAnswering = ({ _httpMessage: res }) => res != null && !res.writableFinished

module.exports = { Connections }
