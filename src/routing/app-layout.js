'use strict'
// The layers of an app in their order, with the routes behind each: what tells at set-up whether a middleware stands where it
// can do its work. Read once, from what the routers of Express and Koa keep, woven or not.

const express4 = require('./express-4')
const express5 = require('./express-5')
const { pathText } = require('./route-node')
const { originalsOf, routerOf } = require('./instrument-router')

/** A router may be mounted in itself. */
const DEEPEST = 20
/** What stands for the path of a mount that has several, or whose router does not keep it. */
const UNKNOWN = '…'

/**
 * @typedef {{ path: string, methods: string[], handlers: Function[] }} Route
 * @typedef {object} Row
 * @property {any} layer
 * @property {any[]} originals the function that was registered, however often it is wrapped
 * @property {Function[]} inner what is registered in the router behind it
 * @property {Route[]} routes behind it; an app counts as one
 * @property {string | undefined} path of a mount, '' at the root; undefined of a route
 * @property {(path: string) => boolean} takes whether it is a mount at that very path, or at several with that one
 * @property {boolean} isAtRoot whether every request comes to it
 * @property {boolean} isErrorHandler
 * @property {boolean} isMount a function at a path of its own, which may answer as a route does
 * @property {boolean} isOpaque an app or a mount whose routes cannot be read
 */

/** @returns {Row[]} */
function expressLayout(app) {
  const router = routerOf(app)
  return Array.isArray(router?.stack) ? router.stack.map((layer) => expressRow(layer, router)) : []
}

/** @returns {Row} */
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

/** Express puts a function of this name before an app that is mounted in another: what is in it cannot be read. */
const isMountedApp = ({ name, route }) => route === undefined && name === 'mounted_app'

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

/** A parameter takes anything, and is meant for nothing in particular. */
function takes(layer, path) {
  const match = layer.match(path)
  if (!match) return false
  // Before router 2.3 the layer itself keeps what it has matched.
  const taken = match === true ? layer : match
  return taken.path === path && Object.keys(taken.params).length === 0
}

/** @returns {Route[]} */
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
  if (!Array.isArray(handle.stack) || depth === DEEPEST) return []
  return handle.stack.flatMap((inner) => expressRoutes(inner, handle, base + path, depth + 1))
}

function innerOf({ handle }, depth) {
  if (!Array.isArray(handle.stack) || depth === DEEPEST) return []
  return handle.stack.flatMap((layer) => [...originalsOf(layer), ...innerOf(layer, depth + 1)])
}

/** @returns {Row[]} */
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
      // What koa-mount returns has no name, and an app may be in it.
      isOpaque: layers === undefined && each.name === '' && each.length === 2,
    }
  })
}

/** @returns {Route} */
function koaRoute({ path, methods, stack }) {
  // A route of GET takes HEAD too, and has it first.
  return {
    path: String(path),
    methods: methods.filter((method) => method !== 'HEAD'),
    handlers: stack,
  }
}

module.exports = { expressLayout, koaLayout }
