'use strict'
// Builds the parts of one instance from its options, connects them, and starts and closes them together. It
// decides nothing about requests, and is not public: users call spillway.js.

const { CallPlace } = require('./core/call-place')
const { Entrance } = require('./core/http/entrance')
const { SetUpCheck } = require('./core/http/setup-check')
const { Admission } = require('./core/gate/admission')
const { Events } = require('./core/events')
const { Features } = require('./core/features')
const { Endpoints, endpointHandlers } = require('./core/http/endpoints')
const { capture } = require('./core/metrics/capture')
const { EVENT_LINES, heapFillingLine, shadowOverloads } = require('./core/log/event-lines')
const { openLog } = require('./core/log/logger')
const { RequestLog } = require('./core/log/request-log')
const { StartLine } = require('./core/log/start-line')
const { Failures } = require('./core/errors/failures')
const { ProcessErrors } = require('./core/errors/process-errors')
const { AsyncContext } = require('./core/request/async-context')
const { Timeouts } = require('./core/errors/timeouts')
const { Lazy } = require('./core/lazy')
const { Lifecycle, openInstances } = require('./core/lifecycle/lifecycle')
const { Notices } = require('./core/notices')
const { updateOptions } = require('./core/options/options')
const { Recorder } = require('./core/request/recorder')
const { UnseenEnds } = require('./core/request/unseen-ends')
const { RequestFields } = require('./core/log/request-fields')
const { SpillwayError } = require('./core/errors/errors')
const { describeError } = require('./core/redaction/error-description')
const { memoryForGate, memoryForRecycling } = require('./core/process/memory')
const { ProcessWarnings } = require('./core/process/process-warnings')
const { createRuntime } = require('./core/process/runtime')
const { TurnClock } = require('./core/process/turn-clock')
const { FEATURES, UNUSED } = require('./feature-list')

/**
 * @import { Server } from 'node:net'
 * @import { ResolvedOptions } from '../index.js'
 * @import { Clock } from './core/clock'
 * @import { Capture } from './core/metrics/capture'
 * @import { Defaults, MemberOptions } from './core/options/options'
 */

/**
 * @typedef {import('./feature-list').Started} Started
 */

const PRESSURE_WITHOUT_STEPS =
  "A listener of 'pressure' is never called without steps. Write createSpillway({ pressure: { steps: [0.7, 0.9] } })."

class Instance {
  /** The metrics for Prometheus. */
  exporter
  #turnClock
  #isClosed = false
  #emit = (/** @type {string} */ event, /** @type {object} */ details) => this.events.emit(event, details)
  /** Functions that restore the timeouts of servers. @type {(() => void)[]} */
  #restores = []

  /**
   * @param {ResolvedOptions} options
   * @param {Clock} clock
   * @param {CallPlace} place where `createSpillway()` was called
   * @param {{ onListen?: (server: Server) => void, isInListen?: boolean }} [registered] `onListen` is called
   *   when a server listens, and replaces the start line. `isInListen`: servers become known during their
   *   `listen()`
   */
  constructor(options, clock, place, { onListen, isInListen } = {}) {
    const { internalErrors, logger, debug, info, warn } = openLog(options.logger, clock)
    this.debug = debug
    this.info = info
    this.warn = warn
    this.events = new Events(EVENT_LINES, { internalErrors, logger })
    this.features = new Features(FEATURES, UNUSED, this)
    /** The features that are on, by name. */
    this.startedFeatures = this.features.started
    this.notices = new Notices(warn)
    this.options = options
    this.clock = clock
    this.startedAtMs = clock.now()
    this.startedAtWallMs = clock.wallMs()
    this.processStartedAtSeconds = Math.round(this.startedAtWallMs / 1000 - process.uptime())
    this.internalErrors = internalErrors
    this.#turnClock = new TurnClock(clock)
    const { measureTurnAlone } = this.#turnClock
    const recorder = new Recorder(options, clock, internalErrors, {
      measureTurnAlone,
      onHttp2: (request) => this.lifecycle.servers.addSession(request),
      hooked: this.features.hooked,
    })
    this.recorder = recorder
    this.runtime = createRuntime(clock, heapFillingLine(warn))
    this.admission = this.#makeAdmission()
    this.lifecycle = this.#makeLifecycle(onListen, isInListen)
    const fields = new RequestFields(options.log)
    const { hooked } = this.features
    this.failures = new Failures({ options, clock, logger, internalErrors, fields, recorder, hooked })
    this.requestLog = new RequestLog({
      clock,
      internalErrors,
      fields,
      logger,
      loopDelay: this.runtime.loopDelay,
      options: options.log,
      recorder,
    })
    this.timeouts = new Timeouts({ clock, internalErrors, recorder, options, warn })
    this.context = new AsyncContext(recorder)
    this.processErrors = new ProcessErrors({
      context: this.context,
      internalErrors,
      log: this.failures.log,
      recorder,
      options,
      // Node exits with 1 after an uncaught error, too.
      exit: (reason) => this.lifecycle.exit(1, reason),
    })
    this.warnings = new ProcessWarnings({ clock, isOn: options.insight.warnings })
    this.exporter = this.#makeExporter()
    /** Handlers of the endpoints for the admin server, and for an application that mounts them itself. */
    this.handlers = this.#makeHandlers(false)
    // Without `allow`, the paths of the application's port answer every client.
    const isPublic = options.endpoints.allow === undefined
    this.endpoints = new Endpoints(options.endpoints, this.#makeHandlers(isPublic), internalErrors)
    this.entrance = this.#makeEntrance()
    this.setUp = this.#makeSetUpCheck(place)
    this.#start(place)
  }

  #makeAdmission() {
    const { clock, info, internalErrors, options, recorder, warn } = this
    return new Admission({
      clock,
      internalErrors,
      options: options.shed,
      sampleMemory: () => memoryForGate(this.runtime),
      connections: () => this.lifecycle.servers,
      onOverloadEvent: this.#emit,
      onShadowOverloadEvent: shadowOverloads({ info, warn }),
      measureTurnAlone: this.#turnClock.measureTurnAlone,
      onReturn: (request, nowMs) => recorder.timeParts.onReturn(request, nowMs),
    })
  }

