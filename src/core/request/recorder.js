'use strict'
// Measures requests. Opens the record of a request when it arrives. When the request ends, decides its
// outcome and route, and counts it. Recording never throws into an `emit`: an internal error is counted and
// logged once, and the request is released.

const { tell } = require('../features')
const { RollingHistogram } = require('../histogram/rolling')
const { OWN_ROUTES, templateOf, upgradeTemplate } = require('../route/template')
const { activeTrace, annotateRejectedSpan, annotateSpan, isTracing, serverSpan } = require('../tracing/spans')
const { SHORTEST_STREAM_MS, isStream } = require('./event-stream')
const { Ignore, IGNORE_LOG, IGNORE_METRICS } = require('./ignore')
const { InFlight } = require('./in-flight')
const { METHODS } = require('./methods')
const { ABORTED, COMPLETED, TIMED_OUT, UPGRADED, isFailure, outcomeOf } = require('./outcome')
const {
  NO_STATUS,
  RequestRecord,
  STATES,
  STATE_ANSWERING,
  STATE_ENDED,
  STATE_QUEUED,
  STATE_RUNNING,
  requestOf,
} = require('./request-record')
const { linkResponse } = require('./request-holder')
const { watch } = require('./response-watch')
const { RequestParts } = require('./request-parts')
const { RouteTable } = require('./route-table')

/**
 * @import { IncomingMessage } from 'node:http'
 * @import { Hooked, RequestHook } from '../features'
 * @import { RoutedRequest, RoutedResponse } from '../route/route-state'
 * @import { SpanHolder } from '../tracing/spans'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { LabelledTable } from './labelled-series'
 * @typedef {Pick<Hooked, RequestHook | 'proxyMsOf'>} HookedRequests
 */

/** @type {{ test(header: string | undefined): boolean }} */
const WEBSOCKET = /^ *websocket *$/i

/**
 * @typedef {object} Sessions
 * @property {(req: IncomingMessage) => boolean} ownsRequest whether the request belongs to an open session
 * @property {(req: IncomingMessage) => boolean} decidesUpgrade whether the feature decides whether to accept
 *   the upgrade, and counts it
 *
 * @typedef {object} Wiring
 * @property {() => void} measureTurnAlone called before a request arrives or ends, so that the turn clock
 *   measures this turn alone
 * @property {(request: RequestRecord) => void} onHttp2 called with each HTTP/2 request
 * @property {HookedRequests} hooked the features that have hooks for requests
 */

const nothing = () => {}
/** @type {HookedRequests} */
const NO_FEATURES = { onRequest: [], onEnd: [], onUnwanted: [], proxyMsOf: [] }

class Recorder {
  /** The requests in flight. */
  requests = new InFlight()
  all
  routes
  /** Where the time of the requests went. */
  timeParts
  /** When the last request ended. */
  endedMs = 0
  /** The series by `metrics.labels`, if the option is set. @type {LabelledTable | undefined} */
  labelled
  /** Whether each response is the last of its connection. True while the process drains. */
  closesConnections = false
  /** Whether a drain has destroyed the connections of requests in flight. */
  isCut = false
  /** Whether an OpenTelemetry SDK is registered, so that a request may have a span. */
  isTracing = isTracing()
  /**
   * Long-lived sessions that a feature watches. The feature decides about their requests and upgrades.
   *
   * @type {Sessions | undefined}
   */
  sessions
  #measureTurnAlone
  #onHttp2
  #hooked
  /** @type {(request: RequestRecord) => void} */
  #onEnd = (_request) => {}
  #clock
  #internalErrors
  #label
  /** @type {Ignore | undefined} */
  #ignore
  #streamAfterMs
  /**
   * Upgrades that were counted: a server hook and a middleware may both see the same upgrade.
   *
   * @type {WeakSet<IncomingMessage>}
   */
  #upgrades = new WeakSet()

  /**
   * @param {import('../../../index.js').ResolvedOptions} options
   * @param {import('../clock').Clock} clock
   * @param {InternalErrors} internalErrors
   * @param {Partial<Wiring>} [wiring]
   */
  constructor(options, clock, internalErrors, wiring = {}) {
    const { routes, latency, metrics, ignore, insight } = options
    const { measureTurnAlone = nothing, onHttp2 = nothing, hooked = NO_FEATURES } = wiring
    this.#measureTurnAlone = measureTurnAlone
    this.#onHttp2 = onHttp2
    this.#hooked = hooked
    this.#clock = clock
    this.timeParts = new RequestParts(clock, insight.parts, { hooked, internalErrors })
    this.#internalErrors = internalErrors
    this.#label = routes.label
    this.#streamAfterMs = latency.streamAfter
    const nowMs = clock.now()
    const { nativeHistograms } = latency
    const { bodySizes, buckets } = metrics
    this.routes = new RouteTable(routes, { nativeHistograms, buckets, bodySizes }, nowMs)
    const { labels = {}, maxLabelValues } = metrics
    if (Object.keys(labels).length > 0) {
      const { LabelledTable } = require('./labelled-series')
      this.labelled = new LabelledTable(
        { labels, maxLabelValues },
        routes,
        this.routes.tables,
        internalErrors
      )
    }
    if (ignore !== undefined) this.#ignore = new Ignore(ignore, internalErrors)
    this.all = new RollingHistogram(nowMs)
  }

