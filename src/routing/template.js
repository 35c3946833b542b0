'use strict'
// Which route template was it? Asked once, when the answer has ended. Undefined means: no route and no mount took
// the request; what that is called is the route table's business.

const { koaTemplate } = require('./koa')
const { ROOT } = require('./place')
const { restifyTemplate } = require('./restify')
const { urlPath } = require('./url-path')
const { unseenRoute } = require('./weave')

/** @param {InstanceType<typeof import('./trail').Trail> & { req: any }} trail */
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
  const failed = trail.origin === undefined && !trail.isSettled ? unseenRoute(trail, req) : undefined
  if (failed !== undefined) return place.route(failed).label
  return place === ROOT && isUnmatched(req, status) ? undefined : place.label
}

/** At the root: whether it was nothing that answered, and not a middleware. */
function isUnmatched(req, status) {
  // Also the app's own not-found page.
  if (status === 404) return true
  // Express takes `baseUrl` back when a request leaves the app unanswered, and with an error too.
  if (status < 400) return req.baseUrl === undefined
  return req.originalUrl === undefined || isMalformed(req.originalUrl)
}

/** The first route with a parameter in its place refuses such a URL. */
function isMalformed(url) {
  const path = urlPath(url)
  if (!path.includes('%')) return false
  try {
    decodeURIComponent(path)
    return false
  } catch {
    return true
  }
}

module.exports = { templateOf }
