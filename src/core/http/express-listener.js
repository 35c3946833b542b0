'use strict'
// The Express app of a server, which is one of its `request` listeners. If no code of the user precedes
// spillway's middleware, spillway adds to a request what Express adds before the first middleware. So the
// user's `classify`, `key`, `deadline.of`, `headers` and `ignore` can be called before Express runs.

const { isFirstInApp, queryOf } = require('../route/instrument-router')
const { isExpressApp } = require('./app-kinds')

/**
 * @import { Server } from 'node:net'
 * @import { AnyFunction, ExpressApp, Next } from './app-kinds'
 * @import { NodeRequest, NodeResponse } from './entrance'
 *
 * @typedef {NodeRequest & { app?: ExpressApp, res?: NodeResponse, originalUrl?: string, baseUrl?: string,
 *   params?: object, next?: Next | undefined }} ExpressRequest
 * @typedef {ExpressRequest & { app: ExpressApp }} AppRequest in a middleware of Express
 */

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

exports.RequestListeners = RequestListeners
exports.becomeExpressRequest = becomeExpressRequest
