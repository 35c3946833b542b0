'use strict'
// Instruments an Express router so that the route state of a request follows the request through the tree of
// routers. Every route layer, and every mount with a path, is wrapped once, when the router is entered after
// a change. A wrapped layer sets its node, and restores the previous node when it calls `next`. Other
// middleware is left alone and costs nothing. An error keeps the node it came from: routers unwind `baseUrl`
// before an outer error handler answers. A wrapped handle has the original as its prototype, for tools that
// list routes through `layer.handle.stack`. docs/decisions/0011 says why router's tracing channel is not
// used.

const { isPromise } = require('node:util/types')
const express4 = require('./express-4')
const express5 = require('./express-5')
const { ROOT, pathText } = require('./route-node')
const { kRouteState } = require('./route-state')

const kInstrumented = Symbol('spillway.instrumented')
const kPath = Symbol('spillway.path')

/**
 * The members of Express 4 and 5 that are read. Some exist in one version only. Only the code for that
 * version reads them.
 *
 * @import { IncomingMessage } from 'node:http'
 * @import { RouteNode } from './route-node'
 * @import { RoutedRequest, RoutedResponse, RouteState } from './route-state'
 *
 * @typedef {string | RegExp | readonly (string | RegExp)[]} Path
 * @typedef {string | ((req: IncomingMessage) => string)} PathOf
 * @typedef {{ path: string, params: Record<string, string | string[]> }} Match
 * @typedef {(path: string) => false | Match} Matcher
 * @typedef {(error?: unknown) => void} Next
 * @typedef {((req: RoutedRequest, res: RoutedResponse, next: Next) => unknown) & Partial<Router> &
 *   { __original?: Handle }} Handle
 * @typedef {{ path: Path, methods: Record<string, boolean>, stack: { handle: Handle }[], [kPath]?: PathOf }}
 *   ExpressRoute
 * @typedef {{ stack: Layer[], handle: Handle, route: unknown, caseSensitive: boolean, strict: boolean,
 *   [kInstrumented]?: number | boolean }} Router
 * @typedef {{ parent?: ExpressApp, router?: Router, _router?: Router, lazyrouter?: unknown }} ExpressApp
 *
 * @typedef {object} LayerMembers
 * @property {string} name
 * @property {Handle} handle
 * @property {ExpressRoute} [route] undefined in a mount
 * @property {(path: string) => boolean | Match} match true: the match is in the layer itself
 * @property {Match['path']} path
 * @property {Match['params']} params
 * @property {RegExp & { fast_slash?: boolean }} regexp of Express 4
 * @property {{ name: string | number }[]} keys of Express 4
 * @property {boolean} slash of Express 5
 * @property {Matcher[]} matchers of Express 5
 * @property {Path} [rawPath] of router 2.3
 *
 * @typedef {LayerMembers & { [mark: symbol]: boolean | undefined }} Layer
 * @typedef {Layer & { route: ExpressRoute }} RouteLayer
 * @typedef {Handle & Router} RouterHandle
 */

/**
 * The names of body-parser's middlewares. A layer keeps the name of its first function, even if tools wrap
 * it.
 */
const BODY_PARSERS = new Set(['jsonParser', 'rawParser', 'textParser', 'urlencodedParser'])

/** The error that Express makes of a rejection without a reason. */
const REJECTED = new Error('Rejected promise')

/**
 * Instruments the app's router now. Also replaces `handle` of the router class. The replacement instruments
 * each other router of the same copy of Express when a request enters that router.
 * @param {ExpressApp} app
 * @returns {boolean} false for an Express 4 app that has no router yet
 */
function instrumentApp(app) {
  const router = routerOf(app)
  if (!Array.isArray(router?.stack)) return false
  instrumentClass(router)
  if (!isInstrumented(router)) instrumentRouter(router)
  return true
}

/**
 * Whether the middleware is in the app's own router, where every request begins.
 *
 * @param {ExpressApp} app
 * @param {Handle} middleware
 */
function isInAppRouter(app, middleware) {
  if (app.parent !== undefined) return false
  return /** @type {Router} */ (routerOf(app)).stack.some((layer) => isOf(layer, middleware))
}

/**
 * Whether every request of the app reaches one of the middlewares before any other code of the user.
 * @param {ExpressApp} app
 * @param {{ has: (middleware: Handle) => boolean }} middlewares
 */
