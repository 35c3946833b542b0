'use strict'
// Makes Express 4 pass the rejection of an async handler to `next`, as Express 5 does. Otherwise the request
// gets no answer, and the process ends with an unhandled rejection. The methods of the layer class are
// replaced. So this also works for routers made before, and with tools that wrap a handle. Only promises
// count, because `then` of a query builder would run its query again.

const { isPromise } = require('node:util/types')
const { kCatchesAsync } = require('../route/express-4')
const { notExpress } = require('./wrong-framework')

/**
 * @import { Next } from './app-kinds'
 *
 * @typedef {{ call(...given: unknown[]): unknown }['call']} Callback
 * @typedef {Callback[] & { [kCaught]?: number }} Callbacks of one parameter
 * @typedef {{ call(this: Layer, ...given: unknown[]): void }['call']} Method
 * @typedef {{ handle: Callback, handle_request: Method, handle_error: Method, [kCatchesAsync]?: boolean }}
 *   Layer
 * @typedef {(this: { params: Record<string, Callbacks> }, ...given: unknown[]) => unknown} ProcessParams
 * @typedef {(() => { use: (handle: Callback) => { stack: Layer[] } }) & { process_params: ProcessParams }}
 *   RouterFactory
 */

/** The message for a rejection without an error, as in Express 5. */
const REJECTED = 'Rejected promise'

/**
 * @template Express
 * @param {Express} express
 * @returns {Express} the argument; Express 5 is left unchanged
 */
function catchAsync(express) {
  const Router = /** @type {{ Router?: RouterFactory } | null | undefined} */ (express)?.Router
  if (typeof Router !== 'function') throw notExpress(express)
  const [layer] = Router().use(() => {}).stack
  const prototype = Object.getPrototypeOf(layer)
  if (typeof prototype.handle_request === 'function') patch(prototype, Router)
  return express
}

/** @param {Layer} layers @param {RouterFactory} routers */
function patch(layers, routers) {
  if (layers[kCatchesAsync] === true) return
  layers[kCatchesAsync] = true
  layers.handle_request = handleRequest
  layers.handle_error = handleError
  const processParams = routers.process_params
  /** @type {ProcessParams} */
  routers.process_params = function process_params(layer, called, req, res, done) {
    for (const name in this.params) catchParams(this.params[name])
    return processParams.call(this, layer, called, req, res, done)
  }
}

/** @this {Layer} @param {unknown} req @param {unknown} res @param {Next} next */
function handleRequest(req, res, next) {
  const { handle } = this
  // An error handler.
  if (handle.length > 3) return next()
  try {
    passOn(this, handle(req, res, next), next)
  } catch (error) {
    next(error)
  }
}

/** @this {Layer} @param {unknown} error @param {unknown} req @param {unknown} res @param {Next} next */
function handleError(error, req, res, next) {
  const { handle } = this
  if (handle.length !== 4) return next(error)
  try {
    passOn(this, handle(error, req, res, next), next)
  } catch (thrown) {
    next(thrown)
  }
}

const kCaught = Symbol('spillway.caught')

/**
 * Wraps the callbacks of a parameter, including callbacks added since the last call.
 *
 * @param {Callbacks} callbacks
 */
function catchParams(callbacks) {
  if (callbacks[kCaught] === callbacks.length) return
  for (let i = callbacks[kCaught] ?? 0; i < callbacks.length; i++) {
    const callback = callbacks[i]
    /** @this {unknown} @param {unknown} _req @param {unknown} _res @param {Next} next */
    callbacks[i] = function (_req, _res, next) {
      passOn(callbacks, callback.apply(this, /** @type {IArguments & unknown[]} */ (arguments)), next)
    }
  }
  callbacks[kCaught] = callbacks.length
}

/** @param {object} owner @param {unknown} result @param {Next} next */
function passOn(owner, result, next) {
  if (!isAnyPromise(result)) return
  result.then(undefined, (error) => {
    // express-async-errors puts `handle` behind an accessor, and has passed the rejection on already.
    if ('handle' in owner && !Object.hasOwn(owner, 'handle')) return
    next(error || new Error(REJECTED))
  })
}

/**
 * Whether the result is a promise. Promises of Bluebird and Q count. Their work has begun, unlike that of a
 * query builder.
 *
 * @param {unknown} result
 * @returns {result is Promise<unknown>}
 */
const isAnyPromise = (result) =>
  isPromise(result) ||
  typeof (/** @type {{ isRejected?: unknown } | null | undefined} */ (result)?.isRejected) === 'function'

module.exports = { catchAsync }
