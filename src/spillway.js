'use strict'
// Composition root: builds the parts, hands them to each other, starts and closes them. No decision is taken here.

const { createExpressMiddleware } = require('./adapters/express')
const { createKoaMiddleware } = require('./adapters/koa')
const { requireNoArguments } = require('./adapters/misuse')
const { Servers } = require('./adapters/server')
const { systemClock } = require('./clock')
const { SpillwayError } = require('./errors')
const { Endpoints, jsonHandler, streamHandler } = require('./exposition/endpoints')
const { takeInstant } = require('./exposition/instant')
const { loggerFrom } = require('./exposition/logger')
const { Prometheus } = require('./exposition/prometheus')
const { takeSnapshot } = require('./exposition/snapshot')
const { Health } = require('./lifecycle/health')
const { resolveOptions } = require('./options')
const { Faults } = require('./recording/faults')
const { Recorder } = require('./recording/recorder')
const { GarbageCollection } = require('./signals/garbage-collection')
const { LoopDelay } = require('./signals/loop-delay')
const { Memory } = require('./signals/memory')
const { TurnClock } = require('./signals/turn-clock')
const { Utilization } = require('./signals/utilization')

class Spillway {
  #parts
  #handlers
  #servers
  #health = new Health()
  #turnClock
  #prometheus
  #isClosed = false

  /**
   * @param {import('../index.js').SpillwayOptions} [given]
   * @param {typeof systemClock} [clock] for tests
   */
  constructor(given, clock = systemClock) {
    const options = resolveOptions(given)
    const faults = new Faults(loggerFrom(options.logger))
    const recorder = new Recorder(options, clock, faults)
    const signals = {
      loopDelay: new LoopDelay(clock.now()),
      utilization: new Utilization(clock),
      collections: new GarbageCollection(),
      memory: new Memory(),
    }
    const parts = { clock, faults, recorder, signals, startedAtMs: clock.now() }
    const takeOurInstant = (spare) => takeInstant(parts, spare)
    this.#prometheus = new Prometheus({ ...options, clock, faults, takeInstant: takeOurInstant })
    this.#handlers = {
      metrics: streamHandler(this.#prometheus, faults),
      live: jsonHandler(() => this.#health.live()),
      ready: jsonHandler(() => this.#health.ready()),
    }
    const endpoints = new Endpoints(options.endpoints, this.#handlers)
    this.#servers = new Servers({ recorder, endpoints })
    this.#parts = { ...parts, endpoints, servers: this.#servers }
    this.#turnClock = new TurnClock(clock)
    this.#start(signals)
  }

  #start({ collections, loopDelay, utilization }) {
    this.#turnClock.onTurn((busyMs, nowMs) => {
      loopDelay.record(busyMs, nowMs)
      utilization.onTurn(nowMs)
    })
    collections.start()
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

  /**
   * @template {import('../index.js').AttachableServer} Server
   * @param {Server} server
   * @returns {Server}
   */
  attach(server) {
    return this.#servers.attach(server)
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

  snapshot() {
    return takeSnapshot(this.#parts, takeInstant(this.#parts))
  }

  close() {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#health.close()
    this.#servers.close()
    this.#turnClock.close()
    this.#prometheus.close()
    this.#parts.signals.collections.close()
  }
}

// Node 20 knows Symbol.dispose; the check is for what runs this without it.
if (Symbol.dispose !== undefined) Spillway.prototype[Symbol.dispose] = Spillway.prototype.close

module.exports = { Spillway }
