'use strict'
// Lets requests enter before the middleware. The first request that reaches the middleware adds a `request`
// listener in front of all others. This listener prepares each later response, before Express slows down
// changes to the response. If the app begins with the middleware and is itself a listener of the server, the
// app's `handle` also decides (docs/decisions/0012).

const { ServerTable } = require('../drain/server-table')
const { isFirstInApp } = require('../route/instrument-router')

/**
 * @import { Server } from 'node:net'
 * @import { AnyFunction, ExpressApp, Handle, Next } from './app-kinds'
 * @import { NodeRequest, NodeResponse } from './entrance'
 */

class EarlyEntry {
  /** Servers whose responses a listener prepares. @type {ServerTable<Server, true>} */
  #servers = new ServerTable()
  /**
   * Apps whose `handle` is replaced, with the original and the replacement.
   * @type {ServerTable<ExpressApp, { handle: Handle, replacement: Handle }>}
   */
  #apps = new ServerTable()
  #prepare
  #decideBefore

  /**
   * @param {{ prepare: (req: NodeRequest, res: NodeResponse) => void, decideBefore: (app: ExpressApp,
   *   handle: Handle) => Handle }} parts decideBefore: makes a function that decides and then calls `handle`
   */
  constructor({ prepare, decideBefore }) {
    this.#prepare = prepare
    this.#decideBefore = decideBefore
  }

  /**
   * Called for each request that reaches the middleware unprepared.
   *
   * @param {Server} server
   * @param {ExpressApp | undefined} app that handles the request, if it is one of Express
   * @param {AnyFunction} middleware
   */
  add(server, app, middleware) {
    if (this.#servers.has(server)) return
    // If the app's `handle` is replaced although the request is unprepared, another app or a listener called
    // the app.
    const isReplaceable =
      app !== undefined && !this.#apps.has(app) && isFirstInApp(app, new Set([middleware]))
    if (isReplaceable && server.listeners('request').includes(app)) return this.#replaceHandle(app)
    this.#servers.set(server, true)
    server.prependListener('request', this.#prepare)
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
    for (const [server] of this.#servers) server.off('request', this.#prepare)
    this.#servers.clear()
    // A replacement that other code has wrapped stays. After close() the replacement only passes requests on.
    for (const [app, { handle, replacement }] of this.#apps)
      if (app.handle === replacement) app.handle = handle
    this.#apps.clear()
  }
}

exports.EarlyEntry = EarlyEntry
