'use strict'
// Composition root: builds the parts, hands them to each other, starts and closes them. No decision is taken here.

const cluster = require('node:cluster')
const { EventEmitter } = require('node:events')
const { catchAsync } = require('./adapters/async-errors')
const { createErrorHandler } = require('./adapters/errors')
const { createExpressMiddleware } = require('./adapters/express')
const { createKoaMiddleware } = require('./adapters/koa')
const { requireNoArguments } = require('./adapters/misuse')
const { Servers } = require('./adapters/server')
const { Admission } = require('./admission/admission')
const { systemClock } = require('./clock')
const { SpillwayError } = require('./errors')
const { Endpoints, jsonHandler, streamHandler } = require('./exposition/endpoints')
const { takeInstant } = require('./exposition/instant')
const { loggerFrom } = require('./exposition/logger')
const { Prometheus } = require('./exposition/prometheus')
const { takeSnapshot } = require('./exposition/snapshot')
const { Failures } = require('./failures/failures')
const { Orphans } = require('./failures/orphans')
const { Lifecycle } = require('./lifecycle/lifecycle')
const { resolveMember, resolveOptions, updateOptions } = require('./options')
const { Faults } = require('./recording/faults')
const { Recorder } = require('./recording/recorder')
const { GarbageCollection } = require('./signals/garbage-collection')
const { HeapTrend } = require('./signals/heap-trend')
const { LoopDelay } = require('./signals/loop-delay')
const { Memory, sampleLimits, sampleMemory } = require('./signals/memory')
const { TurnClock } = require('./signals/turn-clock')
const { Utilization } = require('./signals/utilization')

/** The exit code of Node itself, where an error was caught by nobody. */
const FAILURE = 1

class Spillway {
  /** @type {import('../index.js').Spillway['health']} */
  health
  #parts
  #options
  #events = new EventEmitter()
  #handlers
  #servers
  #lifecycle
  #turnClock
  #prometheus
  #admission
  #orphans
  #isClosed = false

  /**
   * @param {import('../index.js').SpillwayOptions} [given]
   * @param {typeof systemClock} [clock] for tests
   */
  constructor(given, clock = systemClock) {
    const options = resolveOptions(given)
    const logger = loggerFrom(options.logger)
    const faults = new Faults(logger)
    this.#options = options
    const recorder = new Recorder(options, clock, faults)
    const heapTrend = new HeapTrend(clock.now())
    const signals = {
      heapTrend,
      loopDelay: new LoopDelay(clock.now()),
      utilization: new Utilization(clock),
      collections: new GarbageCollection((bytes) => heapTrend.note(clock.now(), bytes)),
      memory: new Memory(),
    }
    const warn = (fields, message) => faults.guard('logger', () => logger.warn(fields, message))
    const tell = (event, details) => {
      warn({ event, ...details }, `spillway: ${event}`)
      faults.guard(`on ${event}`, () => this.#events.emit(event, details))
    }
    const admission = new Admission({
      clock,
      faults,
      options: options.shed,
      // A worker is not told the policy of its primary; where it accepts itself, half a millisecond is lost a drain.
      isHandedOver: /** @type {any} */ (cluster).isWorker,
      sampleMemory: () => sampleMemory(signals),
      tell,
    })
    const lifecycle = new Lifecycle({
      clock,
      recorder,
      options,
      tell,
      warn,
      close: () => this.#close(),
      sampleMemory: () => sampleLimits(signals),
    })
    this.#lifecycle = lifecycle
    this.health = Object.freeze({
      check: (name, ask, given) => lifecycle.health.addCheck(name, ask, resolveMember('health.check', given)),
    })
    const failures = new Failures({ options, clock, logger, faults, recorder })
    const leave = (reason) => lifecycle.leave(FAILURE, reason)
    this.#orphans = new Orphans({ clock, faults, log: failures.log, recorder, options, leave, warn })
    const { processErrors } = this.#orphans
    const { context } = processErrors
    const parts = { admission, clock, context, failures, faults, options, processErrors, recorder, signals }
    const takeOurInstant = (spare) => takeInstant(this.#parts, spare)
    this.#prometheus = new Prometheus({ ...options, clock, faults, takeInstant: takeOurInstant })
    this.#handlers = {
      metrics: streamHandler(this.#prometheus, faults),
      live: jsonHandler(() => lifecycle.health.live()),
      ready: jsonHandler(() => lifecycle.health.ready()),
    }
    recorder.onEnd = (request, series) => {
      if (request.failure !== undefined) failures.onEnd(request)
      admission.release(request, series)
    }
    this.#admission = admission
    const endpoints = new Endpoints(options.endpoints, this.#handlers)
    this.#servers = new Servers({ recorder, endpoints, admission, known: lifecycle.servers, context })
    this.#parts = { ...parts, endpoints, servers: this.#servers, startedAtMs: clock.now() }
    this.#turnClock = new TurnClock(clock)
    this.#start(signals)
  }

  #start({ collections, loopDelay, utilization }) {
    this.#turnClock.onTurn((busyMs, nowMs, idleMs) => {
      this.#admission.onTurn(busyMs, nowMs, idleMs)
      loopDelay.record(busyMs, nowMs)
      utilization.onTurn(nowMs)
      this.#lifecycle.recycle.onTurn(nowMs)
    })
    collections.start()
    this.#orphans.start()
    this.#turnClock.start()
  }

