'use strict'
// Gives a request what Express adds before its first middleware, so that the user's `classify`, `key`, `deadline`, `headers`
// and `ignore` can be called before Express runs. Only where no code of the user precedes spillway's middleware.

const { isFirstInApp, queryOf } = require('../route/instrument-router')

/**
 * @import { AnyFunction, ExpressApp, Next } from './app-kinds'
 * @import { NodeRequest, NodeResponse } from './http-server'
 *
 * @typedef {NodeRequest & { app?: ExpressApp, res?: NodeResponse, originalUrl?: string, baseUrl?: string, params?: object,
 *   next?: Next | undefined }} ExpressRequest
 * @typedef {ExpressRequest & { app: ExpressApp }} AppRequest in a middleware of Express
 */

const noNext = () => {}

/**
 * @param {ExpressApp} app a listener of the server
 * @param {Pick<WeakSet<AnyFunction>, 'has'>} middlewares made by this instance
 * @param {ExpressRequest} req
 * @param {NodeResponse} res
 * @returns {boolean} whether the request is as the user's functions expect it
 */
function becomeExpressRequest(app, middlewares, req, res) {
  // An HTTP/2 request has no prototype of Express.
  if (req.stream !== undefined || !isFirstInApp(app, middlewares)) return false
  if (Object.getPrototypeOf(req) === app.request) return true
  try {
    // All properties that Express adds, before the prototype: on Node 20 a later property costs 2.5 µs.
    req.res = res
    req.originalUrl ??= /** @type {string} */ (req.url)
    req.baseUrl ??= ''
    req.params ??= {}
    req.next ??= undefined
    queryOf(app)?.(req, res, noNext)
    Object.setPrototypeOf(req, app.request)
    return true
  } catch {
    // The user's query parser has thrown. It throws again in Express, where the error has a handler.
    return false
  }
}

module.exports = { becomeExpressRequest }
