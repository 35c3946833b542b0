'use strict'
// The errors for a middleware that is given to the wrong framework: a sentence for each mistake, with what to
// write instead.

const { SpillwayError } = require('../errors/errors')

/** @import { AnyFunction } from './app-kinds' */

/** @param {string} message */
const misuse = (message) => new SpillwayError('ERR_SPILLWAY_MISUSE', message)

/**
 * Throws for two mistakes: options passed to the factory, and the factory itself passed to `app.use`. The
 * framework then calls it with a request and `next`.
 *
 * @param {'express' | 'koa' | 'errorHandler'} name
 * @param {IArguments} given
 */
function requireNoArguments(name, given) {
  if (given.length === 0) return
  const isCalledWithNext = given.length > 1 && typeof given[given.length - 1] === 'function'
  throw isCalledWithNext
    ? uncalled(name, ` It takes no arguments: got ${given.length}.`)
    : withArguments(name, given[0])
}

/**
 * Throws for `app.get(path, spillway.limit, handler)`, which a framework calls with a request, and for
 * `limit('report', 5)`.
 * @param {IArguments} given
 */
function requireLimitCall(given) {
  const [name, most] = given
  if (typeof name === 'string') {
    const shown = /^[\w.:/-]+$/.test(name) ? name : 'report'
    const maxConcurrent = typeof most === 'number' ? most : 5
    throw misuse(
      `spillway.limit() takes one object: limit({ name: '${shown}', maxConcurrent: ${maxConcurrent} }).`
    )
  }
  if (given.length > 1 && typeof given[given.length - 1] === 'function') throw uncalledLimit()
}

const uncalledLimit = () =>
  misuse(
    "spillway.limit was used as the middleware itself. Call it: app.get(path, spillway.limit({ name: 'report', maxConcurrent: 5 }), handler)."
  )

/** @param {string} limit the name of the limit */
const limitWithoutNext = (limit) =>
  misuse(
    `The middleware of limit '${limit}' was called without \`next\`. Give it to a route: app.get(path, limit, handler). ` +
      'In a plain listener write limit(req, res, () => handler(req, res)).'
  )

/** @param {string} limit the name of the limit */
const limitOfNoResponse = (limit) =>
  misuse(
    `The middleware of limit '${limit}' was given an object that is not a response of Node. ` +
      'In Fastify pass `request.raw`, `reply.raw` and a `next`.'
  )

/** @param {string} name @param {unknown} given */
const withArguments = (name, given) =>
  misuse(
    `spillway.${name}() takes no arguments: got ${given === null ? 'null' : typeof given}. ` +
      (name === 'errorHandler'
        ? 'Its options are `errors` of createSpillway().'
        : 'Options belong in createSpillway().')
  )

/** @param {string} name @param {string} [more] */
const uncalled = (name, more = '') =>
  misuse(`spillway.${name} was used as the middleware itself. Call it: app.use(spillway.${name}()).${more}`)

const koaInExpress = () =>
  misuse('spillway.koa() was given to Express, Connect or Restify. Use app.use(spillway.express()).')

const expressInKoa = () => misuse('spillway.express() was given to Koa. Use app.use(spillway.koa()).')

const errorsInKoa = () =>
  misuse(
    'spillway.errorHandler() was given to Koa. There koa() handles errors as well: remove app.use(spillway.errorHandler()).'
  )

const errorsOnNoResponse = () =>
  misuse(
    'spillway.errorHandler() was given an object that is not a response of Node. In Fastify, also in a filter of Nest, ' +
      'pass `request.raw`, `reply.raw` and a `next`. If you have none, as in a resolver of GraphQL, pass undefined in place of the response.'
  )

/** @param {unknown} given */
const notExpress = (given) =>
  misuse(
    `spillway.catchAsync() takes the result of require('express'): got ${given === null ? 'null' : typeof given}. ` +
      'Write spillway.catchAsync(express), with the module itself and not an app.'
  )