  express() {
    requireNoArguments('express', arguments.length)
    return createExpressMiddleware(this.#parts)
  }

  koa() {
    requireNoArguments('koa', arguments.length)
    return createKoaMiddleware(this.#parts)
  }

  errorHandler() {
    requireNoArguments('errorHandler', arguments.length)
    return createErrorHandler(this.#parts)
  }

  /**
   * @template Express
   * @param {Express} express
   * @returns {Express}
   */
  catchAsync(express) {
    return catchAsync(express)
  }

  /**
   * @template {import('../index.js').AttachableServer} Server
   * @param {Server} server
   * @param {import('../index.js').AttachOptions} [given]
   * @returns {Server}
   */
  attach(server, given) {
    const { signals } = resolveMember('attach', given)
    this.#servers.attach(server)
    if (signals) this.#lifecycle.heed(server)
    return server
  }

  wrap(listener) {
    return this.#servers.wrap(listener)
  }

  /**
   * @param {import('../index.js').HandlerName} name
   * @returns {import('../index.js').Handler}
   */
  handler(name) {
    if (Object.hasOwn(this.#handlers, name)) return this.#handlers[name]
    throw new SpillwayError(
      'ERR_SPILLWAY_UNKNOWN_HANDLER',
      `There is no handler '${String(name)}'. There are: ${Object.keys(this.#handlers).join(', ')}.`
    )
  }

  /** @param {{ shed: import('../index.js').ShedOptions }} given */
  update(given) {
    this.#options = updateOptions(this.#options, given)
    this.#admission.update(this.#options.shed)
  }

  on(event, listener) {
    requireEvent(event)
    this.#events.on(event, listener)
  }

  off(event, listener) {
    requireEvent(event)
    this.#events.off(event, listener)
  }

  snapshot() {
    return takeSnapshot(this.#parts, takeInstant(this.#parts))
  }

  ready() {
    this.#lifecycle.health.markReady()
  }

  /**
   * @param {import('../index.js').DrainOptions} [given]
   * @returns {Promise<import('../index.js').DrainReport>}
   */
  drain(given) {
    return this.#lifecycle.drain(resolveMember('drain', given, this.#options.drain), 'drain')
  }

  /** During a drain it comes of itself, when what is in flight has its answer. */
  close() {
    if (!this.#lifecycle.isDraining) this.#close()
  }

  #close() {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#orphans.close()
    this.#lifecycle.close()
    this.#admission.close()
    this.#servers.close()
    this.#turnClock.close()
    this.#prometheus.close()
    this.#parts.signals.collections.close()
  }
}

const EVENTS = ['overload', 'recovered', 'degraded', 'draining']

function requireEvent(event) {
  if (EVENTS.includes(event)) return
  throw new SpillwayError(
    'ERR_SPILLWAY_UNKNOWN_EVENT',
    `There is no event '${String(event)}'. There are: ${EVENTS.join(', ')}.`
  )
}

// Node 20 knows Symbol.dispose; the check is for what runs this without it.
if (Symbol.dispose !== undefined) Spillway.prototype[Symbol.dispose] = Spillway.prototype.close

module.exports = { Spillway }
