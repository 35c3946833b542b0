'use strict'
// The middleware of Koa 2 and 3. A request is measured until its response ends, not until `next()` returns.
// At that time a stream may still be sent, and an error has no status yet.

const { QUEUED, RUN } = require('../gate/decision')
const { watchMounts } = require('../route/koa')
const { routeStateOf } = require('../route/route-state')
const { catchErrors } = require('./error-handlers')
const { HANDLED, PASSED_ON } = require('./entrance')
const { endWithout, keepError, untilAdmitted } = require('./koa-wait')
const { koaInExpress, refuseUse } = require('./wrong-framework')

/**
 * @import Koa from 'koa'
 * @import { KoaMiddleware } from '../../../index.js'
 * @import { QueueEntry } from '../gate/queue'
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
    const { ticket } = request
    if (decision === QUEUED)
      return untilAdmitted(ctx, nextInContext, ticket, ticket, /** @type {QueueEntry} */ (ticket.queueEntry))
    endWithout(ctx, ticket)
  }
  entrance.addMiddleware(spillway)
  return /** @type {KoaMiddleware} */ (refuseUse(spillway, { inExpress: koaInExpress }))
}

module.exports = { createKoaMiddleware }
