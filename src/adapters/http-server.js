'use strict'
// The server itself, before any framework spends a microsecond: `attach` wraps its `emit`, so that listeners may come
// and go and their order stays; `wrap` does the same to a listener whose server does not exist yet, as does what stands
// before an app that begins with our middleware (first-middleware.js).

const cluster = require('node:cluster')
const events = require('node:events')
const tls = require('node:tls')
const { RUN } = require('../admission/verdict')
const { ServerTable } = require('../lifecycle/server-table')
const { ROOT } = require('../routing/route-node')
const { instrumentApp } = require('../routing/instrument-router')
const { isExpressApp } = require('./app-kinds')
const { notAListener } = require('./wrong-framework')
const { Preparation } = require('./first-middleware')

/** Events that carry a request to answer. */
const REQUESTS = new Set(['request', 'checkContinue', 'checkExpectation'])
/** Those that hand the connection of a request over. */
const HANDOVERS = new Set(['upgrade', 'connect'])
/** What tells of connections: accepted, and for TLS how the handshake ended. */
const CONNECTIONS = new Set(['connection', 'secureConnection', 'tlsClientError'])
/** What came is no HTTP. To listen for the first would turn off Node's own answer to it. */
const CLIENT_ERRORS = new Set(['clientError', 'sessionError'])

/** A worker is not told the policy of its primary. Where that accepts for it, what listens here is only a stand-in. */
const isHandedOver = (server) =>
  /** @type {any} */ (cluster).isWorker && typeof server._handle?.open !== 'function'

const continued = new WeakSet()

/**
 * What Node does itself where nobody listens: once, however many instances are attached, and not at all where the user
 * listens too.
 *
 * @this {any}
 */
function goOn(req, res) {
  if (continued.has(res) || this.listeners('checkContinue').some((each) => each !== goOn)) return
  continued.add(res)
  // Of an HTTP/2 stream that has gone by then Node itself throws, and the process ends.
  if (res.stream?.closed !== true) res.writeContinue()
  this.emit('request', req, res)
}

/** Runs a request that waited, with the event it came by. */
function resumeOf(server, emit, event) {
  /** @this {any} */
  return function resume() {
    emit.call(server, event, this.req, this.res)
  }
}

/** As Node does it for a listener called from its own `emit`, where it is told to. That one is over. */
function captureRejection(server, returned, req, res) {
  const captured = server?.[events.captureRejectionSymbol]
  if (!events.captureRejections || captured === undefined || typeof returned?.then !== 'function') return
  returned.then(undefined, (error) => captured.call(server, error, 'request', req, res))
}

class Servers {
  /** Whether a middleware of ours was made, which can decide as well. */
  hasMiddleware = false
  #recorder
  #endpoints
  #attached = new ServerTable()
  #watched = new ServerTable()
  #prepare
  #preparation
  #admission
  #known
  #context
  #seenApp
  #isClosed = false

