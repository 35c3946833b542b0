'use strict'
// Calls the listeners of an event as Node's `emit` does, and notices when each has ended. Node's `emit` drops
// what listeners return. Wrapped listeners would differ from the originals for `off()`, `listeners()` and
// other packages.
//
// An error is rethrown, and a rejection stays unhandled, as without Spillway. Only the promise of an async
// function is followed, because no other code has it. Following another promise would hide its rejection from
// Node, or report a rejection that the application handles itself.

const { EventEmitter } = require('node:events')
const { isProxy } = require('node:util/types')

/** @import { SocketMessage } from './socket-message' */

/**
 * The members of an emitter that are used. `listener`: the function that a wrapper calls
 *
 * @typedef {{ (...args: unknown[]): unknown, listener?: Listener }} Listener
 * @typedef {{ rawListeners(event: string): Listener[], domain?: unknown, [symbol: symbol]: unknown }} Emitter
 */

const ASYNC_FUNCTION = Object.getPrototypeOf(async () => {})
const ONCE_WRAPPER = 'bound onceWrapper'
/** Set on an emitter that turns the rejections of its listeners into errors. */
const kCapture = Object.getOwnPropertySymbols(new EventEmitter()).find(
  ({ description }) => description === 'kCapture'
)

/**
 * Whether a listener is an async function. The wrapper that Node's `once` makes has the function as
 * `listener`. Other wrappers, and proxies, may handle the promise themselves.
 *
 * @param {Listener} listener
 */
const isAsync = (listener) => {
  const called = listener.name === ONCE_WRAPPER ? listener.listener : listener
  return Object.getPrototypeOf(called) === ASYNC_FUNCTION && !isProxy(called)
}

/**
 * Whether Node's `emit` does more than call the listeners. It does if `error` has no listener, with
 * `captureRejections`, or in a domain.
 *
 * @param {Emitter} emitter @param {Listener[]} listeners
 */
const needsEmit = (emitter, listeners) =>
  listeners.length === 0 ||
  (kCapture !== undefined && emitter[kCapture] === true) ||
  (emitter.domain !== undefined && emitter.domain !== null)

/**
 * @param {Emitter} emitter
 * @param {string} event
 * @param {unknown[]} args of the listeners
 * @param {SocketMessage} message
 * @returns {boolean} whether there was a listener
 */
function emitWatched(emitter, event, args, message) {
  return runAll(message, () => {
    const listeners = emitter.rawListeners(event)
    if (needsEmit(emitter, listeners)) return EventEmitter.prototype.emit.call(emitter, event, ...args)
    for (let i = 0; i < listeners.length; i++) {
      const returned = Reflect.apply(listeners[i], emitter, args)
      if (returned instanceof Promise && isAsync(listeners[i])) follow(returned, message)
    }
    return true
  })
}

/** @template T @param {SocketMessage} message @param {() => T} callback @returns {T} */
function runAll(message, callback) {
  const { next } = message
  return message.run(next === undefined ? callback : () => runAll(next, callback))
}

/**
 * Follows a promise, which then counts as handled. If it rejects, the promise from `then` rejects too, and
 * stays unhandled in its place.
 *
 * @param {Promise<unknown>} promise
 * @param {SocketMessage} message
 */
function follow(promise, message) {
  each(message, (one) => one.onFollow())
  promise.then(
    () => each(message, (one) => one.onSettled()),
    (error) => {
      each(message, (one) => {
        one.onError(error)
        one.onSettled()
      })
      throw error
    }
  )
}

/** @param {SocketMessage | undefined} message @param {(one: SocketMessage) => void} callback */
function each(message, callback) {
  for (let one = message; one !== undefined; one = one.next) callback(one)
}

module.exports = { each, emitWatched, runAll }
