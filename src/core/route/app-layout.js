'use strict'
// The layers of an Express or Koa app in order, with the routes behind each layer. The set-up check reads
// them once to see whether a middleware stands where it can work.

const express4 = require('./express-4')
const express5 = require('./express-5')
const { pathText } = require('./route-node')
const { originalsOf, routerOf } = require('./instrument-router')

/** A bound, because a router may be mounted in itself. */
const MAX_DEPTH = 20
/** The path of a mount with several paths, or of a router that does not keep the path. */
const UNKNOWN = '…'

/**
 * @import { ExpressApp, Handle, Layer, Router, RouterHandle } from './instrument-router'
 * @import { RouterLayer } from './koa'
 *
 * @typedef {(...given: never[]) => unknown} Callable
 * @typedef {Callable & { router?: { stack?: RouterLayer[] } }} KoaMiddleware
 * @typedef {{ path: string, methods: string[], handlers: Callable[] }} Route
 * @typedef {object} Row
 * @property {Layer | undefined} layer Express's own object; undefined in Koa
 * @property {Callable[]} originals the layer's function and the functions it wraps
 * @property {Callable[]} inner the functions registered in the router behind the layer
 * @property {Route[]} routes the routes behind the layer; a mounted app counts as one
 * @property {string | undefined} path the path of a mount, '' at the root; undefined for a route
 * @property {(path: string) => boolean} takes whether the layer is a mount at exactly this path, or at
 *   several paths including this one
 * @property {boolean} isAtRoot whether every request reaches the layer
 * @property {boolean} isErrorHandler
 * @property {boolean} isMount whether the layer is a function mounted at a path, which may answer as a route
 *   does
 * @property {boolean} isOpaque whether the layer is an app or a mount whose routes cannot be read
 */

/** @param {ExpressApp} app @returns {Row[]} */
function expressLayout(app) {
  const router = routerOf(app)
  return Array.isArray(router?.stack) ? router.stack.map((layer) => expressRow(layer, router)) : []
}

/** @param {Layer} layer @param {Router} router @returns {Row} */
function expressRow(layer, router) {
  const isRoute = layer.route !== undefined
  const path = isRoute ? undefined : mountPathOf(layer, router)
  const routes = expressRoutes(layer, router, '', 0)
  const isErrorHandler = !isRoute && layer.handle.length === 4
  return {
    layer,
    originals: originalsOf(layer),
    inner: innerOf(layer, 0),
    routes,
    path,
    takes: (asked) => !isRoute && takes(layer, asked),
    isAtRoot: path === '',
    isErrorHandler,
    isMount: !isRoute && path !== '' && !isErrorHandler && routes.length === 0,
    isOpaque: isMountedApp(layer),
  }
}

/**
 * Express wraps a mounted app in a function of this name, which hides the app's layers.
 *
 * @param {Layer} layer
 */
const isMountedApp = ({ name, route }) => route === undefined && name === 'mounted_app'

/** @param {Layer} layer @param {Router} router */
function mountPathOf(layer, router) {
  const dialect = layer.regexp instanceof RegExp ? express4 : express5
  if (dialect.isRootMount(layer)) return ''
  try {
    const path = dialect.mountPath(layer, router)
    return typeof path === 'string' ? path : UNKNOWN
  } catch {
    return UNKNOWN
  }
}

/**
 * A match by a parameter does not count: the mount was not made for this path.
 *
 * @param {Layer} layer
 * @param {string} path
 */
function takes(layer, path) {
  const match = layer.match(path)
  if (!match) return false
  // Before router 2.3 the layer itself keeps the match.
  const { path: matched, params } = match === true ? layer : match
  return matched === path && Object.keys(params).length === 0
}

/**
 * @param {Layer} layer
 * @param {Router} router
 * @param {string} base
 * @param {number} depth
 * @returns {Route[]}
 */
function expressRoutes(layer, router, base, depth) {
  const { route, handle } = layer
  if (route !== undefined) {
    return [route.path].flat(Infinity).map((path) => ({
      path: base + pathText(path) || '/',
      methods: Object.keys(route.methods),
      handlers: route.stack.map((each) => each.handle),
    }))
  }
  const path = mountPathOf(layer, router)
  if (isMountedApp(layer)) return [{ path: base + path || '/', methods: [], handlers: [] }]
  if (!Array.isArray(handle.stack) || depth === MAX_DEPTH) return []
  return handle.stack.flatMap((inner) =>
    expressRoutes(inner, /** @type {RouterHandle} */ (handle), base + path, depth + 1)
  )
}

/** @param {Layer} layer @param {number} depth @returns {Handle[]} */
function innerOf({ handle }, depth) {
  if (!Array.isArray(handle.stack) || depth === MAX_DEPTH) return []
  return handle.stack.flatMap((layer) => [...originalsOf(layer), ...innerOf(layer, depth + 1)])
}

/** @param {{ middleware: KoaMiddleware[] }} app @returns {Row[]} */
function koaLayout({ middleware }) {
  return middleware.map((each) => {
    const layers = each.router?.stack
    return {
      layer: undefined,
      originals: [each],
      inner: [],
      routes: Array.isArray(layers) ? layers.filter(({ methods }) => methods?.length > 0).map(koaRoute) : [],
      path: '',
      takes: () => false,
      isAtRoot: true,
      isErrorHandler: false,
      isMount: false,
      // koa-mount returns a function without a name, which may contain an app.
      isOpaque: layers === undefined && each.name === '' && each.length === 2,
    }
  })
}

/** @param {RouterLayer} layer @returns {Route} */
function koaRoute({ path, methods, stack }) {
  // @koa/router adds HEAD to the methods of a GET route, in front.
  return {
    path: String(path),
    methods: methods.filter((method) => method !== 'HEAD'),
    handlers: stack,
  }
}

module.exports = { expressLayout, koaLayout }
