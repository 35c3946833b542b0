'use strict'
// Which route template was it? Asked once, when the answer has ended. Undefined means: no route and no mount took
// the request; what that is called is the route table's business.

const { koaTemplate } = require('./koa')
const { ROOT } = require('./place')
const { restifyTemplate } = require('./restify')
const { unseenRoute } = require('./weave')

/** @param {import('./trail').Trail & { req: any }} trail */
function templateOf(trail, status) {
  if (trail.ctx !== undefined) return koaTemplate(trail, status)
  if (trail.place !== undefined) return expressTemplate(trail, status)
  if (typeof trail.req.getRoute === 'function') return restifyTemplate(trail.req)
  return undefined
}

function expressTemplate(trail, status) {
  const place = trail.origin ?? trail.place
  if (place.isRoute) return place.label
  const { req } = trail
  // Express takes `baseUrl` back when a request leaves the app unanswered, and a middleware at the root that
  // answers 404 is the app's own not-found page.
  const isLost = place === ROOT && (req.baseUrl === undefined || status === 404)
  const failed =
    trail.origin === undefined && !(isLost && status === 404) ? unseenRoute(trail, req) : undefined
  if (failed !== undefined) return place.route(failed).label
  return isLost ? undefined : place.label
}

module.exports = { templateOf }
