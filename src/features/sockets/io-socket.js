'use strict'
// Watches the events that one socket of Socket.IO receives. Three methods of the socket are replaced, on the socket itself:
//   onevent    the packet is received: the message begins, or is rejected by its priority
//   ack        the acknowledgement is made, and handed to the listeners
//   dispatch   the middlewares of `socket.use` run, then the listeners; as in Socket.IO, but each listener is called here
// Where `dispatch` is not the known one, only connections and messages are counted.

const { ReplacedMethod } = require('../../core/replaced-method')
const { each, emitWatched } = require('./emission')
const { REJECTED, WatchedSocket, unwatch } = require('./watched-socket')

/** Another copy of this package may watch the same socket: its number changes with WatchedSocket and Watcher. */
const kWatched = Symbol.for('spillway.socket.1')
/** What Spillway does in the place of `dispatch` is right only for a `dispatch` that does this. */
const KNOWN = ['run(', 'nextTick', '_onerror', 'connected', 'emitUntyped']

/**
 * @typedef {object} Watcher
 * @property {(socket: any, packet: { id?: number, data?: any[] }, next: any) => any} receive a message, or REJECTED: it is answered
 */

/** The message whose packet is being received: everything until `dispatch` runs at once. @type {any} */
let current

/** @extends {WatchedSocket<Watcher>} */
class IoSocket extends WatchedSocket {
  constructor(socket) {
    super()
    const methods = [
      new ReplacedMethod(socket, 'onevent', (method) => onEvent(this, method)),
      new ReplacedMethod(socket, 'ack', makeAck),
      new ReplacedMethod(socket, 'dispatch', onDispatch),
    ]
    this.restores = methods.map((method) => () => method.restore())
  }

  /** @returns {any} the message, with those of the other instances, REJECTED, or undefined if nobody watches any more */
  receive(socket, packet) {
    let message
    for (const watcher of this.watchers) {
      message = watcher.receive(socket, packet, message)
      if (message === REJECTED) return REJECTED
    }
    return message
  }
}

/** @param {IoSocket} watched */
function onEvent(watched, method) {
  /** @this {any} */
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

function makeAck(method) {
  /** @this {any} */
  return function (id) {
    const original = method.inner.call(this, id)
    const message = current
    if (message === undefined) return original
    /** @this {any} */
    return function (...given) {
      each(message, (one) => one.onAck())
      return original.apply(this, given)
    }
  }
}

function onDispatch(method) {
  /** @this {any} */
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

const isKnown = (socket) => {
  const { dispatch, onevent, ack, run, _onerror } = socket
  if (
    ![dispatch, onevent, ack, run, _onerror, socket.rawListeners].every((each) => typeof each === 'function')
  )
    return false
  const text = Function.prototype.toString.call(dispatch)
  return KNOWN.every((part) => text.includes(part))
}

/** @param {any} socket @param {Watcher} watcher @returns {boolean} false if the socket is none that can be watched */
function watchIoSocket(socket, watcher) {
  if (socket[kWatched] === undefined) {
    if (!isKnown(socket)) return false
    Object.defineProperty(socket, kWatched, { value: new IoSocket(socket), configurable: true })
  }
  socket[kWatched].watchers.add(watcher)
  return true
}

/** @param {any} socket @param {Watcher} watcher */
const unwatchIoSocket = (socket, watcher) => unwatch(socket, kWatched, watcher)

module.exports = { unwatchIoSocket, watchIoSocket }
