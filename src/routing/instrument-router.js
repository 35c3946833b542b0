'use strict'
// Makes an Express router say where a request is. The handle of every route layer, and of every mount with a path of
// its own, is wrapped once, when the router is first entered after a change; plain middleware is left alone, so
// twenty of them cost nothing. (Router 2.3's tracing channel tells the same, but builds a context for every layer:
// 4 µs at twenty; the tests use it as the oracle.) A wrapped handle has the original as its prototype, so that
// tools which list routes through `layer.handle.stack` still find it.
//
// Each wrapped layer notes its place, and puts the one before back when it goes on. An error leaves the place it
// came from as the origin, because routers unwind `baseUrl` before an outer error handler answers.

const { isPromise } = require('node:util/types')
const express4 = require('./express-4')
const express5 = require('./express-5')
const { ROOT, pathText } = require('./route-node')
const { trailOf } = require('./route-state')

const kWoven = Symbol('spillway.woven')
const kPath = Symbol('spillway.path')

/** What body-parser calls its middlewares. A layer keeps the name of what it was given, whoever wraps that. */
const BODY_PARSERS = new Set(['jsonParser', 'rawParser', 'textParser', 'urlencodedParser'])

/** What Express makes of a rejection without a reason. */
const REJECTED = new Error('Rejected promise')

/**
 * Weaves the app's router, and through its class every router of the same copy of Express as soon as it is entered.
 * @returns {boolean} false for an Express 4 app that has no router yet
 */
function weaveApp(app) {
  const router = routerOf(app)
  if (!Array.isArray(router?.stack)) return false
  weaveClass(router)
  if (!isWoven(router)) weaveRouter(router)
  return true
}

/** Whether the middleware is in the router of the app itself, where every request begins. */
function isInAppRouter(app, middleware) {
  if (app.parent !== undefined) return false
  return routerOf(app).stack.some((layer) => isOf(layer, middleware))
}

/** Whether every request of the app comes to the middleware before anything else of the user's sees it. */
function isFirstInApp(app, middleware) {
  const dialect = isExpress4(app) ? express4 : express5
  const first = routerOf(app)?.stack?.[dialect.BUILT_IN_LAYERS]
  return first !== undefined && isOf(first, middleware) && dialect.isRootMount(first)
}

/** Ours are its prototype, and OpenTelemetry's instrumentation tells the original of what it has wrapped. */
const originalsOf = ({ handle }) => [handle, Object.getPrototypeOf(handle), handle.__original]
const isOf = (layer, middleware) => originalsOf(layer).includes(middleware)

const isExpress4 = (app) => typeof app.lazyrouter === 'function'

/** Reading `router` on an Express 4 app throws; there the lazily made router is `_router`. */
function routerOf(app) {
  return isExpress4(app) ? app._router : app.router
}

function weaveClass(router) {
  let owner = router
  while (owner !== null && !Object.hasOwn(owner, 'handle')) owner = Object.getPrototypeOf(owner)
  const handle = owner?.handle
  if (typeof handle !== 'function' || handle[kWoven] === true) return
  owner.handle = function spillwayHandle(req, res, done) {
    // Hot path: a router entered. Two reads tell that nothing was added since.
    if (!isWoven(this)) weaveRouter(this)
    return handle.call(this, req, res, done)
  }
  owner.handle[kWoven] = true
}

function isWoven(router) {
  const { stack } = router
  return router[kWoven] === stack.length && (stack.length === 0 || kWoven in stack[stack.length - 1])
}

function weaveRouter(router) {
  for (const layer of router.stack) {
    if (kWoven in layer) continue
    layer[kWoven] = true
    try {
      weaveLayer(layer, router)
    } catch (/** @type {any} */ error) {
      process.emitWarning(`spillway cannot name the route of a layer (${layer.name}): ${error.message}`)
    }
  }
  router[kWoven] = router.stack.length
}

