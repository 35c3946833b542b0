'use strict'
// Watches the messages of one WebSocket of ws. Its `emit`, `send`, `close` and `terminate` are replaced, on the WebSocket itself.

const { EventEmitter } = require('node:events')
const { ReplacedMethod } = require('../../core/replaced-method')
const { emitWatched, runAll } = require('./emission')
const { REJECTED, WatchedSocket, unwatch } = require('./watched-socket')

/** Another copy of this package may watch the same WebSocket: its number changes with WatchedSocket and Watcher. */
const kWatched = Symbol.for('spillway.websocket.1')

/**
 * @typedef {object} Watcher
 * @property {(ws: any, data: any, isBinary: boolean, next: any) => any} receive a message, or REJECTED
 * @property {(data: any) => void} onSend
 * @property {(ws: any, code: number) => void} onClose
 */

/** @extends {WatchedSocket<Watcher>} */
class WsSocket extends WatchedSocket {
  /** Whether this process closed it, and with which code. */
  isOurs = false
  /** @type {number | undefined} */
  ourCode

  constructor(ws) {
    super()
    const watched = this
    const closesIt = (method) =>
      /** @this {any} */
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

  receive(ws, data, isBinary) {
    let message
    for (const watcher of this.watchers) {
      message = watcher.receive(ws, data, isBinary, message)
      if (message === REJECTED) return REJECTED
    }
    return message
  }
}

/** @param {WsSocket} watched */
function onEmit(watched, method) {
  /** @this {any} */
  return function (event, ...args) {
    // Not by a listener: applications call `removeAllListeners()`.
    if (event === 'close') for (const watcher of watched.watchers) watcher.onClose(this, args[0])
    if (event !== 'message') return method.inner.call(this, event, ...args)
    const message = watched.receive(this, args[0], args[1])
    if (message === REJECTED) return true
    if (message === undefined) return method.inner.call(this, event, ...args)
    // Another `emit`, of a subclass or of a package that wraps it, may change what the listeners get.
    if (method.inner !== EventEmitter.prototype.emit)
      return runAll(message, () => method.inner.call(this, event, ...args))
    return emitWatched(this, event, args, message)
  }
}

/** @param {WsSocket} watched */
function onSend(watched, method) {
  /** @this {any} */
  return function (data, ...rest) {
    const isOpen = this.readyState === this.OPEN
    const sent = method.inner.call(this, data, ...rest)
    if (!isOpen) return sent
    for (const watcher of watched.watchers) watcher.onSend(data)
    return sent
  }
}

/** @param {any} ws @param {Watcher} watcher */
function watchWebSocket(ws, watcher) {
  if (ws[kWatched] === undefined)
    Object.defineProperty(ws, kWatched, { value: new WsSocket(ws), configurable: true })
  ws[kWatched].watchers.add(watcher)
}

/** @param {any} ws @param {Watcher} watcher */
const unwatchWebSocket = (ws, watcher) => unwatch(ws, kWatched, watcher)

/** Who closed the WebSocket, and how. @returns {{ isOurs: boolean, ourCode?: number | undefined }} */
const closeOf = (ws) => ws[kWatched] ?? NOT_OURS
const NOT_OURS = Object.freeze({ isOurs: false })

module.exports = { closeOf, unwatchWebSocket, watchWebSocket }
