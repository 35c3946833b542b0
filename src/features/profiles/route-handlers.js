'use strict'
// Finds the route handlers in a call tree: the functions that a router calls to handle a route. Only the
// synchronous part of a handler is found, because after an `await` a function has no caller.

const { NODE, OWN } = require('./call-frames')

/** @import { Frame } from './call-frames' */

/**
 * `callers`: the file that calls a handler. `route`: a file further up in the stack only if the handler
 * belongs to a route.
 */
const ROUTERS = [
  { callers: /[/\\](?:router[/\\]lib|express[/\\]lib[/\\]router)[/\\]layer\.js$/, route: /[/\\]route\.js$/ },
  { callers: /[/\\]koa-compose[/\\]/, route: /[/\\](?:@koa[/\\]router|koa-router)[/\\]/ },
  { callers: /[/\\]restify[/\\]lib[/\\]chain\.js$/, route: /[/\\]restify[/\\]lib[/\\]/ },
  { callers: /[/\\]fastify[/\\]lib[/\\]handle-?request\.js$/i, route: /[/\\]fastify[/\\]/ },
  { callers: /[/\\]@nestjs[/\\]core[/\\]router[/\\]/, route: /[/\\]@nestjs[/\\]core[/\\]router[/\\]/ },
]
const HTTP_SERVER = /^node:_http_server$/

/**
 * @param {Frame} frame
 * @param {Frame[]} callers the outermost first
 */
function isRouteHandler(frame, callers) {
  if (frame.package !== null) return false
  const caller = callers.findLastIndex((each) => !isPassedOver(each))
  if (caller === -1) return false
  const { path } = callers[caller]
  if (HTTP_SERVER.test(path)) return true
  const router = ROUTERS.find((each) => each.callers.test(path))
  if (router === undefined) return false
  const outer = callers.slice(0, caller)
  /** @param {Frame} each */
  const isOfRouter = (each) => isPassedOver(each) || router.callers.test(each.path)
  const above = outer.findLast((each) => !isOfRouter(each))
  if (above === undefined) return false
  if (router.route.test(above.path)) return true
  if (above.package !== null) return false
  // A function of the application is above: it may be middleware of the same route that called `next()`.
  const aboveMiddleware = outer.findLast((each) => each.package !== null && !isOfRouter(each))
  return aboveMiddleware !== undefined && router.route.test(aboveMiddleware.path)
}

/**
 * Whether the frame is passed over: wrappers of ours, and functions of Node such as its event emitter.
 *
 * @param {Frame} frame
 */
const isPassedOver = (frame) =>
  frame.package === OWN || (frame.package === NODE && !HTTP_SERVER.test(frame.path))

module.exports = { isRouteHandler }
