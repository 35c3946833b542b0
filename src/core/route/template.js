'use strict'
// The route template of a request, read once, when its response has ended. The template is undefined if no
// route and no mount took the request. The route table then names it. A request that failed or was answered
// before routing gets a label in parentheses, which no template has.

const { koaTemplate } = require('./koa')
const { NAMED, ROOT } = require('./route-node')
const { urlPath } = require('../url-path')
const { undispatchedRoute } = require('./instrument-router')

/**
 * @import { RoutedContext } from './koa'
 * @import { RouteNode } from './route-node'
 * @import { RoutedRequest, RouteState } from './route-state'
 * @typedef {RouteState & { req: RoutedRequest }} RoutedState
 */

/** A body parser rejected the body. */
const BAD_BODY = '(bad body)'
/** Socket.IO, or another package on Engine.IO, answered. */
const SOCKET_IO = '(socket.io)'
/** A client of Socket.IO waited for messages, in a session that was open. */
const SOCKET_IO_POLL = '(socket.io poll)'
/** A middleware such as `cors()` answered a preflight of a browser, before any route. */
const PREFLIGHT = '(preflight)'
/** The connection was handed to another protocol, such as a WebSocket. */
const UPGRADE = '(upgrade)'
/** The label of a middleware at the root. */
const AT_ROOT = '/'

const OWN_ROUTES = Object.freeze([BAD_BODY, PREFLIGHT, SOCKET_IO, SOCKET_IO_POLL, UPGRADE])
const ENGINE_QUERY = /[?&]EIO=\d/

/** @param {RoutedState} routeState @param {number} status */
function templateOf(routeState, status) {
  if (routeState.isLongPoll) return SOCKET_IO_POLL
  const template = frameworkTemplate(routeState, status)
  if (template !== undefined && template !== AT_ROOT) return template
  return isPreflight(routeState.req) ? PREFLIGHT : (template ?? ownRoute(routeState))
}

/** @param {RoutedRequest} req */
const isPreflight = ({ headers, method }) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

/** @param {RoutedState} routeState */
function ownRoute({ hasBadBody, req }) {
  if (hasBadBody) return BAD_BODY
  return isOfEngine(req) ? SOCKET_IO : undefined
}

/** @param {RoutedState} routeState @param {number} status */
function frameworkTemplate(routeState, status) {
  if (routeState.ctx !== undefined && routeState.node?.base !== NAMED)
    return koaTemplate(/** @type {RoutedState & { ctx: RoutedContext }} */ (routeState), status)
  if (routeState.node !== undefined)
    return expressTemplate(/** @type {RoutedState & { node: RouteNode }} */ (routeState), status)
  if (typeof routeState.req.getRoute === 'function')
    return restifyTemplate(/** @type {Required<RoutedRequest>} */ (routeState.req))
  return undefined
}

/**
 * The template is undefined in `pre`, for 404 and 405, and for rejected requests.
 *
 * @param {Required<RoutedRequest>} req
 */
function restifyTemplate(req) {
  const path = req.getRoute()?.path
  return path === undefined ? undefined : String(path)
}

/** Engine.IO sets `_query` on every request that it answers. @param {RoutedRequest} req */
const isOfEngine = (req) => req._query?.EIO !== undefined

/** The label of an upgrade, before any listener has taken the connection. @param {RoutedRequest} req */
const upgradeTemplate = ({ url }) => (ENGINE_QUERY.test(/** @type {string} */ (url)) ? SOCKET_IO : UPGRADE)

/** @param {RoutedState & { node: RouteNode }} routeState @param {number} status */
function expressTemplate(routeState, status) {
  const node = routeState.errorNode ?? routeState.node
  if (node.isRoute) return node.label
  if (routeState.hasBadBody) return undefined
  const { req } = routeState
  const failed =
    routeState.errorNode === undefined && !routeState.isSettled
      ? undispatchedRoute(routeState, req)
      : undefined
  if (failed !== undefined) return node.route(failed).label
  return node === ROOT && isUnmatched(req, status) ? undefined : node.label
}

/** Whether not even a middleware at the root answered. @param {RoutedRequest} req @param {number} status */
function isUnmatched(req, status) {
  // Includes the app's own not-found page.
  if (status === 404) return true
  // Express restores `baseUrl` when a request leaves the app without an answer, and also with an error.
  if (status < 400) return req.baseUrl === undefined
  return req.originalUrl === undefined || isMalformed(req.originalUrl)
}

/** The first route with a parameter throws for a URL that cannot be decoded. @param {string} url */
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
