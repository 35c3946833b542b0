'use strict'
// Lets requests enter before the middleware. The first request that reaches it sets this up for the requests to come:
// a `request` listener in front of all others prepares the response, before Express slows down changes to it.
// If the app begins with the middleware and is itself a listener of the server, its `handle` also decides: docs/decisions/0012.

const { ServerTable } = require('../drain/server-table')
const { isFirstInApp } = require('../route/instrument-router')

/** @typedef {(req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse, next?: Function) => void} Handle */

class EarlyEntry {
  /** Servers whose responses a listener prepares. */
  #servers = new ServerTable()
  /** Apps whose `handle` is replaced, with the original and the replacement. */
  #apps = new ServerTable()
  #prepare
  #decideBefore

  /**
   * @param {{ prepare: (req: any, res: any) => void, decideBefore: (app: any, handle: Handle) => Handle }} parts
   *   decideBefore: makes a function that decides, then calls `handle`
   */
  constructor({ prepare, decideBefore }) {
    this.#prepare = prepare
    this.#decideBefore = decideBefore
  }

  /**
   * Called for each request that reaches the middleware unprepared.
   * @param {any} app the Express app that handles the request, if any
   */
  add(server, app, middleware) {
    if (this.#servers.has(server)) return
    // An unprepared request although the app's `handle` is replaced: another app or a listener called the app.
    const isReplaceable =
      app !== undefined && !this.#apps.has(app) && isFirstInApp(app, new Set([middleware]))
    if (isReplaceable && server.listeners('request').includes(app)) return this.#replaceHandle(app)
    this.#servers.set(server, true)
    server.prependListener('request', this.#prepare)
  }

  #replaceHandle(app) {
    const { handle } = app
    const decide = this.#decideBefore(app, handle)
    /** @this {unknown} */
    const replacement = function spillwayHandle(req, res, next) {
      // A server passes no `next`, another app does. An upgraded request has no response to decide about.
      if (next !== undefined || req.upgrade === true)
        return handle.apply(this, /** @type {any} */ (arguments))
      return decide(req, res)
    }
    app.handle = replacement
    this.#apps.set(app, { handle, replacement })
  }

  close() {
    for (const [server] of this.#servers) server.off('request', this.#prepare)
    this.#servers.clear()
    // A replacement that other code has wrapped stays: after close() it only passes requests on.
    for (const [app, { handle, replacement }] of this.#apps)
      if (app.handle === replacement) app.handle = handle
    this.#apps.clear()
  }
}

exports.EarlyEntry = EarlyEntry
