'use strict'
// The route state of one request while routers route it. It is kept on the response, the one object that
// every layer of every framework receives. The instrumented layers write it, template.js reads it when the
// response has ended.

/**
 * @import { IncomingMessage, ServerResponse } from 'node:http'
 * @import { ServerHttp2Stream } from 'node:http2'
 * @import { RequestRecord } from '../request/request-record'
 * @import { ExpressRoute } from './instrument-router'
 * @import { Mount, RoutedContext } from './koa'
 * @import { RouteNode } from './route-node'
 */

/** Property of a response that holds the first record made for it. This record has the route state. */
const kRouteState = Symbol('spillway.routeState')

/**
 * Node's request and response, of HTTP/1 and HTTP/2, with what frameworks put on them.
 *
 * @typedef {ServerHttp2Stream & { errored: NodeJS.ErrnoException | null, [kRouteState]?: RequestRecord }}
 *   RoutedStream
 * @typedef {ServerResponse & { stream?: RoutedStream, _header?: string, [kRouteState]?: RequestRecord }}
 *   RoutedResponse
 * @typedef {IncomingMessage & { stream?: RoutedStream, upgrade?: boolean, baseUrl?: string,
 *   originalUrl?: string, route?: ExpressRoute, getRoute?: () => { path?: string | RegExp } | undefined,
 *   _query?: { EIO?: string } }} RoutedRequest
 */

/**
 * The fields of a request that the layers write.
 *
 * @typedef {object} RouteState
 * @property {RouteNode | undefined} node where in the tree of routes the request is
 * @property {RouteNode | undefined} errorNode the node that an error came from:
 *   routers unwind before an outer error handler answers
 * @property {ExpressRoute | undefined} route the last dispatched Route object of Express
 * @property {number} baseLength how many characters of the URL the outer mounts have taken
 * @property {boolean} isSettled a layer called `next` after it had answered: later layers do not change the
 *   route
 * @property {boolean} hasBadBody a body parser rejected the body
 * @property {boolean} [isLongPoll] a client of Socket.IO waits for messages
 * @property {RoutedContext | undefined} ctx Koa's context
 * @property {Mount[] | undefined} mounts the koa-mount prefixes that were entered
 */

/**
 * @param {RoutedResponse | null | undefined} res undefined for a context of koa-websocket
 * @returns {RouteState | undefined}
 */
const routeStateOf = (res) => res?.[kRouteState]

module.exports = /** @type {const} */ ({ kRouteState, routeStateOf })
