'use strict'
// Rejects requests that are too old on arrival, or would get too old in the queue. The age counts from the
// arrival at the proxy. A handler can ask for the time that remains. Named services get it in a header.

const { callForNumber } = require('../../core/gate/user-hooks')
const { CRITICAL } = require('../../core/gate/decision')
const { timeoutOf } = require('./timeout-header')

/** Clocks are only known to agree within this time, so a younger request may not have waited at all. */
const CLOCKS_AGREE_MS = 100
const MIN_MAX_AGE_MS = 2 * CLOCKS_AGREE_MS

/**
 * @import { IncomingMessage } from 'node:http'
 * @import { ShedReason } from '../../../index.js'
 * @import { StartedFeature } from '../../core/features'
 * @import { FeatureLimit } from '../../core/gate/limits/limits'
 * @import { RequestRecord } from '../../core/request/request-record'
 * @import { Instance } from '../../instance'
 * @import { Forwarding } from './forwarding'
 * @import { Age, ProxyAges } from './proxy-ages'
 *
 * @typedef {Pick<Instance, 'admission' | 'clock' | 'context' | 'internalErrors' | 'options'>} Deps
 * @typedef {{ [kSpan: symbol]: Span }} Spanned a request of Node
 */

/** The header for services, unless the option names another. */
const DEFAULT_HEADER = 'x-request-timeout-ms'
/** @type {Age} */
const NO_AGE = Object.freeze({ ms: 0, differenceMs: 0, isOdd: false, isQuiet: false, clock: undefined })

/** What is kept about a request. */
class Span {
  /** The deadline of the request. Undefined until somebody asks for it. @type {number | undefined} */
  endsMs

  /** @param {Age} age @param {number} arrivedMs @param {number} readyMs */
  constructor(age, arrivedMs, readyMs) {
    this.age = age
    /** When the request came to the proxy, by our clock. */
    this.startedMs = arrivedMs - age.ms
    /** The gate counts the age from this time on. */
    this.countedMs = this.startedMs + Math.min(age.ms, readyMs)
  }

  /** Called if the age is not believed. */
  withoutAge() {
    this.startedMs += this.age.ms
    this.countedMs = this.startedMs
    this.age = NO_AGE
    this.endsMs = undefined
  }
}

/** @implements {FeatureLimit} */
class Deadlines {
  /** Set if proxies say when they received a request. @type {StartedFeature['proxyMsOf']} */
  proxyMsOf
  callsUser
  forwarded = 0
  withDeadline = 0
  /**
   * The property with this instance's span. An entry in a WeakMap costs several times as much as a property.
   */
  #kSpan = Symbol('spillway.span')
  #ages
  #hasDeadlines
  #header
  #deps
  /** @type {Forwarding | undefined} */
  #forwarding

  /** @param {Deps} deps @param {ProxyAges | undefined} ages */
  constructor(deps, ages) {
    const { deadline } = deps.options
    this.#deps = deps
    this.#ages = ages
    if (ages !== undefined) this.proxyMsOf = (request) => this.ageOf(request)
    this.callsUser = deadline.of !== undefined
    this.#header = deadline.header?.toLowerCase()
    const { header, default: usual, max, of } = deadline
    this.#hasDeadlines = [header, usual, max, of].some((each) => each !== undefined)
  }

