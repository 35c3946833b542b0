'use strict'
// The public members of an instance. Each checks its arguments and calls the part that does the work.

const { serverIn } = require('./core/http/app-kinds')
const { requireLimitCall, requireNoArguments } = require('./core/http/wrong-framework')
const { CallPlace } = require('./core/call-place')
const { systemClock } = require('./core/clock')
const { SpillwayError } = require('./core/errors/errors')
const { Instance } = require('./instance')
const { requireHeld } = require('./core/request/request-holder')
const { doubtsOf } = require('./core/options/doubtful-units')
const { DEFAULTS, TEST_DEFAULTS, resolveMember, resolveOptions } = require('./core/options/options')

/**
 * @import { AdminAddress, AgentAddress, AgentOptions, AttachOptions } from '../index.js'
 * @import { AttachableServer, Diagnosis, DrainOptions, DrainReport } from '../index.js'
 * @import { FleetSnapshot, Handler, HandlerName, HealthChecks, HttpListener } from '../index.js'
 * @import { LimitMiddleware, LimitOptions, ListenOptions, MetricProducer, ObservablePool } from '../index.js'
 * @import { PoolHandle, PoolOptions, RequestHolder, ResolvedOptions, ServerHolder } from '../index.js'
 * @import { ShedOptions, Snapshot, SocketIoServer, SocketsHandle, SocketsOptions } from '../index.js'
 * @import { SpillwayEvents, SpillwayOptions, WebSocketServer, WrappedListener } from '../index.js'
 * @import { Clock } from './core/clock'
 * @import { Defaults, Group, MemberOptions } from './core/options/options'
 * @import { Started } from './feature-list'
 */

const OBSERVED_IN_TEST =
  "spillway: rejects no request under a test runner; to test your 503s, write `shed: { mode: 'adaptive' }`"

class Spillway {
  /** @type {import('../index.js').Spillway['health']} */
  health
  #defaults
  #instance
  /** Set at the first use of `pressure` or `shouldDegrade()`. @type {Started['pressure'] | undefined} */
  #pressure

  /**
   * @param {SpillwayOptions} [given]
   * @param {Clock} [clock] for tests
   * @param {CallPlace} [place] of the user's call
   * @param {Defaults} [defaults]
   */
  constructor(given, clock = systemClock, place = new CallPlace(Spillway), defaults = DEFAULTS) {
    const options = resolveOptions(given, defaults)
    this.#defaults = defaults
    this.#instance = new Instance(options, clock, place)
    if (defaults === TEST_DEFAULTS && given?.shed?.mode === undefined)
      this.#instance.debug({ event: 'observedInTest' }, OBSERVED_IN_TEST)
    for (const group of /** @type {(keyof ResolvedOptions)[]} */ (Object.keys(options)))
      this.#warnOf(doubtsOf(group, options[group]), () => place)
    const { health } = this.#instance.lifecycle
    /** @type {HealthChecks['check']} */
    const addCheck = (name, check, given) =>
      health.addCheck(name, check, this.#memberOptions('health.check', given, addCheck))
    this.health = Object.freeze({ check: addCheck })
  }

  /**
   * Resolves the options of a member's call.
   *
   * @template {keyof MemberOptions} Member
   * @param {Member} name
   * @param {object | undefined} given
   * @param {Function} member
   * @param {Group} [defaults]
   */
  #memberOptions(name, given, member, defaults = undefined) {
    const options = resolveMember(name, given, defaults)
    this.#warnOf(doubtsOf(name, given), () => new CallPlace(member))
    return options
  }

