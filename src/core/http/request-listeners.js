'use strict'
// Finds the Express app among the `request` listeners of an attached server, and whether code of the user precedes the app.

const { isExpressApp } = require('./app-kinds')

/**
 * @import { Server } from 'node:net'
 * @import { ExpressApp } from './app-kinds'
 */

class RequestListeners {
  /** The Express app. It stays, because Socket.IO takes the listeners off the server and calls them from its own listener. @type {ExpressApp | undefined} */
  app
  /** How many there were at the last update. */
  count = -1
  #server
  #isFirst = false

  /** @param {Server} server */
  constructor(server) {
    this.#server = server
    this.update()
  }

  /** Called if their number has changed. `listeners()` makes a copy: copying and searching it took 1 % of a Koa request. */
  update() {
    const listeners = this.#server.listeners('request')
    this.count = listeners.length
    this.app ??= listeners.find(isExpressApp)
    if (listeners.includes(/** @type {ExpressApp} */ (this.app))) this.#isFirst = listeners[0] === this.app
  }

  /** Whether no listener of the user precedes the app, at a request that arrived by this event. @param {string | symbol} event */
  isAppFirst(event) {
    if (event === 'request') return this.#isFirst
    // One listener of `checkContinue` is spillway's own. Any other one is code of the user.
    return event === 'checkContinue' && this.#isFirst && this.#server.listenerCount(event) === 1
  }
}

exports.RequestListeners = RequestListeners
