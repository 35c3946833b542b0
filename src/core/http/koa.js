'use strict'
// The middleware of Koa 2 and 3. A request is measured until its response ends, not until `next()` returns.
// At that time a stream may still be sent, and an error has no status yet.

const { QUEUED, RUN } = require('../gate/verdict')
const { watchMounts } = require('../route/koa')
const { routeStateOf } = require('../route/route-state')
const { catchErrors } = require('./error-handlers')
const { PASSED, TAKEN } = require('./entrance')
const { endWithout, keepError, untilAdmitted } = require('./koa-wait')
const { koaInExpress, refuseUse } = require('./wrong-framework')

/**
 * @import Koa from 'koa'
 * @import { KoaMiddleware } from '../../../index.js'
 * @import { Wait } from '../gate/queue'
 * @import { MiddlewareParts } from './express'
 *
 * @typedef {() => Promise<unknown>} KoaNext
 */

/** @param {MiddlewareParts & Parameters<typeof catchErrors>[1]} parts @returns {KoaMiddleware} */
function createKoaMiddleware(parts) {
  const { clock, recorder, entrance, admission, context, setUp } = parts
  /** @type {Koa | undefined} */
  let seenApp
  // Hot path: bench/overhead.
  /** @param {Koa.Context} ctx @param {KoaNext} next */
  function spillway(ctx, next) {
    if (typeof next !== 'function' || ctx.req === undefined) throw koaInExpress()
    const { req, res, app } = ctx
    const known = recorder.find(res)
    if (app !== seenApp && !entrance.isClosed) {
      seenApp = app
      watchMounts(/** @type {Koa & { context: Koa.Context }} */ (app), routeStateOf)
      catchErrors(app, parts)
      // The check comes before the endpoints, because a middleware after the routes may only ever receive
      // scrapes.
      setUp.checkKoa(app, known?.isCounted === true)
    }
    const request = entrance.enter(req, res, known)
    if (request === PASSED) return next()
    if (request === TAKEN) {
      ctx.respond = false
      return
    }
    request.head.ctx = ctx
    const goOn = context.isOn ? context.bind(request, next) : next
    if (request.ticket.isDecided) return goOn()
    request.ticket.proceed = keepError
    const decision = admission.decide(request, clock.now())
    if (decision === RUN) {
      const done = goOn()
      recorder.parts.onReturn(request)
      return done
    }
    const { ticket } = request
    if (decision === QUEUED)
      return untilAdmitted(ctx, goOn, ticket, ticket, /** @type {Wait} */ (ticket.wait))
    endWithout(ctx, ticket)
  }
  entrance.addMiddleware(spillway)
  return /** @type {KoaMiddleware} */ (refuseUse(spillway, { inExpress: koaInExpress }))
}

module.exports = { createKoaMiddleware }
