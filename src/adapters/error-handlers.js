'use strict'
// Where the frameworks leave their errors. Express: the last middleware, of four arguments. Koa: `ctx.onerror`, through which
// it answers whatever no middleware has caught, stream errors too; a `try` around `next()` would cost every request a
// promise, and take errors from those who catch them further out.

const { format } = require('node:util')
const { isNativeError } = require('node:util/types')
const { isOver } = require('../failures/error-answer')
const { isInjected } = require('../requests/injected-response')
const { errorsInKoa, errorsOnNoResponse, refuseUse } = require('./wrong-framework')

function createErrorHandler({ failures, options }) {
  const { answer } = options.errors
  function spillwayErrors(error, req, res, next) {
    if (answer && res !== undefined && typeof res?.getHeaderNames !== 'function') throw errorsOnNoResponse()
    if (typeof next !== 'function') throw errorsInKoa()
    const failure = failures.record(error, req, res, res.statusCode)
    if (answer) failures.answer(req, res, failure)
    else next(error)
  }
  return refuseUse(spillwayErrors, { inKoa: errorsInKoa })
}

/**
 * By context of an app, those that catch its errors: where two apps have one middleware of ours, each turn they take would put
 * one more before `ctx.onerror`. After some ten thousand an error found no stack left: no answer, and a process that ended.
 */
const catching = new WeakMap()

/** Puts itself before the app's `ctx.onerror`, for every request that is measured. */
function catchErrors(app, { failures, options, recorder, servers, faults }) {
  const { context } = app
  const instances = catching.get(context) ?? new WeakSet()
  if (instances.has(failures)) return
  catching.set(context, instances.add(failures))
  const { onerror } = context
  // Somebody's own answer, such as koa-onerror's, or that of another instance, goes on being given.
  const answer = options.errors.answer && !Object.hasOwn(context, 'onerror')
  /** @this {any} */
  context.onerror = function spillwayErrors(error) {
    const { req, res } = this
    // Koa calls this when an answer has ended, too. Without an end it is somebody who threw nothing: Koa would never answer.
    const isNothing = error === null || error === undefined
    if (isNothing && (isOver(res) || isEndOfHead(req, res) || isEndOfInjected(req, res))) return
    if (servers.isClosed || recorder.find(res) === undefined) return onerror.call(this, error)
    const failure = failures.record(error, req, res)
    if (!answer) return onerror.call(this, isNothing ? errorFor(error) : error)
    const hasBegun = res.headersSent || isOver(res)
    faults.guard("a listener of the app's error event", () => emitError(this, error, hasBegun))
    failures.answer(req, res, failure)
  }
}

const headsEnded = new WeakSet()

/**
 * An HTTP/2 stream of HEAD has nothing to write from the start. So Koa is told at once that its answer has ended, and for an
 * error that nobody threw each one whose handler awaits got 500. Once: what comes besides was thrown.
 */
function isEndOfHead({ method }, { stream }) {
  if (method !== 'HEAD' || stream === undefined || headsEnded.has(stream)) return false
  headsEnded.add(stream)
  return true
}

/** A serverless adapter, whose socket is none, tells of the end within `end()`: the answer is not over yet. */
const isEndOfInjected = ({ socket }, { stream, headersSent }) =>
  stream === undefined && headersSent && isInjected(socket)

/** As Koa does it, whose own log of errors is a listener of this. */
function emitError(ctx, error, hasBegun) {
  const told = /** @type {any} */ (isError(error) ? error : errorFor(error))
  if (hasBegun && Object.isExtensible(told)) told.headerSent = true
  ctx.app.emit('error', told, ctx)
}

const isError = (error) => isNativeError(error) || error instanceof Error
const errorFor = (thrown) => new Error(format('non-error thrown: %j', thrown))

module.exports = { catchErrors, createErrorHandler }