function weaveLayer(layer, router) {
  const dialect = layer.regexp instanceof RegExp ? express4 : express5
  const handle = layer.handle
  if (isRouter(handle)) {
    // It may be of another copy of Express, brought by a package, and the first request may be in it already.
    weaveClass(handle)
    weaveRouter(handle)
  }
  if (layer.route !== undefined) layer.handle = weaveRoute(layer, router)
  else if (BODY_PARSERS.has(layer.name)) layer.handle = weaveBodyParser(layer)
  else if (!dialect.isRootMount(layer) && handle.length <= 3) {
    layer.handle = weaveMount(layer, dialect.mountPath(layer, router), dialect === express5)
  } else return
  Object.setPrototypeOf(layer.handle, handle)
}

/** Connect's apps have a stack too, of layers of another kind. Vite's middlewares are one. */
const isRouter = ({ stack, route }) => Array.isArray(stack) && typeof route === 'function'

function weaveRoute(layer, router) {
  const { route } = layer
  const dispatch = layer.handle
  const pathOf = express5.routePath(layer, router)
  route[kPath] = pathOf
  let lastOuter
  let lastPlace
  return function spillwayRoute(req, res, next) {
    const trail = trailOf(res)
    if (trail === undefined || trail.isSettled) return dispatch(req, res, next)
    const before = trail.place ?? ROOT
    const outer = before.base
    const isKnown = outer === lastOuter && typeof pathOf === 'string'
    const place = isKnown ? lastPlace : outer.route(told(pathOf, req))
    lastOuter = outer
    lastPlace = place
    trail.place = place
    trail.route = route
    trail.origin = undefined
    dispatch(req, res, (error) => {
      leave(trail, res, place, before, error)
      next(error)
    })
  }
}

function weaveMount(layer, pathOf, isExpress5) {
  const { handle } = layer
  return function spillwayMount(req, res, next) {
    const trail = trailOf(res)
    if (trail === undefined || trail.isSettled) return handle(req, res, next)
    const before = trail.place ?? ROOT
    const outerLength = trail.baseLength
    const { baseUrl } = req
    const place = before.base.mount(told(pathOf, baseUrl.slice(outerLength)))
    const leaveMount = (error) => {
      const failed = unseenRoute(trail, req)
      leave(trail, res, failed === undefined ? place : place.route(failed), before, error)
      trail.baseLength = outerLength
      trail.route = req.route
    }
    trail.place = place
    trail.baseLength = baseUrl.length
    trail.origin = undefined
    let result
    try {
      result = handle(req, res, (error) => {
        leaveMount(error)
        next(error)
      })
    } catch (error) {
      leaveMount(error)
      throw error
    }
    // Express 4 knows no promises: a rejection stays unhandled, and what wraps its handles to see one has seen this one already.
    if (!isExpress5 && layer[express4.kCatchesAsync] !== true) return undefined
    // A thenable that is no promise may start its work anew.
    if (isPromise(result)) result.then(undefined, (error) => leaveMount(error || REJECTED))
    return result
  }
}

/** A request without a body is none that it could fail at. */
function weaveBodyParser({ handle }) {
  return function spillwayBodyParser(req, res, next) {
    const trail = hasBody(req) ? trailOf(res) : undefined
    if (trail === undefined) return handle(req, res, next)
    return handle(req, res, (error) => {
      if (error) trail.hasBadBody = true
      next(error)
    })
  }
}

const hasBody = ({ headers }) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/** @param {string | ((by: any) => string)} pathOf */
function told(pathOf, by) {
  if (typeof pathOf === 'string') return pathOf
  try {
    return pathOf(by)
  } catch {
    return '(unknown)'
  }
}

function leave(trail, res, place, before, error) {
  if (trail.isSettled) return
  if (error && error !== 'route' && error !== 'router') trail.origin ??= place
  // A route that sent its head has answered; a mount may send it for a route to go on.
  if (place.isRoute ? res.headersSent : res.writableEnded) trail.isSettled = true
  else trail.place = before
}

/** A route that matched but was never dispatched: a `param` callback failed or answered in its stead. */
function unseenRoute(trail, req) {
  const { route } = req
  if (route === undefined || route === trail.route) return undefined
  return told(route[kPath] ?? pathText(route.path), req)
}

module.exports = { isFirstInApp, isInAppRouter, originalsOf, routerOf, unseenRoute, weaveApp }
