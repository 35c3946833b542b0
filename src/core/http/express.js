'use strict'
// The middleware of Express 4 and 5, Connect, and Restify through `server.pre`. The middleware measures,
// decides and answers the endpoints, for each request that has not been decided yet. On Node 20 Express gives
// every req and res its own hidden class. Each new property then costs 2.5 µs. So the first request adds a
// listener to the server, which opens the records of later requests before Express gets them: early-entry.js.

const { RUN } = require('../gate/decision')
const { HANDLED, PASSED_ON } = require('./entrance')
const { ROOT } = require('../route/route-node')
const { isInAppRouter, instrumentApp } = require('../route/instrument-router')
const { expressInKoa, noNext, refuseUse } = require('./wrong-framework')

/**
 * @import { ExpressMiddleware } from '../../../index.js'
 * @import { Clock } from '../clock'
 * @import { AsyncContext } from '../request/async-context'
 * @import { Admission } from '../gate/admission'
 * @import { Recorder } from '../request/recorder'
 * @import { FrameworkNext, RequestRecord } from '../request/request-record'
 * @import { Next } from './app-kinds'
 * @import { AppRequest, ExpressRequest } from './early-entry'
 * @import { NodeResponse, Entrance } from './entrance'
 * @import { SetUpCheck } from './setup-check'
 *
 * @typedef {{ clock: Clock, recorder: Recorder, entrance: Entrance, admission: Admission,
 *   context: AsyncContext, setUp: SetUpCheck }} MiddlewareDeps
 */

/** @param {MiddlewareDeps} deps @returns {ExpressMiddleware} */
function createExpressMiddleware({ clock, recorder, entrance, admission, context, setUp }) {
  let isInstrumented = false
  let isChecked = false
  let isNested = false
  // Hot path, once a request (bench/overhead).
  /** @param {ExpressRequest} req @param {NodeResponse} res @param {Next} next */
  function spillway(req, res, next) {
    if (typeof next !== 'function') throw typeof res === 'function' ? expressInKoa() : noNext()
    const known = recorder.find(res)
    const isMeasured = known?.isCounted === true
    if (known === undefined) entrance.enterEarly(req.socket?.server, req, spillway)
    const request = isMeasured ? known : entrance.enter(req, res, known)
    if (request === HANDLED) return
    if (request === PASSED_ON) return next()
    if (!isInstrumented && req.app !== undefined) {
      isInstrumented = instrumentApp(req.app)
      isNested = req.baseUrl !== '' && !isInAppRouter(req.app, spillway)
    }
    if (!isChecked && req.app !== undefined)
      isChecked = setUp.checkExpress(/** @type {AppRequest} */ (req), isMeasured)
    if (isInstrumented) {
      const { first } = request
      // The middleware is in a router or sub-app, and Spillway had no record of the request before. So
      // nothing has recorded the outer mounts. The request gets no route, because half a route would be
      // worse.
      if (known === undefined && isNested && first === request) first.isSettled = true
      else first.node ??= ROOT
    }
    const nextInContext = context.isOn ? context.bind(request, next) : next
    const { ticket } = request
    if (!ticket.isDecided) {
      ticket.frameworkNext = nextInContext
      ticket.runQueued = runQueued
      if (admission.decide(request, clock.now()) !== RUN) return
      nextInContext()
      return recorder.timeParts.onReturn(request)
    }
    nextInContext()
  }
  entrance.addMiddleware(spillway)
  return /** @type {ExpressMiddleware} */ (refuseUse(spillway, { inKoa: expressInKoa }))
}

/** @this {RequestRecord} */
function runQueued() {
  return /** @type {FrameworkNext} */ (this.ticket.frameworkNext)()
}

module.exports = { createExpressMiddleware }
