'use strict'
// The public members of an instance. Each checks its arguments and calls the part that does the work.

const { serverIn } = require('./core/http/attachable')
const { requireNoArguments } = require('./core/http/wrong-framework')
const { CallPlace } = require('./core/call-place')
const { systemClock } = require('./core/clock')
const { SpillwayError } = require('./core/errors/errors')
const { Instance } = require('./instance')
const { doubtsOf } = require('./core/options/doubtful-units')
const { DEFAULTS, TEST_DEFAULTS, resolveMember, resolveOptions } = require('./core/options/options')

const OBSERVED_IN_TEST =
  "spillway: rejects no request under a test runner; `shed: { mode: 'adaptive' }` does, to test your 503s"

class Spillway {
  /** @type {import('../index.js').Spillway['health']} */
  health
  #defaults
  #instance

  /**
   * @param {import('../index.js').SpillwayOptions} [given]
   * @param {typeof systemClock} [clock] for tests
   * @param {CallPlace} [place] of the user's call
   * @param {import('./core/options/options').Defaults} [defaults]
   */
  constructor(given, clock = systemClock, place = new CallPlace(Spillway), defaults = DEFAULTS) {
    const options = resolveOptions(given, defaults)
    this.#defaults = defaults
    this.#instance = new Instance(options, clock, place)
    if (defaults === TEST_DEFAULTS && given?.shed?.mode === undefined)
      this.#instance.debug({ event: 'observedInTest' }, OBSERVED_IN_TEST)
    for (const group of Object.keys(options)) this.#warnOf(doubtsOf(group, options[group]), () => place)
    const { health } = this.#instance.lifecycle
    const addCheck = (name, check, given) =>
      health.addCheck(name, check, this.#memberOptions('health.check', given, addCheck))
    this.health = Object.freeze({ check: addCheck })
  }

  /** Resolves the options with which a member was called. */
  #memberOptions(name, given, member, defaults = undefined) {
    const options = resolveMember(name, given, defaults)
    this.#warnOf(doubtsOf(name, given), () => new CallPlace(member))
    return options
  }

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

  /** Four parameters: Express then takes the factory for an error handler if it was not called, and it can report that. */
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
   * @template {import('../index.js').AttachableServer | import('../index.js').ServerHolder} Server
   * @param {Server} server
   * @param {import('../index.js').AttachOptions} [given]
   * @returns {Server}
   */
  attach(server, given) {
    const { signals } = resolveMember('attach', given)
    const inner = serverIn(server)
    this.#instance.features.onMount()
    this.#instance.servers.attach(inner)
    this.#instance.setUp.listen()
    if (signals) this.#instance.lifecycle.listenForSignals(inner)
    return server
  }

  wrap(listener) {
    this.#instance.features.onMount()
    return this.#instance.servers.wrap(listener)
  }

  /**
   * @param {import('../index.js').HandlerName} name
   * @returns {import('../index.js').Handler}
   */
  handler(name) {
    if (Object.hasOwn(this.#instance.handlers, name)) return this.#instance.handlers[name]
    throw new SpillwayError(
      'ERR_SPILLWAY_UNKNOWN_HANDLER',
      `There is no handler '${String(name)}'. There are: ${Object.keys(this.#instance.handlers).join(', ')}.`
    )
  }

  /**
   * @param {import('../index.js').SocketIoServer | import('../index.js').WebSocketServer} given
   * @param {import('../index.js').SocketsOptions} [options]
   * @returns {import('../index.js').SocketsHandle}
   */
  sockets(given, options) {
    return this.#instance.features.use('sockets').add(given, resolveMember('sockets', options))
  }

  /** @param {{ shed: import('../index.js').ShedOptions }} given */
  update(given) {
    this.#instance.update(given, this.#defaults)
    this.#warnOf(doubtsOf('shed', given.shed), () => new CallPlace(Spillway.prototype.update))
  }

  on(event, listener) {
    this.#instance.events.on(event, listener)
  }

  off(event, listener) {
    this.#instance.events.off(event, listener)
  }

  /** @returns {import('../index.js').Snapshot} */
  snapshot() {
    return this.#instance.snapshot()
  }

  /** @returns {import('../index.js').Diagnosis} */
  diagnose() {
    return this.#instance.features.use('doctor').diagnose()
  }

  /**
   * @param {import('../index.js').ListenOptions} [given]
   * @returns {Promise<import('../index.js').AdminAddress>}
   */
  listen(given) {
    return this.#instance.listen(this.#memberOptions('listen', given, Spillway.prototype.listen))
  }

  /** @returns {Promise<import('../index.js').FleetSnapshot>} */
  fleetSnapshot() {
    return this.#instance.features.use('fleet').snapshot()
  }

  /** @returns {import('../index.js').MetricProducer} */
  metricProducer() {
    return this.#instance.features.use('opentelemetry').producer()
  }

  /**
   * @param {string} name
   * @param {import('../index.js').ObservablePool} pool
   * @param {import('../index.js').PoolOptions} [given]
   * @returns {import('../index.js').PoolHandle}
   */
  pool(name, pool, given) {
    const options = this.#memberOptions('pool', given, Spillway.prototype.pool)
    return Object.freeze({ close: this.#instance.features.use('pools').add(name, pool, options) })
  }

  ready() {
    this.#instance.lifecycle.health.markReady()
  }

  /**
   * @param {import('../index.js').DrainOptions} [given]
   * @returns {Promise<import('../index.js').DrainReport>}
   */
  drain(given) {
    const { drain } = Spillway.prototype
    const options = this.#memberOptions('drain', given, drain, this.#instance.options.drain)
    return this.#instance.lifecycle.drain(options, 'drain')
  }

  /** A drain closes the instance by itself, once the requests in flight have ended. */
  close() {
    if (!this.#instance.lifecycle.isDraining) this.#instance.close()
  }
}

// Node 20 has Symbol.dispose; other runtimes may not.
if (Symbol.dispose !== undefined) Spillway.prototype[Symbol.dispose] = Spillway.prototype.close

exports.Spillway = Spillway
