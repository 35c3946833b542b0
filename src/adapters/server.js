'use strict'
// The server itself, before any framework spends a microsecond: `attach` wraps its `emit`, so that listeners may come
// and go and their order stays; `wrap` does the same to a listener whose server does not exist yet.

const net = require('node:net')
const { ROOT } = require('../routing/place')
const { weaveApp } = require('../routing/weave')
const { notAListener, notAServer } = require('./misuse')

/** Events that carry a request to answer, and those that hand its connection over. */
const REQUESTS = new Set(['request', 'checkContinue', 'checkExpectation'])
const HANDOVERS = new Set(['upgrade', 'connect'])

const isExpressApp = (listener) =>
  typeof listener === 'function' &&
  typeof listener.handle === 'function' &&
  typeof listener.set === 'function'

class Servers {
  #recorder
  #endpoints
  #attached = new Map()
  #prepared = new Set()
  #prepare
  #seenApp
  #isClosed = false

  constructor({ recorder, endpoints }) {
    this.#recorder = recorder
    this.#endpoints = endpoints
    this.#prepare = (req, res) => {
      if (recorder.find(res) === undefined) recorder.prepare(req, res)
    }
  }

  /** After close() a middleware still in use passes requests on and answers the endpoints, but measures nothing. */
  get isClosed() {
    return this.#isClosed
  }

  attach(server) {
    if (!(server instanceof net.Server)) throw notAServer(server)
    if (this.#attached.has(server)) return server
    const servers = this
    const { emit } = server
    // Now, because others take listeners away to call them from their own: Socket.IO does.
    let app = server.listeners('request').find(isExpressApp)
    /** @this {unknown} */
    const spillwayEmit = function (event, req, res) {
      if (REQUESTS.has(event) && !servers.#isClosed) {
        app ??= server.listeners('request').find(isExpressApp)
        if (servers.#open(req, res, app)) return true
      } else if (HANDOVERS.has(event) && !servers.#isClosed) {
        servers.#recorder.upgrade(req)
      }
      return emit.apply(this, /** @type {any} */ (arguments))
    }
    server.emit = /** @type {any} */ (spillwayEmit)
    this.#attached.set(server, { emit, spillwayEmit })
    return server
  }

  wrap(listener) {
    if (typeof listener !== 'function') throw notAListener(listener)
    const app = isExpressApp(listener) ? listener : undefined
    const servers = this
    /** @this {unknown} */
    return function spillwayListener(req, res) {
      if (!servers.#isClosed && servers.#open(req, res, app)) return
      return listener.call(this, req, res)
    }
  }

  /** Lets the middlewares find the next requests of this server prepared. */
  prepareNext(server) {
    if (server === undefined || this.#isClosed || this.#prepared.has(server)) return
    this.#prepared.add(server)
    server.prependListener('request', this.#prepare)
  }

  // Hot path: bench/overhead.js.
  /** @returns {boolean} whether the request is answered already */
  #open(req, res, app) {
    if (this.#recorder.find(res) !== undefined) return false
    const request = this.#recorder.prepare(req, res)
    if (this.#endpoints.serve(req, res)) return true
    this.#recorder.count(request)
    if (app === undefined) return false
    request.head.place ??= ROOT
    // Once: from then on its router looks for what was added when it is entered.
    if (app !== this.#seenApp && weaveApp(app)) this.#seenApp = app
    return false
  }

  close() {
    this.#isClosed = true
    for (const server of this.#prepared) server.off('request', this.#prepare)
    for (const [server, { emit, spillwayEmit }] of this.#attached) {
      // Somebody has wrapped ours: taking it out would take theirs too. It only passes events on from now on.
      if (server.emit !== spillwayEmit) continue
      delete server.emit
      if (server.emit !== emit) server.emit = emit
    }
    this.#prepared.clear()
    this.#attached.clear()
  }
}

module.exports = { Servers }
