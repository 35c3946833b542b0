'use strict'
// Lets requests enter before an Express app gets them.
//
// `EarlyEntry` lets them enter before the middleware. The first request that reaches the middleware adds a
// `request` listener in front of all others. This listener opens the record of each later request, before
// Express slows down changes to the response. If the app begins with the middleware and is itself a listener
// of the server, the app's `handle` also decides (docs/decisions/0012).
//
// `RequestListeners` finds the app of a server. If no code of the user precedes spillway's middleware,
// `becomeExpressRequest` adds to a request what Express adds before the first middleware. So the user's
// `classify`, `key`, `deadline.of`, `headers` and `ignore` can be called before Express runs.

const { WeakTable } = require('../weak-table')
const { isFirstInApp, queryOf } = require('../route/instrument-router')
const { isExpressApp } = require('./app-kinds')

/**
 * @import { Server } from 'node:net'
 * @import { AnyFunction, ExpressApp, Handle, Next } from './app-kinds'
 * @import { NodeRequest, NodeResponse } from './entrance'
 *
 * @typedef {NodeRequest & { app?: ExpressApp, res?: NodeResponse, originalUrl?: string, baseUrl?: string,
 *   params?: object, next?: Next | undefined }} ExpressRequest
 * @typedef {ExpressRequest & { app: ExpressApp }} AppRequest in a middleware of Express
 */

class EarlyEntry {
  /** Servers with a listener that opens records. @type {WeakTable<Server, true>} */
  #servers = new WeakTable()
  /**
   * Apps whose `handle` is replaced, with the original and the replacement.
   * @type {WeakTable<ExpressApp, { handle: Handle, replacement: Handle }>}
   */
  #apps = new WeakTable()
  #openIfNew
  #decideBefore

  /**
   * @param {{ openIfNew: (req: NodeRequest, res: NodeResponse) => void, decideBefore: (app: ExpressApp,
   *   handle: Handle) => Handle }} deps decideBefore: makes a function that decides and then calls `handle`
   */
  constructor({ openIfNew, decideBefore }) {
    this.#openIfNew = openIfNew
    this.#decideBefore = decideBefore
  }

  /**
   * Called for each request that reaches the middleware without a record.
   *
   * @param {Server} server
   * @param {ExpressApp | undefined} app that handles the request, if it is one of Express
   * @param {AnyFunction} middleware
   */
  add(server, app, middleware) {
    if (this.#servers.has(server)) return
    // If the app's `handle` is replaced although the request has no record, another app or a listener called
    // the app.
    const isReplaceable =
      app !== undefined && !this.#apps.has(app) && isFirstInApp(app, new Set([middleware]))
    if (isReplaceable && server.listeners('request').includes(app)) return this.#replaceHandle(app)
    this.#servers.set(server, true)
    server.prependListener('request', this.#openIfNew)
  }

  /** @param {ExpressApp} app */
  #replaceHandle(app) {
    const { handle } = app
    const decide = this.#decideBefore(app, handle)
    /** @this {unknown} @param {NodeRequest} req @param {NodeResponse} res @param {Next} [next] */
    const replacement = function spillwayHandle(req, res, next) {
      // A server does not pass `next`, but another app does. An upgraded request has no response to decide
      // about.
      if (next !== undefined || req.upgrade === true)
        return handle.apply(this, /** @type {IArguments & Parameters<Handle>} */ (arguments))
      return decide(req, res)
    }
    app.handle = replacement
    this.#apps.set(app, { handle, replacement })
  }

  close() {
    for (const [server] of this.#servers) server.off('request', this.#openIfNew)
    this.#servers.clear()
    // A replacement that other code has wrapped stays. After close() the replacement only passes requests on.
    for (const [app, { handle, replacement }] of this.#apps)
      if (app.handle === replacement) app.handle = handle
    this.#apps.clear()
  }
}

/** The `request` listeners of a server. An Express app may be among them. */
class RequestListeners {
  /**
   * The Express app. The app is kept, because Socket.IO takes the listeners off the server and calls them
   * from its own listener.
   *
   * @type {ExpressApp | undefined}
   */
  app
  /** The number of listeners at the last update. */
  count = -1
  #server
  #isFirst = false

  /** @param {Server} server */
  constructor(server) {
    this.#server = server
    this.update()
  }

  /**
   * Called if the number of listeners has changed. `listeners()` makes a copy. Copying and searching took 1 %
   * of a Koa request.
   */
  update() {
    const listeners = this.#server.listeners('request')
    this.count = listeners.length
    this.app ??= listeners.find(isExpressApp)
    if (listeners.includes(/** @type {ExpressApp} */ (this.app))) this.#isFirst = listeners[0] === this.app
  }

  /**
   * Whether no listener of the user precedes the app, at a request that arrived by this event.
   *
   * @param {string | symbol} event
   */
  isAppFirst(event) {
    if (event === 'request') return this.#isFirst
    // One listener of `checkContinue` is spillway's own. Any other listener is code of the user.
    return event === 'checkContinue' && this.#isFirst && this.#server.listenerCount(event) === 1
  }
}

const noNext = () => {}

/**
 * @param {ExpressApp} app a listener of the server
 * @param {Pick<WeakSet<AnyFunction>, 'has'>} middlewares made by this instance
 * @param {ExpressRequest} req
 * @param {NodeResponse} res
 * @returns {boolean} whether the request is as the user's functions expect it
 */
function becomeExpressRequest(app, middlewares, req, res) {
  // An HTTP/2 request has no prototype of Express.
  if (req.stream !== undefined || !isFirstInApp(app, middlewares)) return false
  if (Object.getPrototypeOf(req) === app.request) return true
  try {
    // The properties that Express adds are set before the prototype, because on Node 20 a later property
    // costs 2.5 µs.
    req.res = res
    req.originalUrl ??= /** @type {string} */ (req.url)
    req.baseUrl ??= ''
    req.params ??= {}
    req.next ??= undefined
    queryOf(app)?.(req, res, noNext)
    Object.setPrototypeOf(req, app.request)
    return true
  } catch {
    // The user's query parser has thrown. It throws again in Express, where the error has a handler.
    return false
  }
}

exports.EarlyEntry = EarlyEntry
exports.RequestListeners = RequestListeners
exports.becomeExpressRequest = becomeExpressRequest
