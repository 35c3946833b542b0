'use strict'
// What can be wrong with the place of a middleware among the layers of an app: each rule takes the layers in order and gives a
// sentence, or nothing. A few routes in front are usual, such as a probe that shall not be measured; so are files and a mount
// that serves by itself behind. So a rule speaks only where most of the routes are on the wrong side.

/** @typedef {import('../routing/app-layout').Row} Row */

/** @param {Row[]} layout @param {number} at where the middleware stands */
function lateMiddleware(layout, at, { name, isMeasured }) {
  const before = routesIn(layout.slice(0, at))
  const behind = layout.slice(at + 1)
  if (!layout[at].isAtRoot || before.length <= mostIn(behind)) return undefined
  const loss = isMeasured ? 'not shed' : 'neither measured nor shed'
  return (
    `spillway.${name}() stands behind ${shareOf(before, routesIn(behind))}, which ${before.length === 1 ? 'is' : 'are'} ${loss}. ` +
    `Move app.use(spillway.${name}()) before the routes.`
  )
}

/** @param {Row[]} layout @param {number} at where `errorHandler()` stands */
function earlyErrorHandler(layout, at) {
  const behind = routesIn(layout.slice(at + 1))
  if (!layout[at].isAtRoot || behind.length <= mostIn(layout.slice(0, at))) return undefined
  return (
    `spillway.errorHandler() stands before ${shareOf(behind, routesIn(layout.slice(0, at)))}, whose errors never come to it. ` +
    'Move app.use(spillway.errorHandler()) behind the last route.'
  )
}

/**
 * An error comes to the second of two handlers of ours only from what stands between them.
 *
 * @param {Row[]} layout
 * @param {(row: Row) => boolean} isOurs whether it is an `errorHandler()` of this instance
 * @param {boolean} answers whether ours answers errors: then no error comes to the user's error handlers behind it
 * @returns {Row | undefined} the second
 */
function repeatedErrorHandler(layout, isOurs, answers) {
  let hasFirst = false
  for (const row of layout) {
    const isOne = row.isAtRoot && isOurs(row)
    if (isOne && hasFirst) return row
    hasFirst = isOne || (hasFirst && answers && row.isErrorHandler)
  }
  return undefined
}

/**
 * @param {Row[]} layout those that come after our endpoints
 * @param {Record<string, any>} paths of the endpoints, by name
 * @param {Record<string, Function>} handlers ours: mounted at their own path they answer the same
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
      `${hidden} of yours never sees a request: spillway answers ${path} before it. ` +
      `Take it away, or give ours another path, or none: createSpillway({ endpoints: { ${name}: false } }). ` +
      'To guard ours there is `endpoints.allow`.'
    return [[path, sentence]]
  })
}

function hiddenIn(row, path, ours) {
  const route = row.routes.find((each) => isAt(each.path, path) && !isOnly(each.handlers, ours))
  if (route !== undefined) return labelOf(route)
  return row.isMount && row.takes(path) && !row.originals.includes(ours) ? `app.use('${path}')` : undefined
}

const isAt = (template, path) => template.replace(/(.)\/$/, '$1') === path
const isOnly = (handlers, ours) => handlers.length === 1 && handlers[0] === ours

const routesIn = (layout) => layout.flatMap(({ routes }) => routes)

/** How many routes there may be, where some layers cannot be read. */
function mostIn(layout) {
  if (layout.some(({ isOpaque }) => isOpaque)) return Number.POSITIVE_INFINITY
  return layout.reduce((sum, { routes, isMount }) => sum + routes.length + (isMount ? 1 : 0), 0)
}

function shareOf(lost, others) {
  const example = labelOf(lost[0])
  if (lost.length === 1 && others.length === 0) return `the route ${example}`
  const all = lost.length + others.length
  return `${others.length === 0 ? 'all' : `${lost.length} of`} ${all} routes, such as ${example}`
}

/** `app.all()` has no method of its own, or all there are. */
const labelOf = ({ path, methods: [method, second] }) =>
  method === undefined || method === '_all' || second !== undefined ? path : `${method.toUpperCase()} ${path}`

module.exports = { earlyErrorHandler, hiddenRoutes, lateMiddleware, repeatedErrorHandler }
