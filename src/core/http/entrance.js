'use strict'
// Enters each request of a server before the framework: endpoints first, then admission. `attach` replaces
// `server.emit`, so that listeners keep their order. `wrap` does the same before the server exists.
// early-entry.js enters the requests of an app that has the middleware.
//
// What Node itself does between a server and its listener is in node-defaults.js.

const { RUN } = require('../gate/decision')
const { WeakTable } = require('../weak-table')
const { IGNORE_SHED } = require('../request/ignore')
const { ROOT } = require('../route/route-node')
const { instrumentApp } = require('../route/instrument-router')
const { isExpressApp } = require('./app-kinds')
const { ConnectionEvents } = require('./connection-events')
const { EarlyEntry, RequestListeners, becomeExpressRequest } = require('./early-entry')
const { captureRejection, continueByDefault } = require('./node-defaults')
const { notAListener } = require('./wrong-framework')

/**
 * @import { IncomingMessage, ServerResponse } from 'node:http'
 * @import { ServerHttp2Stream } from 'node:http2'
 * @import { Server } from 'node:net'
 * @import { ServerSocket } from '../servers/connections'
 * @import { KnownServers } from '../servers/known-servers'
 * @import { Failures } from '../errors/failures'
 * @import { AsyncContext, Emit, Listener } from '../request/async-context'
 * @import { Admission } from '../gate/admission'
 * @import { RequestLog } from '../log/request-log'
 * @import { Recorder } from '../request/recorder'
 * @import { RequestRecord } from '../request/request-record'
 * @import { AnyFunction, ExpressApp, Handle } from './app-kinds'
 * @import { Endpoints } from './endpoints'
 * @import { ExpressRequest } from './early-entry'
 *
 * @typedef {IncomingMessage & { socket: ServerSocket, stream?: ServerHttp2Stream, upgrade?: boolean }}
 *   NodeRequest of HTTP/1 or HTTP/2
 * @typedef {ServerResponse & { stream?: ServerHttp2Stream }} NodeResponse
 * @typedef {(this: RequestRecord) => void} RunQueued
 * @typedef {RequestRecord | typeof HANDLED | typeof PASSED_ON} Entered
 */

/** Events of a request with a response. @type {Set<string | symbol>} */
const REQUESTS = new Set(['request', 'checkContinue', 'checkExpectation'])
/** Events that hand the connection of a request to another protocol. @type {Set<string | symbol>} */
const HANDOVERS = new Set(['upgrade', 'connect'])
/**
 * Events of invalid HTTP. A listener of `clientError` would turn off Node's own answer, so `emit` is observed
 * instead.
 *
 * @type {Set<string | symbol>}
 */
const CLIENT_ERRORS = new Set(['clientError', 'sessionError'])

/** Results of entering: the request is answered or queued, or it is passed on to the application. */
const HANDLED = Symbol('handled')
const PASSED_ON = Symbol('passed on')

/**
 * Runs a dequeued request, with the event it arrived by.
 *
 * @param {Server} server
 * @param {Emit} emit
 * @param {string | symbol} event
 */
function runQueuedBy(server, emit, event) {
  /** @this {RequestRecord} */
  return function runQueued() {
    emit.call(server, event, this.req, this.res)
  }
}

class Entrance {
  /**
   * After close() a middleware still in use passes requests on and answers the endpoints, but measures
   * nothing.
   */
  isClosed = false
  connectionEvents
  #hasMiddleware = false
  #ignoresByFunction
  /**
   * The middlewares that were created. Each can decide in place of the server. They are held weakly, because
   * an app may create any number of them.
   *
   * @type {WeakSet<AnyFunction>}
   */
  #middlewares = new WeakSet()
  #recorder
  #endpoints
  /** @type {WeakTable<Server, { emit: Emit, spillwayEmit: Emit }>} */
  #attached = new WeakTable()
  #openIfNew
  #earlyEntry
  #admission
  #context
  /** @type {ExpressApp | undefined} */
  #seenApp

