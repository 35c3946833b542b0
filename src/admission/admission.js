'use strict'
// The admission of one instance, put together: measurements, limits, gate, rejection and statistics. The adapters know
// only this: `decide` before a request runs, `release` when it has ended.

const { SHED } = require('../requests/ignore')
const { Episode } = require('./episode')
const { FairShares } = require('./fair-shares')
const { Gate } = require('./gate')
const { LateRejections } = require('./late-rejections')
const { Limits } = require('./limits/limits')
const { ResourceLimits } = require('./limits/resource-limits')
const { AcceptBurst } = require('./measurements/accept-burst')
const { LoopTurns } = require('./measurements/loop-turns')
const { RequestCost } = require('./measurements/request-cost')
const { Queue } = require('./queue')
const { Rejection } = require('./rejection')
const { RetryAfter } = require('./retry-after')
const { ShadowQueue } = require('./shadow-queue')
const { Stats, listCounts } = require('./stats')
const { UserHooks } = require('./user-hooks')
const { BYPASS, REJECTED, RUN } = require('./verdict')

/** Whatever resource is short, one request is admitted in so long: else nothing would free it. */
const LEAST_ADMIT_MS = 100

class Admission {
  stats = new Stats()
  episode
  limits
  measurements
  gate
  late
  /** Whether functions of the user's decide or answer: where there is a framework, they expect its requests. */
  asksUser = false
  #clock
  #hooks
  #queue = new Queue()
  #shadow
  #resources
  #rejection
  /** What would be one, in mode `observe`. */
  #observed
  #retryAfter
  #isOff = true
  #mode

  /**
   * @param {{ clock: any, faults: any, options: any, sampleMemory: () => object, random?: () => number,
   *   tell: (event: 'overload' | 'recovered', details: object) => void,
   *   tellObserved?: (event: 'overload' | 'recovered', details: any) => void }} parts `tellObserved` hears of overloads in mode
   *   `observe`
   */
  constructor({ clock, faults, options, sampleMemory, random, tell, tellObserved = () => {} }) {
    const cost = new RequestCost(clock.now())
    const turns = new LoopTurns(clock, () => cost.endedInTurn * cost.ms)
    const measurements = { turns, cost, acceptBurst: new AcceptBurst() }
    const hooks = new UserHooks(faults)
    this.#clock = clock
    this.#hooks = hooks
    this.measurements = measurements
    this.limits = new Limits({ clock, cost, turns })
    this.#resources = new ResourceLimits({ clock, hooks, sampleMemory, random })
    this.#rejection = new Rejection(faults)
    this.late = new LateRejections({ clock, cost, random })
    this.episode = new Episode(clock, tell)
    this.#observed = new Episode(clock, tellObserved)
    this.gate = new Gate({
      clock,
      limits: this.limits,
      measurements,
      queue: this.#queue,
      fairShares: new FairShares(random),
      hooks,
      stats: this.stats,
      reject: (request, reason) => this.#reject(request, reason),
    })
    const onWouldReject = (reason, priority) => this.#onWouldReject(reason, priority)
    this.#shadow = new ShadowQueue({ clock, limits: this.limits, measurements, hooks, onWouldReject })
    this.update(options)
  }

  update(options) {
    const { classify, deadline, errorMode, headers, key, mode, respond } = options
    this.#mode = mode
    this.asksUser =
      errorMode === 'next' || [classify, deadline, headers, key, respond].some((each) => each !== undefined)
    this.#isOff = mode === 'off' || this.#clock.stands === true
    this.#retryAfter = new RetryAfter(options.retryAfter)
    this.#hooks.update(options)
    this.#rejection.update(options)
    this.#resources.update(options)
    this.limits.update(options)
  }

  // Hot path: once a request.
  /** @returns {number} RUN, QUEUED (then `request.admission.resume` is called) or REJECTED (then it is answered) */
  decide(request, nowMs) {
    const { admission } = request
    if (admission.isDecided) return RUN
    admission.isDecided = true
    if (this.#isOff) return RUN
    if ((request.ignores & SHED) !== 0) {
      admission.priority = BYPASS
      return RUN
    }
    admission.priority = this.#hooks.classOf(request.req)
    if (admission.priority === BYPASS) return RUN
    this.late.onRequest()
    const decision = this.#decideAs(this.#mode, request, nowMs)
    if (decision !== REJECTED) this.#retryAfter.onAdmit()
    return decision
  }

  #decideAs(mode, request, nowMs) {
    const reason = this.#resources.reasonFor(request.admission.priority)
    if (mode === 'observe') return this.#observe(request, reason, nowMs)
    if (reason !== undefined) {
      if (nowMs - this.gate.lastAdmitMs <= LEAST_ADMIT_MS) return this.gate.rejectNow(request, reason)
      // Queued or run: the next one is let by when so much time is over again.
      this.gate.lastAdmitMs = nowMs
    }
    if (mode === 'adaptive') return this.gate.admit(request, nowMs)
    if (this.limits.isConcurrencyShort) return this.gate.rejectNow(request, 'concurrency')
    return this.gate.enter(request, nowMs)
  }

