'use strict'
// Finds the template of a Koa request: the path of the layer in `ctx.matched` that answered.
// `ctx._matchedRoute` alone is not enough: every layer that runs overwrites it, so middleware that answers
// 401 leaves its own pattern. The package koa-mount keeps only the innermost prefix and never clears it. So
// an accessor records each prefix that koa-mount sets.

const { pathText } = require('./route-node')

/**
 * Koa's context and what @koa/router puts on it.
 *
 * @import { Callable } from './app-layout'
 * @import { RouteState, RoutedResponse } from './route-state'
 * @typedef {{ path: string | RegExp, methods: string[], stack: Callable[], match(path: string): boolean,
 *   captures(path: string): string[] }} RouterLayer
 * @typedef {{ method: string, path: string, res: RoutedResponse, mountPath?: string, matched?: RouterLayer[],
 *   _matchedRoute?: string | RegExp, captures?: string[] }} RoutedContext
 * @typedef {{ prefix: string, rest: string, template: string }} Mount
 */

/**
 * The symbol is not global, because another copy of this package on the same app has its own accessor and
 * route states.
 */
const kWatched = Symbol('spillway.mounts')

/**
 * @param {{ context: RoutedContext }} app whose context is the prototype of every `ctx`
 * @param {typeof import('./route-state').routeStateOf} routeStateOf
 */
function watchMounts({ context }, routeStateOf) {
  if (Object.hasOwn(context, kWatched)) return
  const before = Object.getOwnPropertyDescriptor(context, 'mountPath')
  // A value or a fixed accessor belongs to the application.
  if (before !== undefined && (before.set === undefined || !before.configurable)) return
  Object.defineProperty(context, kWatched, { value: true })
  Object.defineProperty(context, 'mountPath', {
    configurable: true,
    /** @this {RoutedContext} */
    get() {
      return routeStateOf(this.res)?.mounts?.at(-1)?.prefix ?? before?.get?.call(this)
    },
    /** @this {RoutedContext} @param {string} prefix */
    set(prefix) {
      before?.set?.call(this, prefix)
      const routeState = routeStateOf(this.res)
      if (routeState !== undefined) {
        // Another copy that does not measure this request has put a value over both accessors, which would
        // hide the next mount.
        if (before !== undefined) delete this.mountPath
        return enterMount(routeState, this.path, prefix)
      }
      if (before !== undefined) return
      // No instance measures this request.
      Object.defineProperty(this, 'mountPath', {
        value: prefix,
        configurable: true,
        enumerable: true,
        writable: true,
      })
    },
  })
}

/** @param {RouteState} routeState @param {string} path @param {string} prefix */
function enterMount(routeState, path, prefix) {
  routeState.mounts ??= []
  // Inside a mount, the path is at most as long as the rest that the mount left. A longer path means that the
  // request has left that mount.
  while (
    routeState.mounts.length > 0 &&
    path.length > /** @type {Mount} */ (routeState.mounts.at(-1)).rest.length
  )
    routeState.mounts.pop()
  const above = routeState.mounts.at(-1)?.template ?? ''
  routeState.mounts.push({
    prefix,
    rest: path.slice(prefix.length) || '/',
    template: above + pathText(prefix),
  })
}

/**
 * @param {RouteState & { ctx: RoutedContext }} routeState @param {number} status
 * @returns {string | undefined} undefined if no route and no mount took the request, or a body parser
 *   rejected its body
 */
function koaTemplate({ ctx, mounts, hasBadBody }, status) {
  const layer = answeringLayer(ctx, status)
  if (layer !== undefined) return mountOf(ctx, mounts, layer) + pathText(layer.path) || '/'
  if (hasBadBody) return undefined
  return status === 404 ? undefined : (mounts?.at(-1)?.template ?? '/')
}

/** @param {RoutedContext} ctx @param {number} status */
function answeringLayer({ matched, method, _matchedRoute: last }, status) {
  if (!Array.isArray(matched)) return undefined
  const routes = matched.filter((layer) => layer.methods.includes(method))
  if (routes.length === 0) {
    const isOfMethods = status === 405 || status === 501 || method === 'OPTIONS'
    return isOfMethods ? matched.findLast((layer) => layer.methods.length > 0) : undefined
  }
  const ran = routes.findLast(({ path }) => path === last)
  if (ran !== undefined) return ran
  // A middleware of the router answered instead of the route that would have come next.
  const next = matched.findIndex(({ path }) => path === last) + 1
  return matched.slice(next).find((layer) => routes.includes(layer)) ?? routes.at(-1)
}

/**
 * A mount that passed the request on leaves its prefix behind. So a mount counts only if the route matches
 * the rest of the path.
 * @param {RoutedContext} ctx @param {Mount[] | undefined} mounts @param {RouterLayer} layer
 */
function mountOf(ctx, mounts, layer) {
  const mount = mounts?.findLast(({ rest }) => layer.match(rest) && isTaken(ctx, layer, rest))
  return mount?.template ?? ''
}

/**
 * A route that matches nearly any path (`/*rest`) is identified by its captures.
 *
 * @param {RoutedContext} ctx
 * @param {RouterLayer} layer
 * @param {string} path
 */
function isTaken({ captures, _matchedRoute: last }, layer, path) {
  return last !== layer.path || String(layer.captures(path)) === String(captures)
}

module.exports = { koaTemplate, watchMounts }