function isFirstInApp(app, middlewares) {
  const dialect = isExpress4(app) ? express4 : express5
  const first = routerOf(app)?.stack?.[dialect.BUILT_IN_LAYERS]
  if (first === undefined || !dialect.isRootMount(first)) return false
  return originalsOf(first).some((original) => middlewares.has(original))
}

/**
 * Returns the function of Express 4 that sets `req.query`, without the wrapper of a tracer. In Express 5,
 * `query` is a getter of the request's prototype.
 *
 * @param {ExpressApp} app
 */
function queryOf(app) {
  if (!isExpress4(app)) return undefined
  const { handle } = /** @type {Router} */ (app._router).stack[0]
  return handle.__original ?? handle
}

/**
 * The function of a layer and the functions it wraps: spillway keeps the original as the prototype,
 * OpenTelemetry's instrumentation as `__original`.
 * @param {Layer} layer
 * @returns {Handle[]}
 */
const originalsOf = ({ handle }) => [handle, Object.getPrototypeOf(handle), handle.__original]
/** @param {Layer} layer @param {Handle} middleware */
const isOf = (layer, middleware) => originalsOf(layer).includes(middleware)

/** @param {ExpressApp} app */
const isExpress4 = (app) => typeof app.lazyrouter === 'function'

/** Express 4 throws if `router` is read, and makes `_router` lazily. @param {ExpressApp} app */
function routerOf(app) {
  return isExpress4(app) ? app._router : app.router
}

/** @param {Router} router a router, a router that is a function, or the class of either */
function instrumentClass(router) {
  let owner = router
  while (owner !== null && !Object.hasOwn(owner, 'handle')) owner = Object.getPrototypeOf(owner)
  const handle = owner?.handle
  if (typeof handle !== 'function' || handle[kInstrumented] === true) return
  owner.handle = function spillwayHandle(req, res, done) {
    // Hot path: called when a router is entered. Two reads show that no layer was added.
    if (!isInstrumented(this)) instrumentRouter(this)
    return handle.call(this, req, res, done)
  }
  owner.handle[kInstrumented] = true
}

/** @param {Router} router */
function isInstrumented(router) {
  const { stack } = router
  return (
    router[kInstrumented] === stack.length && (stack.length === 0 || kInstrumented in stack[stack.length - 1])
  )
}

/** @param {Router} router */
function instrumentRouter(router) {
  for (const layer of router.stack) {
    if (kInstrumented in layer) continue
    layer[kInstrumented] = true
    try {
      instrumentLayer(layer, router)
    } catch (error) {
      process.emitWarning(
        `spillway cannot name the route of a layer (${layer.name}): ${/** @type {Error} */ (error).message}`
      )
    }
  }
  router[kInstrumented] = router.stack.length
}

/** @param {Layer} layer @param {Router} router */
function instrumentLayer(layer, router) {
  const dialect = layer.regexp instanceof RegExp ? express4 : express5
  const handle = layer.handle
  if (isRouter(handle)) {
    // The router may come from another copy of Express, and the first request may be inside it already.
    instrumentClass(/** @type {RouterHandle} */ (handle))
    instrumentRouter(/** @type {RouterHandle} */ (handle))
  }
  if (layer.route !== undefined) layer.handle = wrapRoute(/** @type {RouteLayer} */ (layer), router)
  else if (BODY_PARSERS.has(layer.name)) layer.handle = wrapBodyParser(layer)
  else if (!dialect.isRootMount(layer) && handle.length <= 3) {
    layer.handle = wrapMount(layer, dialect.mountPath(layer, router), dialect === express5)
  } else return
  Object.setPrototypeOf(layer.handle, handle)
}

/**
 * Connect's apps, such as Vite's middlewares, also have a `stack`, but its layers are different.
 *
 * @param {Handle} handle
 */
const isRouter = ({ stack, route }) => Array.isArray(stack) && typeof route === 'function'

