'use strict'
// Watches the events that one socket of Socket.IO receives. Three methods of the socket are replaced, on the
// socket itself:
//   onevent    the packet is received: the message begins, or is rejected by its priority
//   ack        the acknowledgement is made, and handed to the listeners
//   dispatch   the middlewares of `socket.use` run, then the listeners, each called from here
// If `dispatch` is not the known one, only connections and messages are counted.

const { ReplacedMethod } = require('../../core/replaced-method')
const { each, emitWatched } = require('./emission')
const { REJECTED, WatchedSocket, unwatch } = require('./watched-socket')

/**
 * @import { Connection } from './engine-connections'
 * @import { Emitter } from './emission'
 * @import { SocketMessage } from './socket-message'
 */

/**
 * Another copy of this package may watch the same socket. The number in this symbol is raised when
 * WatchedSocket or Watcher changes.
 */
const kWatched = Symbol.for('spillway.socket.1')
/** `dispatch` is replaced only if its source contains all of these. */
const KNOWN = ['run(', 'nextTick', '_onerror', 'connected', 'emitUntyped']

/**
 * The members of a socket that are used. `kWatched` exists once the socket is watched.
 *
 * @typedef {(...given: unknown[]) => unknown} Acknowledge
 * @typedef {Emitter & { ack(id: number): Acknowledge, conn: Connection, connected: boolean,
 *   dispatch: unknown, emit(event: string, ...args: unknown[]): unknown,
 *   listenerCount(event: string): number, onevent: unknown, run(event: unknown[],
 *   next: (error?: unknown) => void): void, _onerror(error: unknown): void, [kWatched]: IoSocket }} Socket
 * @typedef {{ id?: number | null, data?: unknown[] }} Packet
 * @typedef {SocketMessage | typeof REJECTED | undefined} Received the record of the message, linked to the
 *   records of the other instances; REJECTED: the message was rejected and answered
 */

/**
 * @typedef {object} Watcher
 * @property {(socket: Socket, packet: Packet, next: SocketMessage | undefined) => Received} receive
 */

/**
 * The message whose packet is being received. All code up to `dispatch` is synchronous, so one variable is
 * enough.
 *
 * @type {SocketMessage | undefined}
 */
let current

/** @extends {WatchedSocket<Watcher>} */
class IoSocket extends WatchedSocket {
  /** @param {Socket} socket */
  constructor(socket) {
    super()
    const methods = [
      new ReplacedMethod(socket, 'onevent', (method) => onEvent(this, method)),
      new ReplacedMethod(socket, 'ack', makeAck),
      new ReplacedMethod(socket, 'dispatch', onDispatch),
    ]
    this.restores = methods.map((method) => () => method.restore())
  }

  /**
   * @param {Socket} socket
   * @param {Packet} packet
   * @returns {Received} undefined if no instance watches any more
   */
  receive(socket, packet) {
    /** @type {Received} */
    let message
    for (const watcher of this.watchers) {
      message = watcher.receive(socket, packet, /** @type {SocketMessage | undefined} */ (message))
      if (message === REJECTED) return REJECTED
    }
    return message
  }
}

/** @param {IoSocket} watched @param {ReplacedMethod} method */
function onEvent(watched, method) {
  /** @this {Socket} @param {Packet} packet */
  return function (packet) {
    const message = watched.receive(this, packet)
    if (message === REJECTED) return undefined
    const before = current
    current = message
    try {
      return method.inner.call(this, packet)
    } finally {
      current = before
    }
  }
}

/** @param {ReplacedMethod} method */
function makeAck(method) {
  /** @this {Socket} @param {number} id */
  return function (id) {
    const original = method.inner.call(this, id)
    const message = current
    if (message === undefined) return original
    /** @this {unknown} @param {...unknown} given */
    return function (...given) {
      each(message, (one) => one.onAck())
      return original.apply(this, given)
    }
  }
}

/** @param {ReplacedMethod} method */
function onDispatch(method) {
  /** @this {Socket} @param {[event: string, ...args: unknown[]]} args */
  return function (args) {
    const message = current
    if (message === undefined) return method.inner.call(this, args)
    this.run(args, (error) => {
      process.nextTick(() => {
        if (error) {
          each(message, (one) => one.onBlocked())
          return this._onerror(error)
        }
        if (this.connected) emitWatched(this, args[0], args.slice(1), message)
      })
    })
  }
}

/** @param {Socket} socket */
const isKnown = (socket) => {
  const { dispatch, onevent, ack, run, _onerror } = socket
  if (
    ![dispatch, onevent, ack, run, _onerror, socket.rawListeners].every((each) => typeof each === 'function')
  )
    return false
  const text = Function.prototype.toString.call(dispatch)
  return KNOWN.every((part) => text.includes(part))
}

/**
 * @param {Socket} socket
 * @param {Watcher} watcher
 * @returns {boolean} false if this kind of socket cannot be watched
 */
function watchIoSocket(socket, watcher) {
  if (socket[kWatched] === undefined) {
    if (!isKnown(socket)) return false
    Object.defineProperty(socket, kWatched, { value: new IoSocket(socket), configurable: true })
  }
  socket[kWatched].watchers.add(watcher)
  return true
}

/** @param {Socket} socket @param {Watcher} watcher */
const unwatchIoSocket = (socket, watcher) => unwatch(socket, kWatched, watcher)

module.exports = { unwatchIoSocket, watchIoSocket }
