'use strict'
// The template of a Koa request: of the layers in `ctx.matched` the one that answered. `ctx._matchedRoute` alone will not
// do: every layer that runs overwrites it, so an auth middleware that answers 401 leaves its own pattern there.
// koa-mount tells only its innermost prefix and never clears it, so an accessor on the app's context notes each
// prefix with the path it left.

const { pathText } = require('./route-node')

/** Of this copy of the package: another one on the same app has an accessor and trails of its own. */
const kWatched = Symbol('spillway.mounts')

/** @param {{ context: any }} app its context is the prototype of every `ctx` */
function watchMounts({ context }, trailOf) {
  if (Object.hasOwn(context, kWatched)) return
  const before = Object.getOwnPropertyDescriptor(context, 'mountPath')
  // A value, or an accessor that stays what it is, is the application's.
  if (before !== undefined && (before.set === undefined || !before.configurable)) return
  Object.defineProperty(context, kWatched, { value: true })
  Object.defineProperty(context, 'mountPath', {
    configurable: true,
    get() {
      return trailOf(this.res)?.mounts?.at(-1)?.prefix ?? before?.get?.call(this)
    },
    set(prefix) {
      before?.set?.call(this, prefix)
      const trail = trailOf(this.res)
      if (trail !== undefined) {
        // A copy that does not measure this one has put a value over both accessors: the next mount would not be told.
        if (before !== undefined) delete this.mountPath
        return enterMount(trail, this.path, prefix)
      }
      if (before !== undefined) return
      // Nobody measures this one.
      Object.defineProperty(this, 'mountPath', {
        value: prefix,
        configurable: true,
        enumerable: true,
        writable: true,
      })
    },
  })
}

function enterMount(trail, path, prefix) {
  trail.mounts ??= []
  // Within a mount the path is shorter than what it left: if it is longer, that mount has been left again.
  while (trail.mounts.length > 0 && path.length > trail.mounts.at(-1).rest.length) trail.mounts.pop()
  const above = trail.mounts.at(-1)?.template ?? ''
  trail.mounts.push({ prefix, rest: path.slice(prefix.length) || '/', template: above + pathText(prefix) })
}

/** @returns {string | undefined} undefined where no route and no mount took the request, or a body parser has refused it */
function koaTemplate({ ctx, mounts, hasBadBody }, status) {
  const layer = answeringLayer(ctx, status)
  if (layer !== undefined) return mountOf(ctx, mounts, layer) + pathText(layer.path) || '/'
  if (hasBadBody) return undefined
  return status === 404 ? undefined : (mounts?.at(-1)?.template ?? '/')
}

function answeringLayer({ matched, method, _matchedRoute: last }, status) {
  if (!Array.isArray(matched)) return undefined
  const routes = matched.filter((layer) => layer.methods.includes(method))
  if (routes.length === 0) {
    const isOfMethods = status === 405 || status === 501 || method === 'OPTIONS'
    return isOfMethods ? matched.findLast((layer) => layer.methods.length > 0) : undefined
  }
  const ran = routes.findLast(({ path }) => path === last)
  if (ran !== undefined) return ran
  // A middleware of the router, in the stead of the route that would have come next.
  const next = matched.findIndex(({ path }) => path === last) + 1
  return matched.slice(next).find((layer) => routes.includes(layer)) ?? routes.at(-1)
}

/** A mount that was entered and fell through leaves its prefix: it counts only if the route took what it left. */
function mountOf(ctx, mounts, layer) {
  const mount = mounts?.findLast(({ rest }) => layer.match(rest) && isTaken(ctx, layer, rest))
  return mount?.template ?? ''
}

/** A route that matches about anything (`/*rest`) is told by what it captured. */
function isTaken({ captures, _matchedRoute: last }, layer, path) {
  return last !== layer.path || String(layer.captures(path)) === String(captures)
}

module.exports = { koaTemplate, watchMounts }