  start() {
    const { context, internalErrors, options } = this.#deps
    const { forward = [] } = options.deadline
    if (forward.length === 0 || !this.#hasDeadlines) return
    const { Forwarding } = require('./forwarding')
    this.#forwarding = new Forwarding({
      header: this.#header ?? DEFAULT_HEADER,
      hosts: forward,
      internalErrors,
      leftMs: () => this.remaining(context.request?.req),
      onForward: () => this.forwarded++,
    })
    context.turnOn({ followsEvents: true })
    this.#forwarding.start()
  }

  close() {
    if (this.#forwarding === undefined) return
    this.#forwarding.close()
    this.#forwarding = undefined
    this.#deps.context.turnOff({ followsEvents: true })
  }

  /** Read anew each time, because `shed` may change while the process runs. */
  get #maxAgeMs() {
    const { maxAge } = this.#deps.options.shed
    return this.#ages === undefined || maxAge === undefined ? undefined : Math.max(maxAge, MIN_MAX_AGE_MS)
  }

  get mayReject() {
    return this.#hasDeadlines || this.#maxAgeMs !== undefined
  }

  /** @param {unknown} req @returns {Span | undefined} */
  #spanOf(req) {
    return /** @type {Spanned | undefined} */ (req)?.[this.#kSpan]
  }

  // Hot path with a deadline or an age: once a request.
  /** @param {RequestRecord} request */
  onRequest(request) {
    const age = this.#ages === undefined ? NO_AGE : this.#ages.measure(request)
    const req = /** @type {Spanned} */ (/** @type {unknown} */ (request.req))
    req[this.#kSpan] = new Span(age, request.startedMs, age.ms === 0 ? 0 : this.#ownQueueMs(request))
  }

  /**
   * In mode `observe`, the requests of an overload wait in the kernel, and this time counts as age. In other
   * modes these requests are rejected before they are that old.
   *
   * @param {RequestRecord} request
   */
  #ownQueueMs({ startedMs, receivedIdleMs }) {
    const { measurements, mode } = this.#deps.admission
    return mode === 'observe' ? measurements.turns.mostReadyDelayMs(startedMs, receivedIdleMs) : 0
  }

  // Hot path with a deadline or `maxAge`: once a request.
  /**
   * @param {RequestRecord} request
   * @param {number} nowMs
   * @param {boolean} isObserved
   * @returns {ShedReason | undefined}
   */
  reasonFor(request, nowMs, isObserved) {
    const span = this.#spanOf(request.req)
    if (span === undefined) return undefined
    const ageMs = nowMs - span.countedMs
    const boundMs = this.#boundMs(span, request, nowMs)
    const { clock, differenceMs, isOdd, isQuiet } = span.age
    if (ageMs < boundMs) {
      clock?.onYoung()
      return undefined
    }
    // In mode `observe` the proxy still holds its queue. So a high age does not mean a wrong clock.
    if (!isObserved && !isQuiet) clock?.onOld(differenceMs, nowMs)
    if (clock?.countDoubt(isOdd, nowMs)) return this.#reasonWithoutAge(span, request, nowMs)
    const { cause, measurements } = this.#deps.admission
    // The next request waits for this connection of the proxy. So the rejection is sent at once, and not with
    // a group.
    if (span.age.ms > 0) measurements.clients.onGatewayQueue()
    return cause.because('age', ageMs, boundMs)
  }

  /** @param {Span} span @param {RequestRecord} request @param {number} nowMs */
  #reasonWithoutAge(span, request, nowMs) {
    const ages = /** @type {ProxyAges} */ (this.#ages)
    ages.implausible++
    if (span.endsMs !== undefined && span.endsMs < Number.POSITIVE_INFINITY) this.withDeadline--
    span.withoutAge()
    const [ageMs, boundMs] = [nowMs - span.startedMs, this.#boundMs(span, request, nowMs)]
    return ageMs < boundMs ? undefined : this.#deps.admission.cause.because('age', ageMs, boundMs)
  }

  /**
   * Called when the gate takes the request out of its queue.
   *
   * @param {RequestRecord} request
   * @param {number} nowMs
   * @returns {ShedReason | undefined}
   */
  reasonAfterQueue(request, nowMs) {
    const span = this.#spanOf(request.req)
    if (span === undefined) return undefined
    const { queuedMs } = /** @type {NonNullable<RequestRecord['ticket']['queueEntry']>} */ (
      request.ticket.queueEntry
    )
    const mostMs = this.#boundMs(span, request, nowMs) - (queuedMs - span.startedMs)
    if (nowMs - queuedMs < mostMs) return undefined
    return this.#deps.admission.cause.because('deadline', nowMs - queuedMs, mostMs)
  }

  /** Returns how long the request may be queued. @param {RequestRecord} request @param {number} nowMs */
  maxWaitMs(request, nowMs) {
    const span = this.#spanOf(request.req)
    if (span === undefined) return Number.POSITIVE_INFINITY
    return this.#boundMs(span, request, nowMs) - (nowMs - span.countedMs)
  }

  /**
   * Returns how old the request may get.
   *
   * @param {Span} span
   * @param {RequestRecord} request
   * @param {number} nowMs
   */
  #boundMs(span, { req, ticket }, nowMs) {
    const leftMs = this.#learnEnd(span, req, nowMs) - span.startedMs
    const maxAgeMs = this.#maxAgeMs
    return maxAgeMs === undefined || ticket.priority === CRITICAL ? leftMs : Math.min(leftMs, maxAgeMs)
  }

  /**
   * Finds the deadline on the first call, and counts it.
   *
   * @param {Span} span @param {IncomingMessage} req @param {number} nowMs
   */
  #learnEnd(span, req, nowMs) {
    if (span.endsMs === undefined) {
      span.endsMs = this.#hasDeadlines ? this.#deadlineOf(span, req, nowMs) : Number.POSITIVE_INFINITY
      if (span.endsMs < Number.POSITIVE_INFINITY) this.withDeadline++
    }
    return span.endsMs
  }

  /** @param {Span} span @param {IncomingMessage} req @param {number} nowMs */
  #deadlineOf({ age, startedMs }, req, nowMs) {
    const {
      max = Number.POSITIVE_INFINITY,
      default: usual = Number.POSITIVE_INFINITY,
      of,
    } = this.#deps.options.deadline
    const header = this.#header
    // `deadline.of` returns the time that is left now. A header has the time that the caller waits in total.
    const leftMs =
      of === undefined ? undefined : callForNumber(this.#deps.internalErrors, 'deadline.of', () => of(req))
    if (leftMs !== undefined) return Math.min(nowMs + Math.max(0, leftMs), startedMs + max)
    const timeoutMs = header === undefined ? undefined : timeoutOf(header, req.headers[header])
    const wholeMs = Math.min(timeoutMs ?? usual, max)
    const unsureMs = wholeMs < MIN_MAX_AGE_MS ? Math.min(age.ms, CLOCKS_AGREE_MS) : 0
    return startedMs + wholeMs + unsureMs
  }

  /** @param {IncomingMessage | undefined} req */
  remaining(req) {
    return req === undefined || this.#spanOf(req) === undefined ? Number.POSITIVE_INFINITY : this.#left(req)
  }

  /** @param {IncomingMessage} req */
  #left(req) {
    const nowMs = this.#deps.clock.now()
    const endsMs = this.#learnEnd(/** @type {Span} */ (this.#spanOf(req)), req, nowMs)
    return Math.max(0, Math.floor(endsMs - nowMs))
  }

  /** @param {RequestRecord} request */
  ageOf({ req }) {
    return this.#spanOf(req)?.age.ms ?? 0
  }

  /** For metrics. @param {{ values: Float64Array | undefined }} [spare] */
  sample(spare) {
    const { forwarded, withDeadline } = this
    const ages = this.#ages
    if (ages === undefined) return { values: undefined, totalMs: 0, implausible: 0, forwarded, withDeadline }
    const { implausible, totalMs } = ages
    return { values: ages.copy(spare?.values), totalMs, implausible, forwarded, withDeadline }
  }

  /** @returns {import('../../../index.js').DeadlinesSnapshot} */
  section() {
    const { forwarded, withDeadline } = this
    return {
      proxy: this.#ages === undefined ? null : this.#proxySection(this.#ages),
      withDeadline,
      forwarded,
    }
  }

  /** @param {ProxyAges} ages */
  #proxySection(ages) {
    const { requests, without, implausible, totalMs, clockDifferenceMs } = ages
    const { summaryOf } = require('../../core/snapshot/snapshot')
    const lastMinute = summaryOf(ages.lastMinute(this.#deps.clock.now()))
    return { requests, without, implausible, totalMs, clockDifferenceMs, lastMinute }
  }
}

/** @param {Deps & Pick<Instance, 'recorder' | 'warn'>} deps */
function deadlinesOf(deps) {
  const { admission, clock, options, recorder, warn } = deps
  const { requestStart } = options.proxy
  /** @type {ProxyAges | undefined} */
  let ages
  if (requestStart) {
    const { ProxyAges } = require('./proxy-ages')
    ages = new ProxyAges({ clock, header: requestStart, recorder, warn })
  }
  const deadlines = new Deadlines(deps, ages)
  admission.limitBy(deadlines)
  deadlines.start()
  return deadlines
}

exports.Deadlines = Deadlines
exports.deadlinesOf = deadlinesOf
