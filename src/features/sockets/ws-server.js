'use strict'
// Watches one `WebSocketServer` of ws: whether an upgrade may become a connection, and the connections. The
// server's `handleUpgrade` is replaced. ws calls this method itself, except with `noServer`, where the
// application calls it.

const { ReplacedMethod } = require('../../core/replaced-method')
const { reasonOfCode } = require('./close-reasons')
const { sizeOf } = require('./socket-message')
const { closeOf, unwatchWebSocket, watchWebSocket } = require('./ws-socket')
const { REJECTED } = require('./watched-socket')

/**
 * @import { IncomingMessage } from 'node:http'
 * @import { Duplex } from 'node:stream'
 * @import { Clock } from '../../core/clock'
 * @import { Newcomer } from './newcomers'
 * @import { SocketMessage } from './socket-message'
 * @import { HandshakeRequest, Sockets } from './sockets'
 * @import { Received, Watcher, WebSocket } from './ws-socket'
 */

/**
 * @typedef {{ clients?: Set<WebSocket>, options: { port: unknown, server: unknown },
 *   shouldHandle(req: IncomingMessage): boolean, _server?: unknown }} WebSocketServer
 * @typedef {(ws: WebSocket, ...rest: unknown[]) => unknown} OnWebSocket
 */

const TRANSPORT = 'websocket'
const GOING_AWAY = 1001
/** How long a client may take to answer the close frame. */
const GOODBYE_MS = 2000
const DEFAULT_KIND = 'message'

class WsServer {
  #wss
  #sockets
  #kind
  #priority
  /**
   * The record (newcomers.js) of each open WebSocket; undefined if it was open before Spillway watched.
   *
   * @type {Map<WebSocket, Newcomer | undefined>}
   */
  #open = new Map()
  #isClosed = false
  /** Set by `goodbye()`. @type {Clock | undefined} */
  #goodbyeClock
  #handleUpgrade
  /** @type {Watcher} */
  #watcher

  /**
   * @param {WebSocketServer} wss
   * @param {import('../../../index.js').SocketsOptions} options
   * @param {Sockets} sockets
   */
  constructor(wss, { kind, priority }, sockets) {
    this.#wss = wss
    this.#sockets = sockets
    this.#kind = kind
    this.#priority = priority
    const server = this
    this.#watcher = {
      receive: (ws, data, isBinary, next) => this.#receive(ws, data, isBinary, next),
      onSend: (data) => sockets.connections.onSend(sizeOf(data)),
      onClose: (ws, code) => {
        if (!this.#open.has(ws)) return
        sockets.newcomers.remove(this.#open.get(ws))
        this.#open.delete(ws)
        sockets.connections.onClose(TRANSPORT, reasonOfCode(code, closeOf(ws)))
      },
    }
    for (const ws of wss.clients ?? []) this.#add(ws, false)
    this.#handleUpgrade = new ReplacedMethod(
      wss,
      'handleUpgrade',
      (method) =>
        /**
         * @this {WebSocketServer}
         * @param {HandshakeRequest} req
         * @param {Duplex} socket
         * @param {Buffer} head
         * @param {OnWebSocket} callback
         */
        function (req, socket, head, callback) {
          const open = () =>
            method.inner.call(
              this,
              req,
              socket,
              head,
              /** @type {OnWebSocket} */ (ws, ...rest) => {
                server.#add(ws, true)
                return callback(ws, ...rest)
              }
            )
          if (server.#isClosed || !this.shouldHandle(req)) return open()
          // Copied, because Node reuses the memory of the head, and the connection may be held.
          head = Buffer.from(head)
          sockets.openOrRefuse(req, { owner: server, socket }, open)
        }
    )
  }

  /** Only Socket.IO has requests of an open session. @param {HandshakeRequest} _req */
  hasSession(_req) {
    return false
  }

  /**
   * Whether this server decides about an upgrade. With `noServer`, the application may give the upgrade to
   * another server.
   *
   * @param {HandshakeRequest} req
   */
  decidesUpgrade(req) {
    const { server, port } = this.#wss.options
    if (server === null && port === null) return false
    return req.socket?.server === (server ?? this.#wss._server) && this.#wss.shouldHandle(req)
  }

  /** @param {WebSocket} ws @param {boolean} isNew */
  #add(ws, isNew) {
    if (this.#isClosed || this.#open.has(ws)) return
    this.#open.set(ws, isNew ? this.#sockets.newcomers.add() : undefined)
    if (isNew) this.#sockets.connections.onOpen(TRANSPORT)
    else this.#sockets.connections.onFound(TRANSPORT)
    watchWebSocket(ws, this.#watcher)
    // The WebSocket's handshake was in progress when all other WebSockets were closed.
    if (isNew) this.#goodbyeClock?.afterTurn(() => this.#dismiss([ws]))
  }

  /**
   * @param {WebSocket} ws
   * @param {unknown} data
   * @param {boolean} isBinary
   * @param {SocketMessage | undefined} next
   * @returns {Received}
   */
  #receive(ws, data, isBinary, next) {
    if (this.#isClosed) return next
    this.#sockets.connections.onReceive(sizeOf(data))
    const kind = this.#kindOf(data, isBinary)
    const isHandled = ws.listenerCount('message') > 0
    if (this.#priority !== undefined) {
      const rejection = this.#sockets.rejectionOf(this.#priority, kind, ws, isHandled)
      if (rejection !== undefined) {
        this.#sockets.guard(() => ws.send(JSON.stringify(rejection)))
        return REJECTED
      }
    }
    return this.#sockets.receive({ name: kind, isHandled, newcomer: this.#open.get(ws), next })
  }

  /** @param {unknown} data @param {boolean} isBinary */
  #kindOf(data, isBinary) {
    if (this.#kind === undefined) return DEFAULT_KIND
    const kind = this.#sockets.call('sockets.kind', () => this.#kind?.(data, isBinary))
    return typeof kind === 'string' && kind !== '' ? kind : DEFAULT_KIND
  }

  /**
   * Closes every WebSocket with 1001, "going away". If a client does not answer, its connection is destroyed.
   *
   * @param {Clock} clock
   */
  goodbye(clock) {
    this.#goodbyeClock = clock
    this.#dismiss([...this.#open.keys()])
  }

  /** @param {WebSocket[]} leaving */
  #dismiss(leaving) {
    for (const ws of leaving) this.#sockets.guard(() => ws.close(GOING_AWAY, 'going away'))
    if (leaving.length === 0) return
    this.#goodbyeClock?.after(GOODBYE_MS, () => {
      for (const ws of leaving) if (this.#open.has(ws)) this.#sockets.guard(() => ws.terminate())
    })
  }

  close() {
    this.#isClosed = true
    this.#handleUpgrade.restore()
    this.#sockets.open(this)
    for (const [ws, newcomer] of this.#open) {
      unwatchWebSocket(ws, this.#watcher)
      this.#sockets.newcomers.remove(newcomer)
      this.#sockets.connections.onForget(TRANSPORT)
    }
    this.#open.clear()
  }
}

exports.WsServer = WsServer
