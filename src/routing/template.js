'use strict'
// Which route template was it? Asked once, when the answer has ended. Undefined means: no route and no mount took
// the request; what that is called is the route table's business. What failed or was answered before any route could be
// found has a label of its own, which is in parentheses, as no template is.

const { koaTemplate } = require('./koa')
const { ROOT } = require('./route-node')
const { urlPath } = require('../url-path')
const { unseenRoute } = require('./instrument-router')

/** A body parser refused the body. */
const BAD_BODY = '(bad body)'
/** Socket.IO, or another user of Engine.IO, has answered. */
const SOCKET_IO = '(socket.io)'
const OWN_ROUTES = Object.freeze([BAD_BODY, SOCKET_IO])
const ENGINE_QUERY = /[?&]EIO=\d/

/** @param {InstanceType<typeof import('./route-state').Trail> & { req: any }} trail */
function templateOf(trail, status) {
  return frameworkTemplate(trail, status) ?? ownRoute(trail)
}

function ownRoute({ hasBadBody, req }) {
  if (hasBadBody) return BAD_BODY
  return isOfEngine(req) ? SOCKET_IO : undefined
}

function frameworkTemplate(trail, status) {
  if (trail.ctx !== undefined) return koaTemplate(trail, status)
  if (trail.place !== undefined) return expressTemplate(trail, status)
  if (typeof trail.req.getRoute === 'function') return restifyTemplate(trail.req)
  return undefined
}

/** None in `pre`, on 404, on 405, or where the gate has rejected. */
function restifyTemplate(req) {
  const path = req.getRoute()?.path
  return path === undefined ? undefined : String(path)
}

/** Engine.IO leaves the query of every request that it takes on it. */
const isOfEngine = (req) => req._query?.EIO !== undefined

/** Of a connection that is handed over, before anybody has taken it. @returns {string | undefined} */
const upgradeTemplate = ({ url }) => (ENGINE_QUERY.test(url) ? SOCKET_IO : undefined)

function expressTemplate(trail, status) {
  const place = trail.origin ?? trail.place
  if (place.isRoute) return place.label
  if (trail.hasBadBody) return undefined
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

module.exports = { OWN_ROUTES, templateOf, upgradeTemplate }