  /** @param {((server: Server) => void) | undefined} onListen @param {boolean | undefined} isInListen */
  #makeLifecycle(onListen, isInListen) {
    const { clock, info, internalErrors, options, recorder, warn } = this
    const startLine = new StartLine({ info, deps: this })
    return new Lifecycle({
      clock,
      internalErrors,
      recorder,
      options,
      emit: this.#emit,
      warn,
      info,
      close: () => this.close(),
      onListen: onListen ?? ((server) => startLine.write(server)),
      isInListen,
      onDrain: () => this.admission.onDrain(),
      onStopAccepting: () => this.features.onStopAccepting(),
      sampleMemory: () => memoryForRecycling(this.runtime),
    })
  }

  /** @param {boolean} isPublic whether anybody may read the answers */
  #makeHandlers(isPublic) {
    const { exporter, internalErrors, lifecycle } = this
    return endpointHandlers({ health: lifecycle.health, exporter, internalErrors, isPublic })
  }

  #makeExporter() {
    const { capture, clock, internalErrors, options, recorder } = this
    const gather = () => (this.isOfFleet ? this.startedFeatures.fleet?.gather() : undefined)
    const { bounds } = recorder.routes
    const exporter = new Lazy(() => {
      const { Prometheus } = require('./core/metrics/scrape/prometheus')
      const deps = { bounds, clock, internalErrors, capture, gather, families: this.families() }
      return new Prometheus({ ...options, ...deps })
    })
    // With these options, the metrics are registered from the start.
    if (options.registry !== undefined || options.metrics.defaults) exporter.load()
    return exporter
  }

  #makeEntrance() {
    const { admission, context, endpoints, failures, recorder, requestLog } = this
    const { servers: knownServers } = this.lifecycle
    return new Entrance({ recorder, endpoints, admission, failures, requestLog, knownServers, context })
  }

  /** @param {CallPlace} place */
  #makeSetUpCheck(place) {
    const { admission, endpoints, internalErrors, handlers, notices, options, entrance } = this
    const deps = { admission, endpoints, internalErrors, handlers, notices, options, place, entrance }
    return new SetUpCheck(deps)
  }

  /** @param {CallPlace} place */
  #start(place) {
    const { collections } = this.runtime
    this.recorder.timeParts.follow(collections)
    this.features.start()
    listenToTurns(this.#turnClock, this)
    collections.start()
    this.timeouts.start()
    this.processErrors.start()
    this.warnings.start()
    this.#turnClock.start()
    const warning = openInstances.add()
    if (warning !== undefined) this.notices.warn('many-instances', place, warning)
  }

  /** Whether the instance answers for a fleet, and not for its own thread alone. */
  get isOfFleet() {
    return this.startedFeatures.fleet?.isMember === true
  }

  /** Metrics of the core and of all features. */
  families = () => {
    const { FAMILIES } = require('./core/metrics/families')
    return [...FAMILIES, ...this.features.families()]
  }

  /** @param {Capture} [spare] */
  capture = (spare) => capture(this, spare)

  snapshot() {
    const { takeSnapshot } = require('./core/snapshot/snapshot')
    return takeSnapshot(this, capture(this))
  }

  /**
   * @param {string} event
   * @param {(details: never) => void} listener
   * @param {Function} member that the user called
   */
  on(event, listener, member) {
    this.events.on(event, listener)
    if (event === 'pressure' && this.options.pressure.steps === undefined)
      this.notices.warn('pressure-without-steps', new CallPlace(member), PRESSURE_WITHOUT_STEPS)
  }

  /** @param {unknown} given @param {Defaults} defaults */
  update(given, defaults) {
    this.options = updateOptions(this.options, given, defaults)
    this.admission.update(this.options.shed)
    this.features.onUpdate()
  }

  /** @param {MemberOptions['listen']} options */
  openAdmin(options) {
    return this.features.use('admin').listen(options)
  }

  /**
   * If the caller ignores the promise, the error is logged. Otherwise the unhandled rejection would end the
   * process.
   *
   * @param {MemberOptions['listen']} options
   */
  listen(options) {
    return this.logUnheard(this.openAdmin(options), 'the admin server', options)
  }

  /**
   * @template T
   * @param {Promise<T>} listening
   * @param {string} what
   * @param {{ readonly host: string, readonly port: number }} address
   */
  logUnheard(listening, what, { host, port }) {
    listening.catch((/** @type {Error} */ error) => {
      const { code, port: failed = port } = /** @type {NodeJS.ErrnoException & { port?: number }} */ (
        error.cause ?? error
      )
      // An error of ours without a cause says itself what is wrong, such as a second call.
      const isOurs = error instanceof SpillwayError && error.cause === undefined
      const why = isOurs ? `: ${error.message}` : ` on port ${failed} of ${host} (${code})`
      this.warn({ err: describeError(error) }, `spillway: ${what} does not listen${why}`)
    })
    return listening
  }

  /**
   * Keeps idle connections of a server for longer, because only proxies connect to it.
   *
   * @param {object} server
   */
  keepConnections(server) {
    this.#restores.push(require('./core/http/behind-proxy').setTimeouts(server))
  }

  close() {
    if (this.#isClosed) return
    this.#isClosed = true
    openInstances.remove()
    for (const restore of this.#restores) restore()
    this.features.close()
    this.timeouts.close()
    this.processErrors.close()
    this.warnings.close()
    this.context.close()
    this.lifecycle.close()
    this.admission.close()
    this.entrance.close()
    this.setUp.close()
    this.#turnClock.close()
    this.recorder.timeParts.close()
    this.requestLog.close()
    this.exporter.made?.close()
    this.runtime.collections.close()
    this.runtime.externalTrend.close()
  }
}

/**
 * Connects the parts to the turn clock. Each part gets as few calls as its figures allow.
 *
 * @param {TurnClock} turnClock
 * @param {Instance} instance
 */
function listenToTurns(turnClock, instance) {
  const { admission, features, lifecycle, recorder, requestLog, runtime } = instance
  const { loopDelay, utilization } = runtime
  const unseenEnds = new UnseenEnds(recorder.requests, instance.clock.now())
  turnClock.onEachTurn((busyMs, nowMs) => {
    loopDelay.record(busyMs, nowMs)
    features.onEachTurn(busyMs, nowMs)
  })
  // For these parts, the sum of short turns is enough. A turn with a request that arrives, ends or is queued
  // is never summed.
  turnClock.onTurns((busyMs, nowMs, idleMs, longestMs) => {
    admission.onTurn(busyMs, nowMs, idleMs, longestMs)
    recorder.timeParts.onTurn(longestMs, nowMs, idleMs)
    // Runs last, because log lines of slow requests show `recorder.timeParts` of ended requests.
    requestLog.slow.onTurn(nowMs)
  })
  // These parts only check whether they are due. Their interval is a tenth of a second or longer.
  turnClock.onInterval((nowMs, idleMs) => {
    utilization.onInterval(nowMs)
    lifecycle.recycle.onInterval(nowMs)
    unseenEnds.onInterval(nowMs)
    features.onInterval(nowMs, idleMs)
  })
}

exports.Instance = Instance
