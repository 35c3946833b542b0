'use strict'
// Assembles the admission of one instance: measurements, limits, gate, rejection and statistics. Adapters
// call `decide` before a request runs. http/entrance.js calls `release` when the request has ended.
// features/bulkheads/ calls `pause`, `resume` and `rejectAdmitted`. Features add limits of requests with
// `limitBy`, and a gate of connections with `addConnectionGate`.

const { Lazy } = require('../lazy')
const { IGNORE_SHED } = require('../request/ignore')
const { Gate } = require('./gate')
const { Limits } = require('./limits/limits')
const { ResourceLimits, Shortages } = require('./limits/resource-limits')
const { AcceptBurst } = require('./measurements/accept-burst')
const { Clients } = require('./measurements/clients')
const { LoopTurns, SAMPLE_MS } = require('./measurements/loop-turns')
const { RequestCost } = require('./measurements/request-cost')
const { Queue } = require('./queue')
const { Rejection, RetryAfter } = require('./rejection')
const { RejectionPace } = require('./rejection-pace')
const { LastRejections, RejectionPeriod, Stats } = require('./stats')
const { UserHooks } = require('./user-hooks')
const { BYPASS, Cause, REJECTED, RUN } = require('./decision')

/**
 * @import { ShedReason } from '../../../index.js'
 * @import { Clock } from '../clock'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { RequestRecord } from '../request/request-record'
 * @import { ShadowQueue } from './shadow-queue'
 * @import { Decision } from './decision'
 * @import { FeatureLimit } from './limits/limits'
 * @import { OpenConnections } from './measurements/clients'
 * @import { OnOverloadEvent } from './stats'
 * @typedef {{ turns: LoopTurns, cost: RequestCost, acceptBurst: AcceptBurst, clients: Clients }} Measurements
 * @typedef {import('../../../index.js').ResolvedOptions['shed']} ShedOptions
 * @typedef {{ [Name in keyof ShedOptions]-?: NonNullable<ShedOptions[Name]> }} GivenOptions the options that
 *   the caller knows to be given
 * @typedef {{ update: (isOff: boolean, options: ShedOptions) => void, onTurn: (busyMs: number, nowMs: number,
 *   idleMs: number) => void, close: () => void }} ConnectionGate gate for connections such as WebSockets; a
 *   feature makes it from ConnectionDeps
 * @typedef {{ cause: Cause, clock: Clock, hooks: Pick<UserHooks,
 *   'classifies' | 'classOf'>, resources: Pick<ResourceLimits, 'isShort' | 'reasonFor'>,
 *   retryAfterSeconds: () => number, countRejected: (reason: ShedReason, priority: number) => void,
 *   onWouldReject: (reason: ShedReason, priority: number) => void }} ConnectionDeps
 */

class Admission {
  stats = new Stats()
  /** Figures of the last rejection, set by the rule that rejects. */
  cause = new Cause()
  lastRejections
  rejectionPeriod
  /** How short each resource is, for features. */
  shortages
  limits
  measurements
  gate
  rejectionPace
  /** The functions of the user that decide. */
  hooks
  /** @type {ShedOptions['mode'] | undefined} */
  mode
  /**
   * Whether functions of the user decide or answer. In a framework, these functions expect the framework's
   * request.
   */
  hasUserHooks = false
  /** Whether the framework's response or error handler is needed to answer a rejected request. */
  answersInFramework = false
  #measureTurnAlone
  #clock
  #internalErrors
  #queue = new Queue()
  /** Model of the queue, for mode `observe`. @type {Lazy<ShadowQueue>} */
  #shadow
  #resources
  #rejection
  /** The overloads that mode `observe` only counts. */
  #shadowPeriod
  #random
  #retryAfter = new RetryAfter(1)
  #isOff = true
  /** When a request was last passed to the gate although a resource was short. */
  #sampledMs = 0
  /** Gate for long-lived connections. @type {ConnectionGate | undefined} */
  #connectionGate
  /** @type {ShedOptions | undefined} */
  #options
  /** @param {RequestRecord} request that is rejected */
  #answer = (request) => this.#send(request, false)

