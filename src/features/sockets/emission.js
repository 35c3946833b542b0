'use strict'
// Calls the listeners of an event as `emit` of Node does, and sees when each has ended. `emit` drops what
// listeners return, and a listener that is wrapped would be another one for `off()`, `listeners()` and other
// packages.
//
// An error is thrown on, and a rejection stays unhandled, as without Spillway. Only the promise of an async
// function is followed: nobody else has it. To follow another promise would either hide its rejection from
// Node, or report one that the application handles itself.

const { EventEmitter } = require('node:events')
const { isProxy } = require('node:util/types')

/** @import { SocketMessage } from './socket-message' */

/**
 * What is used of an emitter. `listener`: what a wrapper calls.
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
 * Node's `once` wraps its listener, which the wrapper has as `listener`. A wrapper of the application may
 * handle the promise, and so may a proxy.
 *
 * @param {Listener} listener
 */
const isAsync = (listener) => {
  const called = listener.name === ONCE_WRAPPER ? listener.listener : listener
  return Object.getPrototypeOf(called) === ASYNC_FUNCTION && !isProxy(called)
}

/**
 * Node's `emit` does more than call the listeners: with no listener of `error`, with `captureRejections`, and
 * in a domain.
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
 * The promise that `then` makes rejects in place of the given one, which now counts as handled.
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
