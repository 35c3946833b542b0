'use strict'
// Tells route handlers in a call tree by their callers: the part of a router that runs the handlers of a route. It sees the synchronous part
// of a handler: after an `await`, a function has no caller.

const { NODE, OWN } = require('./call-frames')

/** The file that calls a handler, and the file above it that only a route has. */
const ROUTERS = [
  { callers: /[/\\](?:router[/\\]lib|express[/\\]lib[/\\]router)[/\\]layer\.js$/, route: /[/\\]route\.js$/ },
  { callers: /[/\\]koa-compose[/\\]/, route: /[/\\](?:@koa[/\\]router|koa-router)[/\\]/ },
  { callers: /[/\\]restify[/\\]lib[/\\]chain\.js$/, route: /[/\\]restify[/\\]lib[/\\]/ },
  { callers: /[/\\]fastify[/\\]lib[/\\]handle-?request\.js$/i, route: /[/\\]fastify[/\\]/ },
  { callers: /[/\\]@nestjs[/\\]core[/\\]router[/\\]/, route: /[/\\]@nestjs[/\\]core[/\\]router[/\\]/ },
]
const HTTP_SERVER = /^node:_http_server$/

/**
 * @param {import('./call-frames').Frame} frame
 * @param {import('./call-frames').Frame[]} callers the outermost first
 */
function isRouteHandler(frame, callers) {
  if (frame.package !== null) return false
  let i = callers.length - 1
  while (i >= 0 && isPassedOver(callers[i])) i--
  if (i < 0) return false
  const { path } = callers[i]
  if (HTTP_SERVER.test(path)) return true
  const router = ROUTERS.find((each) => each.callers.test(path))
  if (router === undefined) return false
  while (i >= 0 && (isPassedOver(callers[i]) || router.callers.test(callers[i].path))) i--
  if (i < 0) return false
  return router.route.test(callers[i].path) || isBelowMiddleware(router, callers, i)
}

/** A middleware of the application in the same route, which called `next()`. */
function isBelowMiddleware(router, callers, i) {
  if (callers[i].package !== null) return false
  while (
    i >= 0 &&
    (callers[i].package === null || isPassedOver(callers[i]) || router.callers.test(callers[i].path))
  )
    i--
  return i >= 0 && router.route.test(callers[i].path)
}

/** Wrappers of ours, and Node's event emitter. */
const isPassedOver = (frame) =>
  frame.package === OWN || (frame.package === NODE && !HTTP_SERVER.test(frame.path))

module.exports = { isRouteHandler }
