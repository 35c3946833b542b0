'use strict'
// Express 4 knows nothing of promises: a handler that rejects leaves its request without an answer, and ends the process
// where nobody listens for that. Here its layers do what those of Express 5 do: a rejection goes to `next`. The methods of
// the class of layers are replaced, so that it holds for routers made before, and whoever wraps a handle still does.
// Only a promise is waited for: asking a query builder, which is thenable too, would run its query once more.

const { isPromise } = require('node:util/types')
const { kCatchesAsync } = require('../routing/express-4')
const { notExpress } = require('./wrong-framework')

/** As in Express 5. */
const REJECTED = 'Rejected promise'

/**
 * @template Express
 * @param {Express} express
 * @returns {Express} the same; an Express 5 is left as it is
 */
function catchAsync(express) {
  const Router = /** @type {any} */ (express)?.Router
  if (typeof Router !== 'function') throw notExpress(express)
  const [layer] = Router().use(() => {}).stack
  const prototype = Object.getPrototypeOf(layer)
  if (typeof prototype.handle_request === 'function') patch(prototype, Router)
  return express
}

function patch(layers, routers) {
  if (layers[kCatchesAsync] === true) return
  layers[kCatchesAsync] = true
  layers.handle_request = handleRequest
  layers.handle_error = handleError
  const processParams = routers.process_params
  routers.process_params = function process_params(layer, called, req, res, done) {
    for (const name in this.params) catchParams(this.params[name])
    return processParams.call(this, layer, called, req, res, done)
  }
}

/** @this {any} */
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

/** @this {any} */
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

/** The callbacks of one parameter, those added since too. */
function catchParams(callbacks) {
  if (callbacks[kCaught] === callbacks.length) return
  for (let i = callbacks[kCaught] ?? 0; i < callbacks.length; i++) {
    const callback = callbacks[i]
    /** @this {any} */
    callbacks[i] = function (_req, _res, next) {
      passOn(callbacks, callback.apply(this, arguments), next)
    }
  }
  callbacks[kCaught] = callbacks.length
}

function passOn(owner, result, next) {
  if (!isAPromise(result)) return
  result.then(undefined, (error) => {
    // express-async-errors keeps the handle behind an accessor, and has passed this on already.
    if ('handle' in owner && !Object.hasOwn(owner, 'handle')) return
    next(error || new Error(REJECTED))
  })
}

/** Promises of Bluebird and Q count too: unlike a query builder's, their work has begun. */
const isAPromise = (result) => isPromise(result) || typeof result?.isRejected === 'function'

module.exports = { catchAsync }
