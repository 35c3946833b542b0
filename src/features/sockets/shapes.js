'use strict'
// Recognizes the argument of `sockets()` by its shape: the application may use any copy of socket.io and ws,
// and Spillway depends on neither.

const { SpillwayError } = require('../../core/errors/errors')

/**
 * The argument of `sockets()`: the members that are read
 *
 * @typedef {'adapter' | 'bind' | 'clients' | 'handleUpgrade' | 'listen' | 'nsp' | 'of' | 'on' |
 *   'onconnection' | 'options'
 *   | 'opts' | 'ping' | 'server' | 'shouldHandle' | 'terminate' | 'verify' | '_nsps'} Member
 * @typedef {Partial<Record<Member, unknown>> | null | undefined} Given
 */

/** @param {unknown} value @returns {value is (...given: unknown[]) => unknown} */
const isFunction = (value) => typeof value === 'function'

/** A server of Socket.IO, from version 3 on: version 2 has no `_nsps`. @param {Given} given */
const isSocketIo = (given) =>
  isFunction(given?.of) &&
  isFunction(given.bind) &&
  isFunction(given.onconnection) &&
  given._nsps instanceof Map

/** A `WebSocketServer` of ws. @param {Given} given */
const isWebSocketServer = (given) =>
  isFunction(given?.handleUpgrade) &&
  isFunction(given.shouldHandle) &&
  isFunction(given.on) &&
  Object(given.options) === given.options

/** An Engine.IO server, as `io.engine` is. @param {Given} given */
const isEngine = (given) =>
  isFunction(given?.verify) &&
  isFunction(given.on) &&
  Object(given.clients) === given.clients &&
  Object(given.opts) === given.opts

const WHAT = 'a server of Socket.IO 4 (`new Server()` of socket.io) or a `WebSocketServer` of ws'

/** @param {Given} given @returns {SpillwayError} */
function notSockets(given) {
  return new SpillwayError(
    'ERR_SPILLWAY_NOT_SOCKETS',
    `\`sockets()\` takes ${WHAT}: got ${describe(given)}.${hintFor(given)}`
  )
}

function takenSockets() {
  return new SpillwayError(
    'ERR_SPILLWAY_SOCKETS_TAKEN',
    '`sockets()` watches this server already, and would count everything twice. Close the handle first.'
  )
}

/** @param {Given} given */
function describe(given) {
  if (given === null || given === undefined) return String(given)
  if (typeof given !== 'object') return `a ${typeof given}`
  return `an object of class ${given.constructor?.name ?? '(none)'}`
}

/** @param {Given} given */
function hintFor(given) {
  if (isEngine(given)) return ' Give it the server that has this engine: `io`.'
  if (given?._nsps !== undefined || isFunction(given?.nsp))
    return ' Give it `io`, and not a socket or a namespace.'
  if (given?.server !== undefined && given?.adapter !== undefined)
    return ' Give it `io`: Spillway then watches all namespaces.'
  if (isFunction(given?.listen)) return ' Give an HTTP server to `attach()`.'
  if (isFunction(given?.ping) && isFunction(given.terminate))
    return ' Give it the server, and not one of its connections.'
  return ''
}

module.exports = { isSocketIo, isWebSocketServer, notSockets, takenSockets }