  #observe(request, reason, nowMs) {
    if (reason === undefined) this.#shadow.onRequest(request, nowMs)
    else this.#onWouldReject(reason, request.admission.priority)
    return this.gate.enter(request, nowMs)
  }

  #onWouldReject(reason, priority) {
    this.stats.onWouldReject(reason, priority)
    this.#observed.onReject(reason, this.#clock.now())
  }

  #reject(request, reason) {
    request.admission.onReject(reason)
    this.stats.onReject(reason, request.admission.priority)
    this.#retryAfter.onReject()
    this.episode.onReject(reason, this.#clock.now())
    const send = () => this.#send(request, reason)
    // A framework takes the error once the decision is back, and not later.
    if (this.#rejection.passesOn(request)) send()
    else this.late.pass(request, send)
  }

  #send(request, reason) {
    const sinceMs = this.#clock.now()
    this.#rejection.answer(request, reason, this.#retryAfter.seconds())
    this.measurements.cost.onReject(this.#clock.now() - sinceMs)
  }

  release(request) {
    this.gate.release(request)
  }

  /**
   * @param {'connection' | 'secureConnection' | 'tlsClientError'} event of the server
   * @param {{ isSecure: boolean, isHandedOver: boolean }} how its connections come
   */
  noteConnection(event, { isSecure, isHandedOver }) {
    const { acceptBurst } = this.measurements
    const nowMs = this.#clock.now()
    if (event === 'connection') {
      acceptBurst.onAccept(nowMs, isHandedOver)
      if (isSecure) acceptBurst.onHandshake(nowMs)
    } else acceptBurst.onHandshakeEnd()
  }

  onTurn(busyMs, nowMs, idleMs) {
    const { acceptBurst, cost, turns } = this.measurements
    turns.onTurn(busyMs, nowMs, idleMs)
    cost.onTurn(busyMs, nowMs)
    acceptBurst.onTurn(busyMs, nowMs)
    this.#hooks.onTurn(nowMs)
    this.#resources.onTurn(busyMs, nowMs, idleMs)
    this.#shadow.onTurn(nowMs)
    this.gate.onTurn(nowMs, idleMs, busyMs)
  }

  /** What exporters show, copied. */
  sample() {
    const { shed, wouldShed, queueDelays, admitted, abandoned } = this.stats
    return {
      mode: this.#mode,
      isOverloaded: this.episode.isOn,
      overloadedBy: this.episode.reason,
      hasMaxConcurrent: Number.isFinite(this.limits.maxConcurrent),
      overloads: this.episode.count,
      overloadedMs: this.episode.totalMs,
      inFlight: this.limits.inFlight,
      peakInFlight: this.gate.peakInFlight,
      waiting: this.#queue.length,
      ...this.#limit(),
      costMs: this.measurements.cost.ms,
      memoryPressure: this.#resources.memoryPressure,
      admitted,
      abandoned,
      shed: listCounts(shed),
      wouldShed: listCounts(wouldShed),
      answeredLate: this.late.total,
      queueDelays: queueDelays.copy(),
    }
  }

  /** Only mode `adaptive` holds requests to what is measured, and `observe` and `off` hold them to nothing. */
  #limit() {
    if (this.#mode === 'adaptive') {
      const { limit, by } = this.limits.current(this.#clock.now())
      return { limit, limitedBy: by }
    }
    const limit = this.#mode === 'threshold' ? this.limits.maxConcurrent : Number.POSITIVE_INFINITY
    return { limit, limitedBy: limit === Number.POSITIVE_INFINITY ? undefined : 'concurrency' }
  }

  /** The process drains: no rejection is sent late any more. */
  drain() {
    this.late.drain()
  }

  close() {
    this.#isOff = true
    this.late.drain()
    this.gate.close()
  }
}

module.exports = { Admission }
