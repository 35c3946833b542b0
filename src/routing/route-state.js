'use strict'
// The route state of one request while routers route it. It is kept on the response, the one object that every layer
// of every framework receives. The instrumented layers write it, template.js reads it when the response has ended.

const kRouteState = Symbol('spillway.routeState')

class RouteState {
  constructor() {
    /** @type {InstanceType<typeof import('./route-node').RouteNode> | undefined} where in the tree of routes the request is */
    this.node = undefined
    /** The node that an error came from: routers unwind before an outer error handler answers. */
    /** @type {InstanceType<typeof import('./route-node').RouteNode> | undefined} */
    this.errorNode = undefined
    /** The last dispatched Route object of Express. */
    this.route = undefined
    /** How many characters of the URL the outer mounts have taken. */
    this.baseLength = 0
    /** A layer called `next` after it had answered: later layers do not change the route. */
    this.isSettled = false
    /** A body parser rejected the body. */
    this.hasBadBody = false
    /** Koa's context, and the koa-mount prefixes that were entered. */
    this.ctx = undefined
    this.mounts = undefined
  }
}

/** @returns {RouteState | undefined} undefined also for a context without a response, as in koa-websocket */
const routeStateOf = (res) => res?.[kRouteState]

module.exports = { RouteState, kRouteState, routeStateOf }