/** @param {unknown} given */
const notAListener = (given) =>
  misuse(
    `spillway.wrap() takes a request listener: got ${given === null ? 'null' : typeof given}. ` +
      'Write http.createServer(spillway.wrap(app)), for Koa spillway.wrap(app.callback()).'
  )

const noNext = () =>
  misuse(
    'spillway.express() was called without `next`. Around a plain http listener write ' +
      'http.createServer(spillway.wrap(listener)), or pass a `next` that calls your listener.'
  )

/** @type {WeakSet<object>} */
const factories = new WeakSet()

/** Whether the function is an uncalled factory, such as `spillway.express`. @param {object} given */
const isFactory = (given) => factories.has(given)

/** Matches a stack frame of `use`: `at app.use (...)`, or `at Function.e [as use] (...)`. */
const USE = /(?:\.|\[as )use[ \]]/
/** Matches the stack frame where Express reads `name` of each handler of a route. */
const LAYER = /\bnew Layer /
/**
 * How many frames to search for `use`. In Express, `use` reads the property inside a callback of `forEach`.
 */
const FRAMES = 3

/**
 * Makes a middleware throw in the line that registers it in the wrong framework. Express and Connect read
 * `handle` of the argument of `use`, because an app has `handle`. Koa reads `_name` to print it. Other code
 * may use these properties too: dd-trace sets `_name`.
 *
 * @template {AnyFunction} Given
 * @param {Given} given
 * @param {{ inExpress?: () => Error, inKoa?: () => Error }} errors
 * @returns {Given}
 */
function refuseUse(given, { inExpress, inKoa }) {
  if (inExpress !== undefined) throwInside(given, 'handle', { error: inExpress, frames: FRAMES })
  if (inKoa !== undefined) throwInside(given, '_name', { error: inKoa, frames: 1 })
  return given
}

/**
 * @param {AnyFunction} given
 * @param {string} property
 * @param {{ error: () => Error, frames: number, callee?: RegExp }} thrown
 */
function throwInside(given, property, { error, frames, callee = USE }) {
  /** @type {unknown} */
  const before = Reflect.get(given, property)
  const get = () => {
    const holder = { stack: '' }
    Error.captureStackTrace(holder, get)
    const callers = String(holder.stack)
      .split('\n')
      .slice(1, 1 + frames)
    if (callers.some((frame) => callee.test(frame))) throw error()
    return before
  }
  /** @param {unknown} value */
  const set = (value) => {
    Object.defineProperty(given, property, { value, configurable: true, writable: true })
  }
  Object.defineProperty(given, property, { configurable: true, get, set })
}

/**
 * @template {Record<'express' | 'koa' | 'errorHandler' | 'limit', AnyFunction>} Spillway
 * @param {Spillway} spillway
 * @returns {Spillway}
 */
function refuseUncalled(spillway) {
  const { express, koa, errorHandler, limit } = spillway
  refuseUse(express, { inExpress: () => uncalled('express'), inKoa: expressInKoa })
  refuseUse(koa, { inExpress: koaInExpress, inKoa: () => uncalled('koa') })
  refuseUse(errorHandler, { inExpress: () => uncalled('errorHandler'), inKoa: errorsInKoa })
  refuseUse(limit, { inExpress: uncalledLimit, inKoa: uncalledLimit })
  throwInside(limit, 'name', { error: uncalledLimit, frames: 1, callee: LAYER })
  for (const factory of [express, koa, errorHandler]) factories.add(factory)
  return spillway
}

module.exports = {
  errorsInKoa,
  errorsOnNoResponse,
  expressInKoa,
  isFactory,
  koaInExpress,
  limitOfNoResponse,
  limitWithoutNext,
  noNext,
  notAListener,
  notExpress,
  refuseUncalled,
  refuseUse,
  requireLimitCall,
  requireNoArguments,
}