/** @param {RouteLayer} layer @param {Router} router @returns {Handle} */
function wrapRoute(layer, router) {
  const { route } = layer
  const dispatch = layer.handle
  const pathOf = express5.routePath(layer, router)
  route[kPath] = pathOf
  /** @type {RouteNode | undefined} */
  let lastOuter
  /** @type {RouteNode} */
  let lastNode
  return function spillwayRoute(req, res, next) {
    const routeState = res?.[kRouteState]
    if (routeState === undefined || routeState.isSettled) return dispatch(req, res, next)
    const previous = routeState.node ?? ROOT
    const outer = previous.base
    const isKnown = outer === lastOuter && typeof pathOf === 'string'
    const node = isKnown ? lastNode : outer.route(resolvePath(pathOf, req))
    lastOuter = outer
    lastNode = node
    routeState.node = node
    routeState.route = route
    routeState.errorNode = undefined
    dispatch(req, res, (error) => {
      leave(routeState, res, node, previous, error)
      next(error)
    })
  }
}

/**
 * @param {Layer} layer
 * @param {string | ((taken: string) => string)} pathOf
 * @param {boolean} isExpress5
 * @returns {Handle}
 */
function wrapMount(layer, pathOf, isExpress5) {
  const { handle } = layer
  /** @type {RouteNode | undefined} */
  let lastOuter
  /** @type {RouteNode} */
  let lastNode
  return function spillwayMount(req, res, next) {
    const routeState = res?.[kRouteState]
    if (routeState === undefined || routeState.isSettled) return handle(req, res, next)
    const previous = routeState.node ?? ROOT
    const outerLength = routeState.baseLength
    const { baseUrl } = /** @type {Required<RoutedRequest>} */ (req)
    const outer = previous.base
    const isKnown = outer === lastOuter && typeof pathOf === 'string'
    const node = isKnown ? lastNode : outer.mount(resolvePath(pathOf, baseUrl.slice(outerLength)))
    lastOuter = outer
    lastNode = node
    /** @param {unknown} error */
    const leaveMount = (error) => {
      const failed = undispatchedRoute(routeState, req)
      leave(routeState, res, failed === undefined ? node : node.route(failed), previous, error)
      routeState.baseLength = outerLength
      routeState.route = req.route
    }
    routeState.node = node
    routeState.baseLength = baseUrl.length
    routeState.errorNode = undefined
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
    // Express 4 ignores promises. A listener here would hide an unhandled rejection, unless `catchAsync()`
    // passes it on.
    if (!isExpress5 && layer[express4.kCatchesAsync] !== true) return undefined
    // Only promises count, because `then` of a query builder would run its query again.
    if (isPromise(result)) result.then(undefined, (error) => leaveMount(error || REJECTED))
    return result
  }
}

/**
 * Records that the parser failed. Without a body, the parser cannot fail.
 *
 * @param {Layer} layer @returns {Handle}
 */
function wrapBodyParser({ handle }) {
  return function spillwayBodyParser(req, res, next) {
    const routeState = hasBody(req) ? res?.[kRouteState] : undefined
    if (routeState === undefined) return handle(req, res, next)
    return handle(req, res, (error) => {
      if (error) routeState.hasBadBody = true
      next(error)
    })
  }
}

/** @param {RoutedRequest} req */
const hasBody = ({ headers }) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

/**
 * @template Input
 * @param {string | ((input: Input) => string)} path
 * @param {Input} input
 */
function resolvePath(path, input) {
  if (typeof path === 'string') return path
  try {
    return path(input)
  } catch {
    return '(unknown)'
  }
}

/**
 * Called when a layer calls `next`, throws or rejects.
 * @param {RouteState} routeState @param {RoutedResponse} res @param {RouteNode} node @param {RouteNode}
 *   previous @param {unknown} error
 */
function leave(routeState, res, node, previous, error) {
  if (routeState.isSettled) return
  if (error && error !== 'route' && error !== 'router') routeState.errorNode ??= node
  // A route whose head was sent has answered. A mount may send the head and leave the body to a route.
  if (node.isRoute ? res.headersSent : res.writableEnded) routeState.isSettled = true
  else routeState.node = previous
}

/**
 * The path of a route that matched but was not dispatched, because a `param` callback failed or answered.
 * @param {RouteState} routeState @param {RoutedRequest} req
 */
function undispatchedRoute(routeState, req) {
  const { route } = req
  if (route === undefined || route === routeState.route) return undefined
  return resolvePath(route[kPath] ?? pathText(route.path), req)
}

module.exports = {
  isFirstInApp,
  isInAppRouter,
  originalsOf,
  queryOf,
  routerOf,
  undispatchedRoute,
  instrumentApp,
  instrumentClass,
}
