'use strict'
// The route state of one request while routers route it. It is kept on the response, the one object that every layer
// of every framework receives. The instrumented layers write it, template.js reads it when the response has ended.

/** @import { RouteNode } from './route-node' */

/** On a response: its first request, which is its route state. */
const kRouteState = Symbol('spillway.routeState')

/**
 * The fields of a request that the layers write.
 *
 * @typedef {object} RouteState
 * @property {RouteNode | undefined} node where in the tree of routes the request is
 * @property {RouteNode | undefined} errorNode the node that an error came from:
 *   routers unwind before an outer error handler answers
 * @property {any} route the last dispatched Route object of Express
 * @property {number} baseLength how many characters of the URL the outer mounts have taken
 * @property {boolean} isSettled a layer called `next` after it had answered: later layers do not change the route
 * @property {boolean} hasBadBody a body parser rejected the body
 * @property {boolean} [isLongPoll] a client of Socket.IO waits for messages
 * @property {any} ctx Koa's context
 * @property {any} mounts the koa-mount prefixes that were entered
 */

/** @returns {RouteState | undefined} undefined also for a context without a response, as in koa-websocket */
const routeStateOf = (res) => res?.[kRouteState]

module.exports = { kRouteState, routeStateOf }
