'use strict'
// Mistakes in the order of an app's layers. Each rule takes the layers in order and returns a sentence, or
// undefined. A few routes before a middleware are usual, such as a probe that is not measured, and so are
// files after it. So a rule reports only if most routes are on the wrong side.

/**
 * @import { Handler } from '../../../index.js'
 * @import { Route, Row } from '../route/app-layout'
 */

/**
 * @param {Row[]} layout
 * @param {number} at the index of the middleware
 * @param {{ name: 'express' | 'koa', isMeasured: boolean }} how
 */
function lateMiddleware(layout, at, { name, isMeasured }) {
  const before = routesIn(layout.slice(0, at))
  const after = layout.slice(at + 1)
  if (!layout[at].isAtRoot || before.length <= mostIn(after)) return undefined
  const loss = isMeasured ? 'not shed' : 'neither measured nor shed'
  return (
    `spillway.${name}() is registered after ${shareOf(before, routesIn(after))}, which ${before.length === 1 ? 'is' : 'are'} ${loss}. ` +
    `Move app.use(spillway.${name}()) before the routes.`
  )
}

/**
 * Finds a middleware in a router, while other routes are outside. A middleware that is mounted at a path is
 * not reported, because the path shows what it measures.
 *
 * @param {Row[]} layout
 * @param {(functions: Row['originals']) => boolean} isOwn whether a middleware of this instance is among the
 *   functions
 */
function partialMiddleware(layout, isOwn) {
  const within = layout.filter(({ inner }) => isOwn(inner))
  if (within.length === 0 || layout.some(({ originals }) => isOwn(originals))) return undefined
  const outside = routesIn(layout.filter((row) => !within.includes(row)))
  if (outside.length === 0) return undefined
  return (
    `spillway.express() is registered in a router, and measures only that router: ${shareOf(outside, routesIn(within))} ` +
    `${outside.length === 1 ? 'is' : 'are'} neither measured nor shed. To measure all, write app.use(spillway.express()) before the routes.`
  )
}

/** @param {Row[]} layout @param {number} at the index of `errorHandler()` */
function earlyErrorHandler(layout, at) {
  const after = routesIn(layout.slice(at + 1))
  if (!layout[at].isAtRoot || after.length <= mostIn(layout.slice(0, at))) return undefined
  return (
    `spillway.errorHandler() is registered before ${shareOf(after, routesIn(layout.slice(0, at)))}, whose errors never reach it. ` +
    'Move app.use(spillway.errorHandler()) after the last route.'
  )
}

/**
 * Finds two error handlers of an instance with nothing between them. Every error reaches the first one before
 * the second.
 *
 * @param {Row[]} layout
 * @param {(row: Row) => boolean} isOwn whether the layer is an `errorHandler()` of this instance
 * @param {boolean} answers whether `errorHandler()` answers errors, so that none reaches the user's error
 *   handlers after it
 * @returns {Row | undefined} the second of them
 */
function repeatedErrorHandler(layout, isOwn, answers) {
  let hasFirst = false
  for (const row of layout) {
    const isOne = row.isAtRoot && isOwn(row)
    if (isOne && hasFirst) return row
    hasFirst = isOne || (hasFirst && answers && row.isErrorHandler)
  }
  return undefined
}

/**
 * Finds routes at the path of an endpoint, which spillway answers before them.
 *
 * @param {Row[]} layout the layers after spillway's endpoints
 * @param {Record<string, string | false>} paths the paths of the endpoints, by name
 * @param {Record<string, Handler>} handlers spillway's own handlers, which answer the same if they are
 *   mounted at the same path
 * @returns {[path: string, sentence: string][]}
 */
function hiddenRoutes(layout, paths, handlers) {
  return Object.entries(paths).flatMap(([name, path]) => {
    if (path === false) return []
    const hidden = layout
      .map((row) => hiddenIn(row, path, handlers[name]))
      .find((found) => found !== undefined)
    if (hidden === undefined) return []
    const sentence =
      `Your ${hidden} never receives a request: spillway answers ${path} before it. ` +
      `Remove it, or change the path of the endpoint, or turn it off: createSpillway({ endpoints: { ${name}: false } }). ` +
      'To restrict access to the endpoint, use `endpoints.allow`.'
    return [[path, sentence]]
  })
}

/** @param {Row} row @param {string} path @param {Handler} own */
function hiddenIn(row, path, own) {
  const route = row.routes.find((each) => isAt(each.path, path) && !isOnly(each.handlers, own))
  if (route !== undefined) return labelOf(route)
  return row.isMount && row.takes(path) && !row.originals.includes(own) ? `app.use('${path}')` : undefined
}

/** @param {string} template @param {string} path */
const isAt = (template, path) => template.replace(/(.)\/$/, '$1') === path
/** @param {Route['handlers']} handlers @param {Handler} own */
const isOnly = (handlers, own) => handlers.length === 1 && handlers[0] === own

/** @param {Row[]} layout */
const routesIn = (layout) => layout.flatMap(({ routes }) => routes)

/**
 * The largest possible number of routes: layers that cannot be read may hold any number.
 *
 * @param {Row[]} layout
 */
function mostIn(layout) {
  if (layout.some(({ isOpaque }) => isOpaque)) return Number.POSITIVE_INFINITY
  return layout.reduce((sum, { routes, isMount }) => sum + routes.length + (isMount ? 1 : 0), 0)
}

/** @param {Route[]} lost @param {Route[]} others */
function shareOf(lost, others) {
  const example = labelOf(lost[0])
  if (lost.length === 1 && others.length === 0) return `the route ${example}`
  const all = lost.length + others.length
  return `${others.length === 0 ? 'all' : `${lost.length} of`} ${all} routes, such as ${example}`
}

/** A route of `app.all()` has no method, or all methods. @param {Route} route */
const labelOf = ({ path, methods: [method, second] }) =>
  method === undefined || method === '_all' || second !== undefined ? path : `${method.toUpperCase()} ${path}`

module.exports = {
  earlyErrorHandler,
  hiddenRoutes,
  lateMiddleware,
  partialMiddleware,
  repeatedErrorHandler,
}
