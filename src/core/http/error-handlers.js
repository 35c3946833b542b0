'use strict'
// Catches what handlers throw. Express: the last middleware, with four parameters. Koa: `ctx.onerror`, which
// answers what no middleware has caught, including stream errors. A `try` around `next()` would cost a
// promise for each request. It would also catch errors before outer middleware could handle them.

const { format } = require('node:util')
const { isNativeError } = require('node:util/types')
const { isOver } = require('../errors/error-answer')
const { isInjected } = require('../request/response-watch')
const { errorsInKoa, errorsOnNoResponse, refuseUse } = require('./wrong-framework')

/**
 * @import Koa from 'koa'
 * @import { ExpressErrorHandler, ResolvedOptions } from '../../../index.js'
 * @import { Failures } from '../errors/failures'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { Recorder } from '../request/recorder'
 * @import { Next } from './app-kinds'
 * @import { NodeRequest, NodeResponse, Entrance } from './entrance'
 */

/** @param {{ failures: Failures, options: ResolvedOptions }} deps @returns {ExpressErrorHandler} */
function createErrorHandler({ failures, options }) {
  const { answer } = options.errors
  /**
   * @param {unknown} error
   * @param {NodeRequest} req
   * @param {NodeResponse | undefined} res
   * @param {Next} next
   */
  function spillwayErrors(error, req, res, next) {
    if (answer && res !== undefined && typeof res?.getHeaderNames !== 'function') throw errorsOnNoResponse()
    if (typeof next !== 'function') throw errorsInKoa()
    const failure = failures.record(error, req, res, res?.statusCode)
    if (answer && res !== undefined) failures.answer(req, res, failure)
    else next(error)
  }
  return /** @type {ExpressErrorHandler} */ (refuseUse(spillwayErrors, { inKoa: errorsInKoa }))
}

/**
 * The instances that catch the errors of an app, by the app's context. Without this map, apps that share a
 * middleware would add a wrapper to `ctx.onerror` each time requests alternate between them. About ten
 * thousand wrappers would overflow the stack.
 * @type {WeakMap<object, WeakSet<object>>}
 */
const catching = new WeakMap()

/**
 * Wraps the app's `ctx.onerror`, for requests that this instance measures.
 *
 * @param {Koa} app
 * @param {{ failures: Failures, options: ResolvedOptions, recorder: Recorder, entrance: Entrance,
 *   internalErrors: InternalErrors }} deps
 */
function catchErrors(app, { failures, options, recorder, entrance, internalErrors }) {
  const { context } = app
  const instances = catching.get(context) ?? new WeakSet()
  if (instances.has(failures)) return
  catching.set(context, instances.add(failures))
  const { onerror } = /** @type {{ onerror: (error: unknown) => void }} */ (context)
  // An `onerror` of the application, such as koa-onerror's, or of another instance still answers.
  const answer = options.errors.answer && !Object.hasOwn(context, 'onerror')
  /** @this {Koa.Context} @param {unknown} error */
  context.onerror = function spillwayErrors(error) {
    const { req, res } = this
    // Koa also calls this without an error when a response has ended. If the response has not ended, the
    // handler threw `null` or `undefined`, which Koa never answers.
    const isNothing = error === null || error === undefined
    if (isNothing && (isOver(res) || isEndOfHead(req, res) || isEndOfInjected(req, res))) return
    if (entrance.isClosed || recorder.find(res) === undefined) return onerror.call(this, error)
    const failure = failures.record(error, req, res)
    if (!answer) return onerror.call(this, isNothing ? errorFor(error) : error)
    const hasBegun = res.headersSent || isOver(res)
    // A deadline that has passed is not an error of the application.
    if (!failures.isTooLate(failure))
      internalErrors.guard("a listener of the app's error event", () => emitError(this, error, hasBegun))
    // Koa does the same: the cookie of a log-in that failed half-way must not reach the client.
    if (!hasBegun) res.removeHeader('set-cookie')
    failures.answer(req, res, failure)
  }
}

/** @type {WeakSet<object>} */
const headsEnded = new WeakSet()

/**
 * The HTTP/2 stream of a HEAD request has nothing to write, so Koa learns at once that the response has
 * ended. Without this check an async handler would be answered 500. This is true only for the first call of
 * each stream. A second call means that something was thrown.
 *
 * @param {NodeRequest} req
 * @param {NodeResponse} res
 */
function isEndOfHead({ method }, { stream }) {
  if (method !== 'HEAD' || stream === undefined || headsEnded.has(stream)) return false
  headsEnded.add(stream)
  return true
}

/**
 * An injected response reports its end inside `end()`, before the response counts as ended.
 *
 * @param {NodeRequest} req
 * @param {NodeResponse} res
 */
const isEndOfInjected = ({ socket }, { stream, headersSent }) =>
  stream === undefined && headersSent && isInjected(socket)

/**
 * Emits the app's `error` event as Koa does: Koa's own error log is a listener of that event.
 * @param {Koa.Context} ctx @param {unknown} error @param {boolean} hasBegun
 */
function emitError(ctx, error, hasBegun) {
  const emitted = /** @type {Error & { headerSent?: boolean }} */ (isError(error) ? error : errorFor(error))
  if (hasBegun && Object.isExtensible(emitted)) emitted.headerSent = true
  ctx.app.emit('error', emitted, ctx)
}

/** @param {unknown} error */
const isError = (error) => isNativeError(error) || error instanceof Error
/** @param {unknown} thrown */
const errorFor = (thrown) => new Error(format('non-error thrown: %j', thrown))

module.exports = { catchErrors, createErrorHandler }
