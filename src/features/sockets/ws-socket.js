'use strict'
// Watches the messages of one WebSocket of ws. Its `emit`, `send`, `close` and `terminate` are replaced, on
// the WebSocket itself.

const { EventEmitter } = require('node:events')
const { ReplacedMethod } = require('../../core/replaced-method')
const { emitWatched, runAll } = require('./emission')
const { REJECTED, WatchedSocket, unwatch } = require('./watched-socket')

/**
 * @import { Emitter } from './emission'
 * @import { SocketMessage } from './socket-message'
 */

/**
 * Another copy of this package may watch the same WebSocket. The number in this symbol is raised when
 * WatchedSocket or Watcher changes.
 */
const kWatched = Symbol.for('spillway.websocket.1')

/**
 * The members of a WebSocket that are used. `kWatched` exists once the WebSocket is watched.
 *
 * @typedef {Emitter & { readyState: number, OPEN: number, listenerCount(event: string): number,
 *   send(data: string): void, close(code: number, reason: string): void, terminate(): void,
 *   _closeFrameReceived: boolean, [kWatched]: WsSocket }} WebSocket
 * @typedef {SocketMessage | typeof REJECTED | undefined} Received the record of the message, linked to the
 *   records of the other instances
 */

/**
 * @typedef {object} Watcher
 * @property {(ws: WebSocket, data: unknown, isBinary: boolean, next: SocketMessage | undefined) => Received}
 *   receive
 * @property {(data: unknown) => void} onSend
 * @property {(ws: WebSocket, code: number) => void} onClose
 */

/** @extends {WatchedSocket<Watcher>} */
class WsSocket extends WatchedSocket {
  /** Whether this process closed the WebSocket. `ourCode`: its close code */
  isOurs = false
  /** @type {number | undefined} */
  ourCode

  /** @param {WebSocket} ws */
  constructor(ws) {
    super()
    const watched = this
    /** @param {ReplacedMethod} method */
    const closesIt = (method) =>
      /** @this {WebSocket} @param {[code?: number, reason?: unknown]} given */
      function (...given) {
        if (!watched.isOurs && !this._closeFrameReceived) {
          watched.isOurs = true
          watched.ourCode = given[0]
        }
        return method.inner.apply(this, given)
      }
    const methods = [
      new ReplacedMethod(ws, 'emit', (method) => onEmit(watched, method)),
      new ReplacedMethod(ws, 'send', (method) => onSend(watched, method)),
      new ReplacedMethod(ws, 'close', closesIt),
      new ReplacedMethod(ws, 'terminate', closesIt),
    ]
    this.restores = methods.map((method) => () => method.restore())
  }

  /** @param {WebSocket} ws @param {unknown} data @param {boolean} isBinary @returns {Received} */
  receive(ws, data, isBinary) {
    /** @type {Received} */
    let message
    for (const watcher of this.watchers) {
      message = watcher.receive(ws, data, isBinary, /** @type {SocketMessage | undefined} */ (message))
      if (message === REJECTED) return REJECTED
    }
    return message
  }
}

/** @param {WsSocket} watched @param {ReplacedMethod} method */
function onEmit(watched, method) {
  /** @this {WebSocket} @param {string} event @param {...unknown} args */
  return function (event, ...args) {
    // The close is noticed here and not by a listener, because applications call `removeAllListeners()`.
    if (event === 'close')
      for (const watcher of watched.watchers) watcher.onClose(this, /** @type {number} */ (args[0]))
    if (event !== 'message') return method.inner.call(this, event, ...args)
    const message = watched.receive(this, args[0], /** @type {boolean} */ (args[1]))
    if (message === REJECTED) return true
    if (message === undefined) return method.inner.call(this, event, ...args)
    // An `emit` of a subclass or of another package may change the arguments of the listeners.
    if (method.inner !== EventEmitter.prototype.emit)
      return runAll(message, () => method.inner.call(this, event, ...args))
    return emitWatched(this, event, args, message)
  }
}

/** @param {WsSocket} watched @param {ReplacedMethod} method */
function onSend(watched, method) {
  /** @this {WebSocket} @param {unknown} data @param {...unknown} rest */
  return function (data, ...rest) {
    const isOpen = this.readyState === this.OPEN
    const sent = method.inner.call(this, data, ...rest)
    if (!isOpen) return sent
    for (const watcher of watched.watchers) watcher.onSend(data)
    return sent
  }
}

/** @param {WebSocket} ws @param {Watcher} watcher */
function watchWebSocket(ws, watcher) {
  if (ws[kWatched] === undefined)
    Object.defineProperty(ws, kWatched, { value: new WsSocket(ws), configurable: true })
  ws[kWatched].watchers.add(watcher)
}

/** @param {WebSocket} ws @param {Watcher} watcher */
const unwatchWebSocket = (ws, watcher) => unwatch(ws, kWatched, watcher)

/**
 * The side that closed the WebSocket, and how.
 *
 * @param {WebSocket} ws
 * @returns {{ isOurs: boolean, ourCode?: number | undefined }}
 */
const closeOf = (ws) => ws[kWatched] ?? NOT_OURS
const NOT_OURS = Object.freeze({ isOurs: false })

module.exports = { closeOf, unwatchWebSocket, watchWebSocket }
