'use strict'
// The template of a Koa request: the last layer of `ctx.matched` that serves the method. `ctx._matchedRoute` will not
// do: every layer that runs overwrites it, so an auth middleware that answers 401 leaves its own pattern there.
// koa-mount tells only its innermost prefix and never clears it, so an accessor on the app's context notes each
// prefix with the length of path it stands for.

/** @param {{ context: object }} app its context is the prototype of every `ctx` */
function watchMounts(app, trailOf) {
  if (Object.hasOwn(app.context, 'mountPath')) return
  Object.defineProperty(app.context, 'mountPath', {
    configurable: true,
    get() {
      return trailOf(this.res)?.mounts?.at(-1)?.prefix
    },
    set(prefix) {
      const trail = trailOf(this.res)
      if (trail !== undefined) enterMount(trail, this, prefix)
    },
  })
}

function enterMount(trail, ctx, prefix) {
  trail.mounts ??= []
  const taken = pathLength(ctx) - ctx.path.length
  while (trail.mounts.length > 0 && trail.mounts.at(-1).taken > taken) trail.mounts.pop()
  const above = trail.mounts.at(-1)?.template ?? ''
  const own = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
  trail.mounts.push({ prefix, taken: taken + own.length, template: above + own })
}

function pathLength({ originalUrl }) {
  const query = originalUrl.indexOf('?')
  return query === -1 ? originalUrl.length : query
}

/** @returns {string | undefined} undefined where no route and no mount took the request */
function koaTemplate({ ctx, mounts }, status) {
  const layer = answeringLayer(ctx)
  if (layer !== undefined) return mountOf(ctx, mounts, layer) + String(layer.path) || '/'
  return status === 404 ? undefined : (mounts?.at(-1)?.template ?? '/')
}

/** The last route that serves the method; for a 405 or an automatic OPTIONS the last whose path matched. */
function answeringLayer({ matched, method }) {
  if (!Array.isArray(matched)) return undefined
  const routes = matched.filter((layer) => layer.methods.length > 0)
  return routes.findLast((layer) => layer.methods.includes(method)) ?? routes.at(-1)
}

/** A mount that was entered and fell through leaves its prefix: it counts only if the route matches what is left. */
function mountOf(ctx, mounts, layer) {
  if (mounts === undefined) return ''
  const path = ctx.originalUrl.slice(0, pathLength(ctx))
  const mount = mounts.findLast(({ taken }) => layer.match(path.slice(taken) || '/'))
  return mount?.template ?? ''
}

module.exports = { koaTemplate, watchMounts }
