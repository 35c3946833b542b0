'use strict'
// Makes an Express router say where a request is. The handle of every route layer, and of every mount with a path of
// its own, is wrapped once, when the router is first entered after a change; plain middleware is left alone, so
// twenty of them cost nothing. (Router 2.3's tracing channel tells the same, but builds a context for every layer:
// 4 µs at twenty; the tests use it as the oracle.) A wrapped handle has the original as its prototype, so that
// tools which list routes through `layer.handle.stack` still find it.
//
// Each wrapped layer notes its place, and puts the one before back when it goes on. An error leaves the place it
// came from as the origin, because routers unwind `baseUrl` before an outer error handler answers.

const express4 = require('./express-4')
const express5 = require('./express-5')
const { ROOT } = require('./place')
const { trailOf } = require('./trail')

const kWoven = Symbol('spillway.woven')

/** Weaves the app's router, and through its class every router of the same copy of Express as soon as it is entered. */
function weaveApp(app) {
  const router = routerOf(app)
  if (!Array.isArray(router?.stack)) return
  weaveClass(router)
  weaveRouter(router)
}

/** Reading `router` on an Express 4 app throws; there the lazily made router is `_router`. */
function routerOf(app) {
  return typeof app.lazyrouter === 'function' ? app._router : app.router
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
    } catch (error) {
      process.emitWarning(`spillway cannot name the route of a layer (${layer.name}): ${error.message}`)
    }
  }
  router[kWoven] = router.stack.length
}

function weaveLayer(layer, router) {
  const dialect = layer.regexp instanceof RegExp ? express4 : express5
  const handle = layer.handle
  if (layer.route !== undefined) layer.handle = weaveRoute(layer, router)
  else if (!dialect.isRootMount(layer) && handle.length <= 3) {
    layer.handle = weaveMount(handle, dialect.mountPath(layer, router))
  } else return
  Object.setPrototypeOf(layer.handle, handle)
}

function weaveRoute(layer, router) {
  const { route } = layer
  const dispatch = layer.handle
  const pathOf = express5.routePath(layer, router)
  let lastOuter
  let lastPlace
  return function spillwayRoute(req, res, next) {
    const trail = trailOf(res)
    if (trail === undefined || trail.isAnswered) return dispatch(req, res, next)
    const outer = trail.place ?? ROOT
    const isKnown = outer === lastOuter && typeof pathOf === 'string'
    const place = isKnown ? lastPlace : outer.route(typeof pathOf === 'string' ? pathOf : pathOf(req))
    lastOuter = outer
    lastPlace = place
    trail.place = place
    trail.route = route
    trail.origin = undefined
    dispatch(req, res, (error) => {
      leave(trail, res, place, outer, error)
      next(error)
    })
  }
}

function weaveMount(handle, pathOf) {
  return function spillwayMount(req, res, next) {
    const trail = trailOf(res)
    if (trail === undefined || trail.isAnswered) return handle(req, res, next)
    const outer = trail.place ?? ROOT
    const outerLength = trail.baseLength
    const { baseUrl } = req
    const place = outer.mount(typeof pathOf === 'string' ? pathOf : pathOf(baseUrl.slice(outerLength)))
    const leaveMount = (error) => {
      const failed = unseenRoute(trail, req)
      leave(trail, res, failed === undefined ? place : place.route(failed), outer, error)
      trail.baseLength = outerLength
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
    if (typeof result?.then === 'function') result.then(undefined, leaveMount)
    return result
  }
}

function leave(trail, res, place, outer, error) {
  const isError = Boolean(error) && error !== 'route' && error !== 'router'
  if (isError) trail.origin ??= place
  else if (res.headersSent) {
    trail.isAnswered = true
    return
  }
  trail.place = outer
}

/** A route that matched but was never dispatched: a `param` callback failed or answered in its stead. */
function unseenRoute(trail, req) {
  const { route } = req
  return route === undefined || route === trail.route ? undefined : express5.pathText(route.path)
}

module.exports = { unseenRoute, weaveApp }