  /** @param {[option: string, sentence: string][]} doubts @param {() => CallPlace} placeOf */
  #warnOf(doubts, placeOf) {
    for (const [option, sentence] of doubts)
      this.#instance.notices.warn('doubtful-unit', placeOf(), sentence, option)
  }

  express() {
    requireNoArguments('express', arguments)
    this.#instance.features.onMount()
    const place = new CallPlace(Spillway.prototype.express)
    const { createExpressMiddleware } = require('./core/http/express')
    return this.#instance.setUp.addMiddleware(createExpressMiddleware(this.#instance), place)
  }

  koa() {
    requireNoArguments('koa', arguments)
    this.#instance.features.onMount()
    const place = new CallPlace(Spillway.prototype.koa)
    const { createKoaMiddleware } = require('./core/http/koa')
    return this.#instance.setUp.addMiddleware(createKoaMiddleware(this.#instance), place)
  }

  /**
   * Has four parameters, as an error handler of Express has. If a user forgets to call this factory, Express
   * calls it with an error, and the factory reports the mistake.
   *
   * @param {never} [_error]
   * @param {never} [_req]
   * @param {never} [_res]
   * @param {never} [_next]
   */
  errorHandler(_error, _req, _res, _next) {
    requireNoArguments('errorHandler', arguments)
    const place = new CallPlace(Spillway.prototype.errorHandler)
    const { createErrorHandler } = require('./core/http/error-handlers')
    return this.#instance.setUp.addErrorHandler(createErrorHandler(this.#instance), place)
  }

  /**
   * @template Express
   * @param {Express} express
   * @returns {Express}
   */
  catchAsync(express) {
    const { catchAsync } = require('./core/http/async-errors')
    return catchAsync(express)
  }

  /**
   * @template {AttachableServer | ServerHolder} Server
   * @param {Server} server
   * @param {AttachOptions} [given]
   * @returns {Server}
   */
  attach(server, given) {
    const { behindProxy, signals } = resolveMember('attach', given)
    const inner = serverIn(server)
    if (behindProxy) this.#instance.keepConnections(inner)
    this.#instance.features.onMount()
    this.#instance.entrance.attach(inner)
    this.#instance.setUp.listen()
    if (signals) this.#instance.lifecycle.listenForSignals(inner)
    return server
  }

  /**
   * @template {HttpListener} Listener
   * @param {Listener} listener
   * @returns {WrappedListener<Listener>}
   */
  wrap(listener) {
    this.#instance.features.onMount()
    return /** @type {WrappedListener<Listener>} */ (this.#instance.entrance.wrap(listener))
  }

  /**
   * @param {HandlerName} name
   * @returns {Handler}
   */
  handler(name) {
    if (Object.hasOwn(this.#instance.handlers, name)) return this.#instance.handlers[name]
    throw new SpillwayError(
      'ERR_SPILLWAY_UNKNOWN_HANDLER',
      `Unknown handler '${String(name)}'. Known handlers: ${Object.keys(this.#instance.handlers).join(', ')}.`
    )
  }

  /**
   * @param {SocketIoServer | WebSocketServer} given
   * @param {SocketsOptions} [options]
   * @returns {SocketsHandle}
   */
  sockets(given, options) {
    return this.#instance.features.use('sockets').add(given, resolveMember('sockets', options))
  }

  /** @param {{ shed: ShedOptions }} given */
  update(given) {
    this.#instance.update(given, this.#defaults)
    this.#warnOf(doubtsOf('shed', given.shed), () => new CallPlace(Spillway.prototype.update))
  }

  /**
   * @template {keyof SpillwayEvents} Event
   * @param {Event} event
   * @param {(details: SpillwayEvents[Event]) => void} listener
   */
  on(event, listener) {
    this.#instance.on(event, listener, Spillway.prototype.on)
  }

  /**
   * @template {keyof SpillwayEvents} Event
   * @param {Event} event
   * @param {(details: SpillwayEvents[Event]) => void} listener
   */
  off(event, listener) {
    this.#instance.events.off(event, listener)
  }

  /** @returns {Snapshot} */
  snapshot() {
    return this.#instance.snapshot()
  }

  /** @returns {Diagnosis} */
  diagnose() {
    return this.#instance.features.use('doctor').diagnose()
  }

  /**
   * @param {ListenOptions} [given]
   * @returns {Promise<AdminAddress>}
   */
  listen(given) {
    return this.#instance.listen(this.#memberOptions('listen', given, Spillway.prototype.listen))
  }

  /** @returns {Promise<FleetSnapshot>} */
  fleetSnapshot() {
    return this.#instance.features.use('fleet').snapshot()
  }

  /** @returns {MetricProducer} */
  metricProducer() {
    const producer = this.#instance.features.use('opentelemetry').producer()
    // The constants of the protocol have the type `number` here, and literal types in index.d.ts.
    return /** @type {MetricProducer} */ (/** @type {unknown} */ (producer))
  }

  /**
   * @overload
   * @param {string} name
   * @param {ObservablePool} pool
   * @param {PoolOptions} [options]
   * @returns {PoolHandle}
   *
   * @overload
   * @param {object} pool
   * @param {PoolOptions} [options]
   * @returns {PoolHandle}
   *
   * @param {string | ObservablePool} name
   * @param {ObservablePool | PoolOptions} [pool]
   * @param {PoolOptions} [given]
   * @returns {PoolHandle}
   */
  pool(name, pool, given) {
    const isNamed = Object(name) !== name
    const options = this.#memberOptions('pool', isNamed ? given : pool, Spillway.prototype.pool)
    const pools = this.#instance.features.use('pools')
    return Object.freeze({
      close: isNamed ? pools.add(name, pool, options) : pools.add(undefined, name, options),
    })
  }

  /**
   * @param {LimitOptions} given
   * @returns {LimitMiddleware}
   */
  limit(given) {
    requireLimitCall(arguments)
    return this.#instance.features
      .use('bulkheads')
      .add(this.#memberOptions('limit', given, Spillway.prototype.limit))
  }

  /** @returns {number} */
  get pressure() {
    return (this.#pressure ??= this.#instance.features.use('pressure')).ratio
  }

  /**
   * @param {RequestHolder} given
   * @returns {boolean}
   */
  shouldDegrade(given) {
    return (this.#pressure ??= this.#instance.features.use('pressure')).shouldDegrade(given)
  }

  /**
   * @param {AgentOptions} [given]
   * @returns {Promise<AgentAddress>}
   */
  agent(given) {
    const options = this.#memberOptions('agent', given, Spillway.prototype.agent)
    const listening = this.#instance.features.use('balancer').listen(options)
    return this.#instance.logUnheard(listening, 'the agent', options)
  }

  /** @param {RequestHolder} given */
  remaining(given) {
    const { req } = requireHeld(given, 'remaining')
    return this.#instance.startedFeatures.deadlines?.remaining(req) ?? Number.POSITIVE_INFINITY
  }

  /**
   * @param {RequestHolder} given
   * @returns {AbortSignal}
   */
  signal(given) {
    return this.#instance.features.use('abort-signals').of(given)
  }

  /**
   * @param {RequestHolder} given
   * @param {string | undefined} name
   */
  nameRoute(given, name) {
    const { nameRoute } = require('./core/route/named-route')
    nameRoute(requireHeld(given, 'nameRoute').res, name)
  }

  /**
   * @param {unknown} error
   * @param {RequestHolder} given
   */
  recordError(error, given) {
    const { req, res } = requireHeld(given, 'recordError')
    this.#instance.failures.record(error, req, res)
  }

  ready() {
    this.#instance.lifecycle.health.markReady()
  }

  /**
   * @param {DrainOptions} [given]
   * @returns {Promise<DrainReport>}
   */
  drain(given) {
    const { drain } = Spillway.prototype
    const options = this.#memberOptions('drain', given, drain, this.#instance.options.drain)
    return this.#instance.lifecycle.drain(options, 'drain')
  }

  /**
   * During a drain, this does nothing: the drain closes the instance once the requests in flight have ended.
   */
  close() {
    if (!this.#instance.lifecycle.isDraining) this.#instance.close()
  }
}

// Node 20 has Symbol.dispose; other runtimes may not.
if (Symbol.dispose !== undefined)
  /** @type {Spillway & Partial<Disposable>} */ (Spillway.prototype)[Symbol.dispose] =
    Spillway.prototype.close

exports.Spillway = Spillway
