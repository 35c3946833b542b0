'use strict'
// The middleware of Koa 2 and 3. A request is measured until its response ends, not until `next()` returns.
// At that time a stream may still be sent, and an error has no status yet.

const { QUEUED, RUN } = require('../gate/verdict')
const { watchMounts } = require('../route/koa')
const { routeStateOf } = require('../route/route-state')
const { catchErrors } = require('./error-handlers')
const { HANDLED, PASSED_ON } = require('./entrance')
const { koaInExpress, refuseUse } = require('./wrong-framework')

/**
 * @import Koa from 'koa'
 * @import { KoaMiddleware } from '../../../index.js'
 * @import { QueueEntry } from '../gate/queue'
 * @import { RequestRecord, Ticket } from '../request/request-record'
 * @import { MiddlewareDeps } from './express'
 *
 * @typedef {() => Promise<unknown>} KoaNext
 */

/** @param {MiddlewareDeps & Parameters<typeof catchErrors>[1]} deps @returns {KoaMiddleware} */
function createKoaMiddleware(deps) {
  const { clock, recorder, entrance, admission, context, setUp } = deps
  /** @type {Koa | undefined} */
  let seenApp
  // Hot path, once a request (bench/overhead).
  /** @param {Koa.Context} ctx @param {KoaNext} next */
  function spillway(ctx, next) {
    if (typeof next !== 'function' || ctx.req === undefined) throw koaInExpress()
    const { req, res, app } = ctx
    const known = recorder.find(res)
    if (app !== seenApp && !entrance.isClosed) {
      seenApp = app
      watchMounts(/** @type {Koa & { context: Koa.Context }} */ (app), routeStateOf)
      catchErrors(app, deps)
      // The check comes before the endpoints, because a middleware after the routes may only ever receive
      // scrapes.
      setUp.checkKoa(app, known?.isCounted === true)
    }
    const request = entrance.enter(req, res, known)
    if (request === PASSED_ON) return next()
    if (request === HANDLED) {
      ctx.respond = false
      return
    }
    request.first.ctx = ctx
    const nextInContext = context.isOn ? context.bind(request, next) : next
    if (request.ticket.isDecided) return nextInContext()
    request.ticket.frameworkNext = keepError
    const decision = admission.decide(request, clock.now())
    if (decision === RUN) {
      const done = nextInContext()
      recorder.timeParts.onReturn(request)
      return done
    }
    if (decision === QUEUED) return untilAdmitted(request, ctx, nextInContext)
    const { rejection } = request.ticket
    if (rejection?.error !== undefined) throw rejection.error
    ctx.respond = false
  }
  entrance.addMiddleware(spillway)
  return /** @type {KoaMiddleware} */ (refuseUse(spillway, { inExpress: koaInExpress }))
}

/**
 * Keeps the error until the decision has returned. The middleware then throws the error.
 *
 * @this {Ticket}
 * @param {unknown} error
 */
function keepError(error) {
  if (this.rejection !== undefined) this.rejection.error = error
}

/**
 * Once the request is dequeued, settles with the rest of the chain. If the request never runs, settles
 * without running the rest.
 *
 * @param {RequestRecord} request
 * @param {Koa.Context} ctx
 * @param {KoaNext} next
 * @returns {Promise<unknown>}
 */
function untilAdmitted(request, ctx, next) {
  return new Promise((resolve, reject) => {
    const { ticket } = request
    ticket.runQueued = () => resolve(next())
    const entry = /** @type {QueueEntry} */ (ticket.queueEntry)
    entry.giveUp = () => {
      if (ticket.rejection?.error !== undefined) return reject(ticket.rejection.error)
      ctx.respond = false
      resolve(undefined)
    }
  })
}

module.exports = { createKoaMiddleware }