  /**
   * @param {{ clock: Clock, internalErrors: InternalErrors,
   *   options: ShedOptions, random?: (() => number) | undefined,
   *   sampleMemory: () => ReturnType<typeof import('../process/memory').memoryForGate>,
   *   connections?: OpenConnections, measureTurnAlone?: () => void, onOverloadEvent: OnOverloadEvent,
   *   onShadowOverloadEvent?: OnOverloadEvent, onReturn?: (request: RequestRecord, nowMs: number) => void
   *   }} deps `measureTurnAlone`: makes the turn clock measure the current loop turn alone; `onReturn`:
   *   called when the handler of a dequeued request has returned
   */
  constructor(deps) {
    const { clock, internalErrors, options, sampleMemory, connections, random } = deps
    this.#measureTurnAlone = deps.measureTurnAlone ?? (() => {})
    const cost = new RequestCost(clock.now())
    const turns = new LoopTurns(clock)
    const clients = new Clients(connections, clock)
    const hooks = new UserHooks(internalErrors)
    this.#clock = clock
    this.hooks = hooks
    this.#internalErrors = internalErrors
    this.#random = random
    this.measurements = { turns, cost, acceptBurst: new AcceptBurst(), clients }
    const { cause, measurements, onWouldReject, stats } = this
    const queue = this.#queue
    const limits = new Limits({ cause, clock, cost, turns, clients })
    const resources = new ResourceLimits({ cause, clock, hooks, sampleMemory, random })
    this.limits = limits
    this.#resources = resources
    this.shortages = new Shortages({ queue, limits, resources, hooks, stats })
    this.#rejection = new Rejection(internalErrors)
    this.rejectionPace = new RejectionPace({ clock, clients, cost, answer: this.#answer })
    this.lastRejections = new LastRejections(clock)
    this.rejectionPeriod = new RejectionPeriod(clock, deps.onOverloadEvent)
    this.#shadowPeriod = new RejectionPeriod(clock, deps.onShadowOverloadEvent ?? (() => {}))
    const parts = { cause, clock, limits, measurements, queue, hooks, stats }
    const { onReturn = () => {} } = deps
    this.gate = new Gate({ ...parts, rejectRequest: this.#reject, onReturn })
    this.#shadow = new Lazy(() => {
      const { ShadowQueue } = require('./shadow-queue')
      return new ShadowQueue({ cause, clock, limits, measurements, onWouldReject })
    })
    this.update(options)
  }

  /** @param {FeatureLimit} limit */
  limitBy(limit) {
    this.limits.ofFeatures.add(limit)
    if (limit.callsUser) this.hasUserHooks = true
  }

  /**
   * How long the limits of features let a request be queued.
   *
   * @param {RequestRecord} request @param {number} nowMs
   */
  maxWaitMs(request, nowMs) {
    return this.limits.ofFeatures.maxWaitMs(request, nowMs)
  }

  /** A limit of its route queues a request that runs. @param {RequestRecord} request @param {number} nowMs */
  pause({ ticket }, nowMs) {
    this.limits.onPause(ticket, nowMs)
  }

  /** Such a request runs after all. @param {RequestRecord} request @param {number} nowMs */
  resume({ ticket }, nowMs) {
    this.limits.onResume(ticket, nowMs, this.#clock.idleMs())
  }

  /** @param {ShedOptions} options */
  update(options) {
    const { classify, errorMode, headers, key, mode, respond } = options
    // This loads the file of the shadow queue, which the process may no longer be allowed to read.
    if (mode === 'observe' && mode !== this.mode)
      this.#internalErrors.guard('shed.mode', () => this.#shadow.value.restart())
    this.mode = mode
    this.hasUserHooks =
      errorMode === 'next' ||
      [classify, headers, key, respond].some((each) => typeof each === 'function') ||
      this.limits.ofFeatures.callsUser
    this.answersInFramework = errorMode === 'next' || respond !== undefined
    this.#isOff = mode === 'off' || this.#clock.isFrozen === true
    this.#retryAfter = new RetryAfter(options.retryAfter, this.#random)
    this.hooks.update(options)
    this.#rejection.update(options)
    this.#resources.update(options)
    this.limits.update(options)
    this.#shadow.made?.update(options)
    this.measurements.clients.update(options)
    this.#options = options
    this.#connectionGate?.update(this.#isOff, options)
  }

  // Hot path, once a request (bench/overhead).
  /**
   * @param {RequestRecord} request
   * @param {number} nowMs
   * @returns {Decision} RUN, QUEUED (`ticket.runQueued` is called later) or REJECTED (its 503 is sent
   *   now or later)
   */
  decide(request, nowMs) {
    const { ticket } = request
    if (ticket.isDecided) return RUN
    ticket.isDecided = true
    ticket.decidedMs = nowMs
    if (this.#isOff) return RUN
    if ((request.ignores & IGNORE_SHED) !== 0) ticket.priority = BYPASS
    else this.#measureTurnAlone()
    if (this.hooks.classifies && ticket.priority !== BYPASS) ticket.priority = this.hooks.classOf(request.req)
    if (ticket.priority === BYPASS) return RUN
    this.stats.decided++
    const decision = this.#decideAs(this.mode, request, nowMs)
    if (decision !== REJECTED && this.#retryAfter.isSpread) this.#retryAfter.onAdmit()
    return decision
  }

  /** @param {ShedOptions['mode'] | undefined} mode @param {RequestRecord} request @param {number} nowMs */
  #decideAs(mode, request, nowMs) {
    const reason = this.#resources.isShort ? this.#resources.reasonFor(request.ticket.priority) : undefined
    const featureReason =
      reason === undefined && this.limits.ofFeatures.mayReject
        ? this.limits.ofFeatures.reasonFor(request, nowMs, mode === 'observe')
        : undefined
    if (mode === 'observe') return this.#observe(request, reason ?? featureReason, nowMs)
    if (featureReason !== undefined) return this.gate.reject(request, featureReason)
    if (reason !== undefined) {
      // One request in SAMPLE_MS is passed to the gate, whatever resource is short: without such samples, a
      // limit could not recover.
      if (nowMs - Math.max(this.gate.lastAdmitMs, this.#sampledMs) <= SAMPLE_MS)
        return this.gate.reject(request, reason)
      // The gate may queue this request.
      this.#sampledMs = nowMs
    }
    if (mode === 'adaptive') return this.gate.decide(request, nowMs)
    if (this.limits.isAtMaxConcurrent) return this.gate.reject(request, this.limits.concurrencyReason())
    return this.gate.admit(request, nowMs)
  }

  /** @param {RequestRecord} request @param {ShedReason | undefined} reason @param {number} nowMs */
  #observe(request, reason, nowMs) {
    if (reason === undefined) this.#shadow.made?.onRequest(request, nowMs)
    else this.onWouldReject(reason, request.ticket.priority)
    return this.gate.admit(request, nowMs)
  }

  /**
   * Rejects a request that the gate has admitted, because of a limit of its route.
   *
   * @param {RequestRecord} request
   * @param {ShedReason} reason
   */
  rejectAdmitted(request, reason) {
    this.gate.withdraw(request, this.#clock.now())
    this.#reject(request, reason)
  }

  /**
   * Counts a request that mode `observe` runs although another mode would reject it.
   *
   * @param {ShedReason} reason @param {number} priority
   */
  onWouldReject = (reason, priority) => {
    this.stats.countWouldReject(reason, priority)
    this.#shadowPeriod.record(reason, this.#clock.now(), this.cause)
  }

  /** Called in mode `observe` if a limit of the route would reject a request that the gate admits. */
  onWouldWithdraw() {
    this.#shadow.made?.onWithdraw()
  }

  #reject = (/** @type {RequestRecord} */ request, /** @type {ShedReason} */ reason) => {
    const { ticket } = request
    const nowMs = this.#clock.now()
    ticket.onReject(reason, nowMs, this.cause)
    this.limits.ofFeatures.onReject(request)
    this.#countRejected(reason, ticket.priority, nowMs)
    // The framework must have the error when `decide` returns, so this rejection cannot be delayed.
    if (this.#rejection.goesToErrorHandler(request)) this.#send(request, true)
    else this.rejectionPace.deliver(request, nowMs)
  }

  /** @param {RequestRecord} request that is rejected @param {boolean} isForHandler */
  #send(request, isForHandler) {
    const sinceMs = this.#clock.now()
    this.#rejection.answer(request, this.#retryAfter.seconds(), isForHandler)
    this.measurements.cost.onRejectionSent(this.#clock.now() - sinceMs)
  }

  /** @template {ConnectionGate} Gate @param {(deps: ConnectionDeps) => Gate} make */
  addConnectionGate(make) {
    const gate = make({
      cause: this.cause,
      clock: this.#clock,
      hooks: this.hooks,
      resources: this.#resources,
      retryAfterSeconds: () => this.#retryAfter.seconds(),
      countRejected: (reason, priority) => this.#countRejected(reason, priority, this.#clock.now()),
      onWouldReject: this.onWouldReject,
    })
    gate.update(this.#isOff, /** @type {ShedOptions} */ (this.#options))
    this.#connectionGate = gate
    return gate
  }

  /** @param {ShedReason} reason @param {number} priority @param {number} nowMs */
  #countRejected(reason, priority, nowMs) {
    this.stats.countRejected(reason, priority)
    this.#retryAfter.onReject()
    this.lastRejections.record(reason, priority, nowMs, this.cause)
    // This is the last step, because a listener of `overload` may cause the next rejection.
    this.rejectionPeriod.record(reason, nowMs, this.cause)
  }

  /**
   * Hot path, once a request (bench/overhead). `nowMs` and `idleMs` are those of the end, which the recorder
   * has read.
   *
   * @param {RequestRecord} request
   */
  release(request, nowMs = this.#clock.now(), idleMs = this.#clock.idleMs()) {
    this.gate.release(request, nowMs, idleMs)
    const { crossOrigin } = this.#rejection
    // Node parses headers when they are first read, so the time is compared first.
    const isDue = nowMs >= crossOrigin.nextMs || request.req.method === 'OPTIONS'
    if (isDue && request.req.headers?.origin !== undefined) crossOrigin.onEnd(request, nowMs)
  }

  /**
   * @param {'connection' | 'secureConnection' | 'tlsClientError'} event of the server
   * @param {{ isSecure: boolean, isHandedOver: boolean }} how `isHandedOver`: the cluster's primary accepted
   *   the connection
   */
  onConnectionEvent(event, how) {
    this.#measureTurnAlone()
    this.measurements.acceptBurst.onEvent(event, how, this.#clock.now())
  }

  /**
   * @param {number} busyMs
   * @param {number} nowMs
   * @param {number} idleMs
   * @param {number} [longestMs] the longest turn, if `busyMs` is the sum of several turns without arrivals or
   *   ends
   */
  onTurn(busyMs, nowMs, idleMs, longestMs = busyMs) {
    const { acceptBurst, clients, cost, turns } = this.measurements
    const { endedInTurn } = this.gate
    turns.onTurn(busyMs, nowMs, idleMs, endedInTurn * cost.ms, longestMs)
    cost.onTurn(busyMs, nowMs, endedInTurn)
    const outstanding = this.limits.inFlight + this.#queue.length + this.rejectionPace.waiting
    clients.onTurn(nowMs, outstanding, turns.isIdling(nowMs))
    this.hooks.onTurn(nowMs)
    this.#resources.onTurn(longestMs, nowMs, idleMs)
    if (this.mode === 'observe') this.#shadow.made?.onTurn(busyMs, nowMs, idleMs, endedInTurn)
    this.#connectionGate?.onTurn(busyMs, nowMs, idleMs)
    this.gate.onTurn(nowMs, idleMs, busyMs)
    if (this.gate.needsNextTurn || acceptBurst.mayBeAccepting) this.#measureTurnAlone()
  }

  /** A copy of everything that exporters show. */
  sample() {
    const { shed, wouldShed, queueDelays, admitted, abandoned } = this.stats
    return {
      mode: /** @type {ShedOptions['mode']} */ (this.mode),
      isOverloaded: this.rejectionPeriod.isOn,
      overloadedBy: this.rejectionPeriod.reason,
      hasMaxConcurrent: Number.isFinite(this.limits.maxConcurrent),
      overloads: this.rejectionPeriod.count,
      overloadedMs: this.rejectionPeriod.totalMs,
      inFlight: this.limits.inFlight,
      peakInFlight: this.gate.peakInFlight,
      queued: this.#queue.length,
      ...this.limits.enforced(this.#clock.now()),
      costMs: this.measurements.cost.ms,
      memoryPressure: this.#resources.memoryPressure,
      admitted,
      abandoned,
      shed: this.stats.list(shed),
      wouldShed: this.stats.list(wouldShed),
      answeredLate: this.rejectionPace.late,
      queueDelays: queueDelays.copy(),
    }
  }

  /** Called when a drain begins: the 503s that wait are sent now. */
  onDrain() {
    this.rejectionPace.sendAllAtOnce()
  }

  close() {
    this.#isOff = true
    this.rejectionPace.sendAllAtOnce()
    this.#connectionGate?.close()
    this.gate.close()
  }
}

exports.Admission = Admission