  /**
   * @param {{ recorder: Recorder, endpoints: Endpoints, admission: Admission, failures: Failures,
   *   requestLog: RequestLog, knownServers: KnownServers, context: AsyncContext }} deps
   */
  constructor({ recorder, endpoints, admission, failures, requestLog, knownServers, context }) {
    this.#recorder = recorder
    this.#ignoresByFunction = recorder.ignoresByFunction
    this.#endpoints = endpoints
    this.#admission = admission
    this.connectionEvents = new ConnectionEvents({ admission, knownServers })
    this.#context = context
    this.#openIfNew = (/** @type {NodeRequest} */ req, /** @type {NodeResponse} */ res) => {
      if (recorder.find(res) === undefined) recorder.open(req, res)
    }
    // Hot path, once a request (bench/overhead).
    recorder.tellOfEnds((request) => {
      if (request.failure !== undefined) failures.onEnd(request)
      if (requestLog.logsAll || request.durationMs > requestLog.slow.thresholdMs) requestLog.onEnd(request)
      admission.release(request, recorder.endedMs, request.endedIdleMs)
    })
    const decideBefore = (/** @type {ExpressApp} */ app, /** @type {Handle} */ handle) =>
      this.#wrapListener(handle.bind(app), app, true)
    this.#earlyEntry = new EarlyEntry({ openIfNew: this.#openIfNew, decideBefore })
  }

  /** @param {Server} server */
  isAttached(server) {
    return this.#attached.has(server)
  }

  /** @param {Server} server */
  attach(server) {
    if (this.#attached.has(server)) return
    const entrance = this
    const { connectionEvents } = this
    const emit = /** @type {Emit} */ (server.emit)
    const context = this.#context
    const emitInContext = context.wrapEmit(emit)
    const runQueuedByEvent = new Map(
      [...REQUESTS].map((event) => [event, runQueuedBy(server, emitInContext, event)])
    )
    const listeners = new RequestListeners(server)
    const runQueuedRequest = runQueuedByEvent.get('request')
    /**
     * @param {string | symbol} event
     * @param {NodeRequest} req
     * @param {NodeResponse} res
     * @param {RunQueued} runQueued
     */
    const enterApp = (event, req, res, runQueued) => {
      if (entrance.isClosed) return PASSED_ON
      if (listeners.count !== server.listenerCount('request')) listeners.update()
      const asks = entrance.#admission.hasUserHooks || entrance.#ignoresByFunction
      const isAppFirst = asks && listeners.isAppFirst(event)
      return entrance.#enterAndDecide(req, res, listeners.app, runQueued, isAppFirst)
    }
    /** @this {unknown} @param {string | symbol} event @param {NodeRequest} req @param {NodeResponse} res */
    const spillwayEmit = function (event, req, res) {
      // Hot path: `request` is compared first and without `arguments` (saves 0.2 of 1.6 µs).
      const isRequest = event === 'request'
      if (isRequest || REQUESTS.has(event)) {
        const entered = enterApp(
          event,
          req,
          res,
          /** @type {RunQueued} */ (isRequest ? runQueuedRequest : runQueuedByEvent.get(event))
        )
        if (entered === HANDLED) return true
        if (entered === PASSED_ON) return emitInContext.call(this, event, req, res)
        const isEntered = !context.isOn || context.enter(entered)
        const emitted = isEntered
          ? emit.call(this, event, req, res)
          : context.run(entered, emit, this, [event, req, res])
        entrance.#recorder.timeParts.onReturn(entered)
        return emitted
      }
      if (connectionEvents.has(event)) connectionEvents.onEvent(event, server)
      else if (!entrance.isClosed) entrance.#onOtherEvent(server, event, req, res)
      return emit.apply(this, /** @type {IArguments & Parameters<Emit>} */ (arguments))
    }
    server.emit = /** @type {Server['emit']} */ (spillwayEmit)
    // Node emits the event only if there is a listener. A rejected request is then answered before its body
    // is sent. The listener is prepended, because a `once` listener of the user is removed before the next
    // listener is called.
    server.prependListener('checkContinue', continueByDefault)
    this.#attached.set(server, { emit, spillwayEmit })
    connectionEvents.attach(server)
  }

  /** @param {Server} server @param {string | symbol} event @param {unknown} first @param {unknown} second */
  #onOtherEvent(server, event, first, second) {
    if (HANDOVERS.has(event))
      this.#onHandover(/** @type {NodeRequest} */ (first), /** @type {NodeResponse} */ (second))
    else if (event === 'timeout') this.connectionEvents.onTimeout(server, /** @type {ServerSocket} */ (first))
    else if (CLIENT_ERRORS.has(event)) {
      const error = /** @type {NodeJS.ErrnoException} */ (first)
      this.connectionEvents.onClientError(error, /** @type {ServerSocket} */ (second))
    }
  }

  /** @param {Listener} listener */
  wrap(listener) {
    if (typeof listener !== 'function') throw notAListener(listener)
    return this.#wrapListener(listener, isExpressApp(listener) ? listener : undefined, false)
  }

  /**
   * @param {Listener} listener
   * @param {ExpressApp | undefined} app of the listener, if it is one of Express
   * @param {boolean} hasMiddleware whether a middleware follows. The middleware calls the user's `allow`,
   *   which expects Express's request
   */
  #wrapListener(listener, app, hasMiddleware) {
    const entrance = this
    const context = this.#context
    const listenInContext = context.wrapListener(listener)
    /** @this {RequestRecord} */
    const runQueued = function () {
      const { req, res, socket } = this
      const server = socket?.server
      captureRejection(
        server,
        /** @type {PromiseLike<unknown> | undefined} */ (listenInContext.call(server, req, res)),
        req,
        res
      )
    }
    /** @this {unknown} @param {NodeRequest} req @param {NodeResponse} res */
    return function spillwayListener(req, res) {
      if (entrance.isClosed) return listenInContext.call(this, req, res)
      if (!hasMiddleware) entrance.connectionEvents.watch(req.socket?.server, req)
      /** @type {Entered} */
      let entered = PASSED_ON
      if (hasMiddleware && entrance.#endpoints.callsAllow(req)) entrance.#openIfNew(req, res)
      else entered = entrance.#enterAndDecide(req, res, app, runQueued, true)
      if (entered === HANDLED) return
      if (entered === PASSED_ON) return listenInContext.call(this, req, res)
      const isEntered = !context.isOn || context.enter(entered)
      const returned = isEntered
        ? listener.call(this, req, res)
        : context.run(entered, listener, this, [req, res])
      entrance.#recorder.timeParts.onReturn(entered)
      return returned
    }
  }

  /**
   * Called when a request reaches the middleware without having entered. From then on, requests of this
   * server enter before the middleware.
   *
   * @param {Server | undefined} server
   * @param {ExpressRequest} req
   * @param {AnyFunction} middleware
   */
  enterEarly(server, req, middleware) {
    if (server === undefined || this.isClosed) return
    this.#earlyEntry.add(server, isExpressApp(req.app) ? req.app : undefined, middleware)
    this.connectionEvents.watch(server, req)
  }

  /**
   * CONNECT over HTTP/2 has a response: Node's 405 if nobody listens, else a tunnel. The gate does not decide
   * about CONNECT.
   * @param {NodeRequest} req @param {NodeResponse} res
   */
  #onHandover(req, res) {
    if (req.stream === undefined) return this.#recorder.upgrade(req)
    const request = this.#recorder.find(res) ?? this.#recorder.open(req, res)
    if (request.isCounted) return
    this.#recorder.count(request)
    if (!request.hasAnswer) request.markRunning()
  }

  // Hot path, once a request (bench/overhead).
  /**
   * Creates the record of a request if it has none. Answers our endpoints, and counts the request.
   *
   * @param {NodeRequest} req
   * @param {NodeResponse} res
   * @param {RequestRecord | undefined} request its record, if there is one
   * @param {ExpressApp} [app] that handles it next, whose request a function of the user expects
   * @returns {Entered} HANDLED if it is answered; PASSED_ON if it is not measured
   */
  enter(req, res, request, app) {
    if (request === undefined) {
      if (this.isClosed) return this.#endpoints.serve(req, res) ? HANDLED : PASSED_ON
      this.connectionEvents.watch(req.socket?.server, req)
      if (this.#recorder.countRoutedUpgrade(req, res)) return PASSED_ON
      request = /** @type {RequestRecord} */ (this.#recorder.open(req, res))
    }
    if (request.isCounted) return request
    if (this.#endpoints.serve(req, res)) return HANDLED
    if (this.#ignoresByFunction && app !== undefined) becomeExpressRequest(app, this.#middlewares, req, res)
    this.#recorder.count(request)
    return request
  }

  // Hot path, once a request (bench/overhead).
  /**
   * @param {NodeRequest} req
   * @param {NodeResponse} res
   * @param {ExpressApp | undefined} app
   * @param {RunQueued} runQueued
   * @param {boolean} isAppFirst whether no other listener precedes the app; only asked if functions of the
   *   user are called
   * @returns {Entered} the request, if it runs now; HANDLED if it is answered or queued; PASSED_ON if
   *   it is not decided here
   */
  #enterAndDecide(req, res, app, runQueued, isAppFirst) {
    let request = this.#recorder.find(res)
    if (request?.isCounted) {
      // With `attach` around `wrap`, only the inner listener knows the app.
      if (app !== undefined) this.#startRouting(request, app)
      return PASSED_ON
    }
    request ??= this.#recorder.open(req, res)
    if (this.enter(req, res, request, isAppFirst ? app : undefined) === HANDLED) return HANDLED
    request.ticket.runQueued = runQueued
    if (app !== undefined) this.#startRouting(request, app)
    if (this.#recorder.sessions?.ownsRequest(req)) return this.#decideInSession(request)
    if (this.#admission.hasUserHooks && this.#leavesToMiddleware(req, res, isAppFirst ? app : undefined))
      return PASSED_ON
    return this.#admission.decide(request, request.startedMs) === RUN ? request : HANDLED
  }

  /**
   * A session was admitted when it began, so its requests bypass the gate. A GET is a long poll, which waits
   * for messages.
   *
   * @param {RequestRecord} request
   */
  #decideInSession(request) {
    request.first.isLongPoll = request.isLongPoll = request.req.method === 'GET'
    request.ignores |= IGNORE_SHED
    this.#admission.decide(request, request.startedMs)
    return request
  }

  /**
   * Whether the middleware decides in place of the server. The user's functions expect the framework's
   * request, with the properties that earlier code of the user has set. If no such code comes first, the
   * request becomes one of Express here.
   * @param {NodeRequest} req @param {NodeResponse} res @param {ExpressApp | undefined} app
   */
  #leavesToMiddleware(req, res, app) {
    if (!this.#hasMiddleware) return false
    if (this.#admission.answersInFramework || app === undefined) return true
    return !becomeExpressRequest(app, this.#middlewares, req, res)
  }

  /** @param {AnyFunction} middleware */
  addMiddleware(middleware) {
    this.#hasMiddleware = true
    this.#middlewares.add(middleware)
  }

  /** @param {RequestRecord} request @param {ExpressApp} app */
  #startRouting(request, app) {
    request.first.node ??= ROOT
    // Done once, because an instrumented router finds new layers when it is entered.
    if (app !== this.#seenApp && instrumentApp(app)) this.#seenApp = app
  }

  close() {
    this.isClosed = true
    this.#earlyEntry.close()
    this.connectionEvents.close()
    for (const [server, { emit, spillwayEmit }] of this.#attached) {
      server.off('checkContinue', continueByDefault)
      // Other code has wrapped this `emit`, so it stays, and only passes events on.
      if (server.emit !== spillwayEmit) continue
      delete (/** @type {Partial<Server>} */ (server).emit)
      if (server.emit !== emit) server.emit = /** @type {Server['emit']} */ (emit)
    }
    this.#attached.clear()
  }
}

exports.Entrance = Entrance
exports.HANDLED = HANDLED
exports.PASSED_ON = PASSED_ON