  constructor({ recorder, endpoints, admission, known, context }) {
    this.#recorder = recorder
    this.#endpoints = endpoints
    this.#admission = admission
    this.#known = known
    this.#context = context
    this.#prepare = (req, res) => {
      if (recorder.find(res) === undefined) recorder.prepare(req, res)
    }
    const before = (app) => this.#around(app, true)
    this.#preparation = new Preparation({ prepare: this.#prepare, before })
  }

  /** After close() a middleware still in use passes requests on and answers the endpoints, but measures nothing. */
  get isClosed() {
    return this.#isClosed
  }

  isAttached(server) {
    return this.#attached.has(server)
  }

  attach(server) {
    if (this.#attached.has(server)) return
    const servers = this
    const emit = /** @type {(event: string | symbol, ...rest: any[]) => boolean} */ (server.emit)
    const pass = this.#context?.wrap(emit) ?? emit
    const resumes = new Map([...REQUESTS].map((event) => [event, resumeOf(server, pass, event)]))
    // Now, because others take listeners away to call them from their own: Socket.IO does.
    let app = server.listeners('request').find(isExpressApp)
    let listeners = server.listenerCount('request')
    const resumeRequest = resumes.get('request')
    const open = (req, res, resume) => {
      if (servers.#isClosed) return false
      // The list itself is a copy, and the search through it was 1 % of a Koa request.
      if (app === undefined && listeners !== server.listenerCount('request')) {
        listeners = server.listenerCount('request')
        app = server.listeners('request').find(isExpressApp)
      }
      return servers.#open(req, res, app, resume)
    }
    /** @this {unknown} */
    const spillwayEmit = function (event, req, res) {
      // Hot path: no `arguments` and no look-up for the event that comes with every request (0.2 of 1.6 µs).
      if (event === 'request') return open(req, res, resumeRequest) || pass.call(this, event, req, res)
      if (CONNECTIONS.has(event)) servers.#noteConnection(event, server)
      else if (REQUESTS.has(event)) {
        return open(req, res, resumes.get(event)) || pass.call(this, event, req, res)
      } else if (!servers.#isClosed) {
        if (HANDOVERS.has(event)) servers.#handOver(req, res)
        else if (CLIENT_ERRORS.has(event)) servers.#recorder.clientErrors.record(req)
      }
      return emit.apply(this, /** @type {any} */ (arguments))
    }
    server.emit = /** @type {any} */ (spillwayEmit)
    // Node asks only where somebody listens; then a body that is not wanted is never sent.
    // First, for a listener that hears only once is gone when the next is called.
    server.prependListener('checkContinue', goOn)
    this.#attached.set(server, { emit, spillwayEmit })
    this.#watched.set(server, [])
    this.#known.add(server)
  }

  wrap(listener) {
    if (typeof listener !== 'function') throw notAListener(listener)
    return this.#around(listener, false)
  }

  /** @param {boolean} isOfMiddleware which decides itself where functions of the user's are asked: they expect Express's request */
  #around(listener, isOfMiddleware) {
    const app = isExpressApp(listener) ? listener : undefined
    const servers = this
    const pass = this.#context?.wrap(listener) ?? listener
    /** @this {any} */
    const resume = function () {
      const { req, res, socket } = this
      const server = socket?.server
      captureRejection(server, pass.call(server, req, res), req, res)
    }
    /** @this {any} */
    return function spillwayListener(req, res) {
      if (servers.#isClosed) return pass.call(this, req, res)
      if (!isOfMiddleware) servers.meet(req.socket?.server, req)
      if (isOfMiddleware && servers.#asksUser(req)) servers.#prepare(req, res)
      else if (servers.#open(req, res, app, resume)) return
      return pass.call(this, req, res)
    }
  }

  #asksUser(req) {
    return this.#admission.asksUser || this.#endpoints.asksUser(req)
  }

  /** Lets a middleware find the next requests of this server prepared, and where it can be, decided. */
  prepareNext(server, req, middleware) {
    if (server === undefined || this.#isClosed) return
    this.#preparation.tell(server, isExpressApp(req.app) ? req.app : undefined, middleware)
    this.meet(server, req)
  }

  #noteConnection(event, server) {
    const isSecure = server instanceof tls.Server
    this.#admission.noteConnection(event, { isSecure, isHandedOver: isHandedOver(server) })
  }

  /** HTTP/2's CONNECT is a request with an answer: Node's 405 where nobody listens, or a tunnel, let be as an upgrade is. */
  #handOver(req, res) {
    if (req.stream === undefined) return this.#recorder.upgrade(req)
    const request = this.#recorder.find(res) ?? this.#recorder.prepare(req, res)
    if (request.isCounted) return
    this.#recorder.count(request)
    if (!request.hasAnswer) request.markRunning()
  }

  // Hot path: once a request where no server is attached.
  /** A server not given to `attach` is known from its first request on: then listeners of ours tell of its connections. */
  meet(server, req) {
    if (server === undefined || this.#watched.has(server)) return
    this.#known.add(server, req)
    const listeners = new Map()
    for (const event of server instanceof tls.Server ? CONNECTIONS : ['connection']) {
      listeners.set(event, () => this.#noteConnection(event, server))
    }
    this.#watched.set(server, listeners)
    for (const [event, listener] of listeners) server.on(event, listener)
  }

  // Hot path: bench/overhead.js.
  /** @returns {boolean} whether the request is answered, or waits for its turn */
  #open(req, res, app, resume) {
    let request = this.#recorder.find(res)
    if (request?.isCounted) {
      // Attached around what is wrapped: only the inner one is given the app itself.
      if (app !== undefined) this.#place(request, app)
      return false
    }
    request ??= this.#recorder.prepare(req, res)
    if (this.#endpoints.serve(req, res)) return true
    this.#recorder.count(request)
    request.admission.resume = resume
    if (app !== undefined) this.#place(request, app)
    // The user's functions expect the framework's request, and what middlewares have put on it.
    if (this.hasMiddleware && this.#admission.asksUser) return false
    return this.#admission.decide(request, request.startedMs) !== RUN
  }

  #place(request, app) {
    request.head.node ??= ROOT
    // Once: from then on its router looks for what was added when it is entered.
    if (app !== this.#seenApp && instrumentApp(app)) this.#seenApp = app
  }

  close() {
    this.#isClosed = true
    this.#preparation.close()
    for (const [server, listeners] of this.#watched) {
      for (const [event, listener] of listeners) server.off(event, listener)
    }
    this.#watched.clear()
    for (const [server, { emit, spillwayEmit }] of this.#attached) {
      server.off('checkContinue', goOn)
      // Somebody has wrapped ours: taking it out would take theirs too. It only passes events on from now on.
      if (server.emit !== spillwayEmit) continue
      delete server.emit
      if (server.emit !== emit) server.emit = emit
    }
    this.#attached.clear()
  }
}

module.exports = { Servers }
