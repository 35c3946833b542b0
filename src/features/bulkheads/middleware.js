'use strict'
// The middleware of one limit: the same function for Express, Connect and Restify, which call it with three
// arguments, and for Koa.

const { QUEUED, RUN } = require('../../core/gate/decision')
const { HANDLED, PASSED_ON } = require('../../core/http/entrance')
const { endWithout, keepError, untilAdmitted } = require('../../core/http/koa-wait')
const { limitOfNoResponse, limitWithoutNext } = require('../../core/http/wrong-framework')
const { Slot } = require('./slot')

/**
 * @import { Context } from 'koa'
 * @import { LimitMiddleware } from '../../../index.js'
 * @import { Next } from '../../core/http/app-kinds'
 * @import { Entrance, NodeRequest, NodeResponse } from '../../core/http/entrance'
 * @import { KoaNext } from '../../core/http/koa'
 * @import { Recorder } from '../../core/request/recorder'
 * @import { Bulkhead } from './bulkhead'
 */

/** @param {Bulkhead} bulkhead @param {{ entrance: Entrance, recorder: Recorder }} deps */
function middlewareOf(bulkhead, { entrance, recorder }) {
  /** @param {NodeRequest} req @param {NodeResponse} res */
  function enter(req, res) {
    const known = recorder.find(res)
    if (known === undefined && typeof res?.on !== 'function') throw limitOfNoResponse(bulkhead.name)
    return entrance.enter(req, res, known)
  }

  /** @param {NodeRequest} req @param {NodeResponse} res @param {Next} next */
  function inExpress(req, res, next) {
    const request = enter(req, res)
    if (request === HANDLED) return
    if (request === PASSED_ON || bulkhead.takeSlot(new Slot(bulkhead, request, next, next)) === RUN) next()
  }

  /** @param {Context} ctx @param {KoaNext} next */
  function inKoa(ctx, next) {
    const request = enter(ctx.req, ctx.res)
    if (request === PASSED_ON) return next()
    if (request === HANDLED) {
      ctx.respond = false
      return
    }
    const slot = new Slot(bulkhead, request, next, keepError, ctx)
    const decision = bulkhead.takeSlot(slot)
    if (decision === RUN) return next()
    if (decision === QUEUED) return untilAdmitted(ctx, next, request.ticket, slot, slot)
    endWithout(ctx, request.ticket)
  }

  /** @param {unknown} first @param {unknown} second @param {unknown} third */
  function limit(first, second, third) {
    if (typeof third === 'function')
      return inExpress(
        /** @type {NodeRequest} */ (first),
        /** @type {NodeResponse} */ (second),
        /** @type {Next} */ (third)
      )
    if (typeof second === 'function' && /** @type {Context | undefined} */ (first)?.req !== undefined)
      return inKoa(/** @type {Context} */ (first), /** @type {KoaNext} */ (second))
    throw limitWithoutNext(bulkhead.name)
  }
  return /** @type {LimitMiddleware} */ (limit)
}

module.exports = { middlewareOf }