  /** @param {(request: RequestRecord) => void} listener is called with each request that has ended */
  tellOfEnds(listener) {
    this.#onEnd = listener
  }

  nowMs() {
    return this.#clock.now()
  }

  /** Called at set-up and at each scrape, so that requests need not look for an SDK. */
  lookForSdk() {
    this.isTracing = isTracing()
  }

  activeTrace() {
    return this.isTracing ? this.#guardTracing(activeTrace) : undefined
  }

  serverSpan() {
    return this.isTracing ? this.#guardTracing(serverSpan) : undefined
  }

  /**
   * Calls the application's SDK, which holds the spans and may throw.
   *
   * @template T
   * @param {(holder: SpanHolder, template: string | undefined, request: RequestRecord) => T} call
   * @param {SpanHolder} [holder]
   * @param {string} [template] if the call takes it
   * @param {RequestRecord} [request] if the call takes it
   */
  #guardTracing(call, holder, template, request) {
    try {
      return call(/** @type {SpanHolder} */ (holder), template, /** @type {RequestRecord} */ (request))
    } catch (error) {
      this.#internalErrors.report('tracing', error)
      return undefined
    }
  }

  /**
   * The request of this response, if this recorder measures it already.
   *
   * @param {RoutedResponse | null | undefined} res
   */
  find(res) {
    return requestOf(res, this)
  }

  // Hot path, once a request (bench/overhead).
  /**
   * Opens the record and watches the response. Before Express has seen the response, this takes a third of
   * the time that it takes afterwards.
   *
   * @param {RoutedRequest} req @param {RoutedResponse} res
   */
  open(req, res) {
    const request = new RequestRecord(this, req, res, this.#clock.now())
    request.scheme = request.socket?.encrypted === true ? 1 : 0
    this.#measureTurnAlone()
    this.timeParts.onReceive(request)
    // A middleware runs inside the span already. The span is looked up now, because the client may disconnect
    // before the response begins.
    if (this.isTracing) request.serverSpan = this.serverSpan()
    if (request.session !== undefined) this.#onHttp2(request)
    watch(request)
    return request
  }

  /** Whether the option `ignore` has a function, which may read what Express adds to a request. */
  get ignoresByFunction() {
    return this.#ignore?.callsFunctions === true
  }

  // Hot path, once a request (bench/overhead).
  /** @param {RequestRecord} request */
  count(request) {
    request.isCounted = true
    if (this.#ignore !== undefined) request.ignores = this.#ignore.of(request.req)
    request.othersInFlight = this.requests.size
    this.requests.add(request)
    if (this.#hooked.onRequest.length > 0) tell('onRequest', request, this.#hooked, this.#internalErrors)
    // The request ended before it arrived here. It is counted after this turn, when the application has
    // routed it.
    if (request.state === STATE_ENDED) this.#clock.afterTurn(() => this.end(request, request.first))
  }

  /** A feature decides about these sessions from now on. @param {Sessions | undefined} sessions */
  watchSessions(sessions) {
    this.sessions = sessions
  }

  /**
   * Counts a request whose connection was handed to another protocol, which ends without a response.
   *
   * @param {RoutedRequest} req
   */
  upgrade(req) {
    if (this.sessions?.decidesUpgrade(req) !== true) this.countUpgrade(req)
  }

  /** @param {RoutedRequest} req */
  countUpgrade(req) {
    if (this.#upgrades.has(req)) return
    this.#upgrades.add(req)
    if (this.#ignore !== undefined && (this.#ignore.of(req) & IGNORE_METRICS) !== 0) return
    const nowMs = this.#clock.now()
    const request = new RequestRecord(this, req, undefined, nowMs)
    request.outcome = UPGRADED
    request.markEnded()
    const series = this.routes.find(upgradeTemplate(req), request.method)
    series.record(request, nowMs)
    this.labelled?.record(series, request)
    this.all.count(nowMs, false)
  }

  /**
   * Counts an upgraded request that a package passes through the app's routes. Its response never ends: it
   * has no socket (express-ws), does not exist (websocket-express, koa-websocket), or is never written
   * (tinyws). Measured as a request, the upgrade would stay in flight as long as the connection, or for ever.
   * @param {RoutedRequest} req
   * @param {RoutedResponse | undefined} res
   * @returns {boolean} whether the request is such an upgrade
   */
  countRoutedUpgrade(req, res) {
    if (req.upgrade !== true || (res?.socket !== null && !WEBSOCKET.test(req.headers.upgrade))) return false
    this.upgrade(req)
    return true
  }

  /** Called in a drain: from now on each response is the last of its connection. */
  onStopAccepting() {
    this.closesConnections = true
  }

  /** Called when a drain destroys the connections of requests in flight. */
  onCut() {
    this.isCut = true
  }

  // Hot path, once a request (bench/overhead).
  /** @param {RequestRecord} request @param {number} nowMs */
  onHead(request, nowMs) {
    // The turn clock then measures this turn alone, for the code of the request that has just run.
    if (request.returnedMs >= 0) this.#measureTurnAlone()
    this.timeParts.onHead(request, nowMs)
  }

  // Hot path, once a request (bench/overhead).
  /** @param {RequestRecord} request @param {RequestRecord} first */
  end(request, first) {
    this.#measureTurnAlone()
    this.endedMs = this.#clock.now()
    request.endedIdleMs = this.#clock.idleMs()
    this.requests.remove(request)
    try {
      // A rejected request never ran: it has no latency, its route can only be guessed, and the gate counts
      // it.
      if (request.ticket.isRejected) this.#recordRejected(request)
      else if (!request.ticket.isAbandoned) this.#record(request, first)
    } catch (error) {
      this.#internalErrors.report('recording', error)
    }
    // Links the response for a handler that calls `signal()` for the first time after this.
    if (request.outcome > COMPLETED) linkResponse(request)
    if (request.outcome === ABORTED || request.outcome === TIMED_OUT)
      tell('onUnwanted', request, this.#hooked, this.#internalErrors)
    if (this.#hooked.onEnd.length > 0) tell('onEnd', request, this.#hooked, this.#internalErrors)
    request.reference?.end(request.series)
    this.#onEnd(request)
  }

  /** @param {RequestRecord} request */
  #recordRejected(request) {
    if (request.serverSpan !== undefined)
      this.#guardTracing(annotateRejectedSpan, request.serverSpan, undefined, request)
    if ((request.ignores & IGNORE_METRICS) === 0) this.routes.shed.record(request)
  }

  /** @param {RequestRecord} request @param {RequestRecord} first */
  #record(request, first) {
    const nowMs = this.endedMs
    request.durationMs = nowMs - request.startedMs
    request.outcome = outcomeOf(request)
    const bodyMs = request.firstByteMs < 0 ? 0 : request.durationMs - request.firstByteMs
    request.isStream =
      request.isLongPoll ||
      (bodyMs >= SHORTEST_STREAM_MS && isStream(request.res, bodyMs, this.#streamAfterMs))
    request.requestBytes = first.requestBytes
    request.responseBytes = first.responseBytes
    if (request.trace !== undefined) request.trace.atMs = this.#clock.wallMs()

    const template = this.#labelFor(request, this.templateOf(first, request.status))
    if (request.serverSpan !== undefined) {
      const route = OWN_ROUTES.includes(/** @type {string} */ (template)) ? undefined : template
      this.#guardTracing(annotateSpan, request.serverSpan, route, request)
    }
    if ((request.ignores & IGNORE_METRICS) !== 0) {
      request.series = this.routes.routeOnly(template)
      return
    }
    const series = this.routes.find(template, request.method)
    series.record(request, nowMs)
    if ((request.ignores & IGNORE_LOG) !== 0) series.isLeftOutOfLog = true
    request.series = series
    this.timeParts.onEnd(request)
    if (this.labelled !== undefined) this.labelled.record(series, request)
    if (request.isStream || request.outcome === UPGRADED) this.all.count(nowMs, false)
    else this.all.record(request.durationMs, nowMs, isFailure(request.outcome))
  }

  /** Describes a request in flight, without data of the client. @param {RequestRecord} request */
  describe(request) {
    return {
      method: METHODS[request.method],
      route: this.templateOf(request.first, NO_STATUS) ?? null,
      ageMs: this.#clock.now() - request.startedMs,
      state: shownState(request),
    }
  }

  /** @param {RequestRecord} first @param {number} status */
  templateOf(first, status) {
    const { ctx, node } = first
    // A route of Express handles the request, so the node of that route has the label.
    if (node?.isRoute === true && ctx === undefined) return node.label
    // `templateOf` reads what routers and applications have written, so it may throw.
    try {
      return templateOf(first, status)
    } catch (error) {
      this.#internalErrors.report('routing', error)
      return undefined
    }
  }

  /**
   * The result of `routes.label`, or the template.
   *
   * @param {RequestRecord} request
   * @param {string | undefined} template
   */
  #labelFor(request, template) {
    if (this.#label === undefined) return template
    try {
      const label = this.#label(request.req, request.res, template)
      this.#internalErrors.catchRejection('routes.label', label)
      return typeof label === 'string' && label !== '' ? label : template
    } catch (error) {
      this.#internalErrors.report('routes.label', error)
      return template
    }
  }
}

/**
 * Hides two states that last no longer than a call: `received` is shown as running, `ended` as answering.
 *
 * @param {RequestRecord} request
 */
function shownState(request) {
  if (request.hasAnswer || request.stream?.headersSent)
    return /** @type {'answering'} */ (STATES[STATE_ANSWERING])
  return /** @type {'queued' | 'running'} */ (STATES[request.isQueued ? STATE_QUEUED : STATE_RUNNING])
}

exports.Recorder = Recorder
