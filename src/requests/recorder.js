'use strict'
// Measures requests: opens one, and when it has ended says how, on which route, and puts it into the tables.
// Recording never throws into an `emit`: what goes wrong is counted and logged once, and the request let go.

const { RollingHistogram } = require('../histograms/rolling')
const { OWN_ROUTES, templateOf, upgradeTemplate } = require('../routing/template')
const { ActiveRequests } = require('./active-requests')
const { activeTrace, isTracing } = require('../tracing/active-span')
const { ClientErrors } = require('./client-errors')
const { isEventStream } = require('./event-stream')
const { Ignore, METRICS } = require('./ignore')
const { InFlight } = require('./in-flight')
const { LabelledTable } = require('./labelled-series')
const { METHODS, methodIndex } = require('./methods')
const { UPGRADED, isFailure, outcomeOf } = require('./outcome')
const { NO_STATUS, Request, requestOf } = require('./request')
const { ANSWERING, ENDED, QUEUED, RUNNING, STATES } = require('./request-state')
const { watch } = require('./response-watch')
const { RouteTable } = require('./route-table')
const { serverSpan, tellSpan } = require('../tracing/server-span')

/** Nothing that took less after its first byte can spoil a quantile, so nothing shorter is looked at. */
const SHORTEST_STREAM_MS = 10

const WEBSOCKET = /^ *websocket *$/i

class Recorder {
  /** How many requests are in flight. */
  active = new ActiveRequests()
  /** Those themselves. */
  requests = new InFlight()
  clientErrors = new ClientErrors()
  all
  routes
  /** By labels of the user's, where there are any. */
  labelled
  /** Whether each answer is to be the last of its connection. */
  isLeaving = false
  /** Whether an SDK may hold a span of a request. */
  isTracing = isTracing()
  /** Told of each request that came by HTTP/2. */
  onHttp2 = (_request) => {}
  /** Told of each request that has ended, and the series it went to, if any. */
  onEnd = (_request, _series) => {}
  #clock
  #faults
  #label
  #ignore
  #streamAfterMs
  /** Counted already: a server hook and a middleware may both see one. */
  #upgrades = new WeakSet()

  constructor({ routes, latency, metrics, ignore }, clock, faults) {
    this.#clock = clock
    this.#faults = faults
    this.#label = routes.label
    this.#streamAfterMs = latency.streamAfter
    const nowMs = clock.now()
    const { nativeHistograms } = latency
    this.routes = new RouteTable(routes, { nativeHistograms, buckets: metrics.buckets }, nowMs)
    if (Object.keys(metrics.labels ?? {}).length > 0)
      this.labelled = new LabelledTable(metrics, routes, this.routes.tables, faults)
    if (ignore !== undefined) this.#ignore = new Ignore(ignore, faults)
    this.all = new RollingHistogram(nowMs)
  }

  nowMs() {
    return this.#clock.now()
  }

  /** Looks for an SDK that has come since: at set-up and at a scrape, so that requests without one need not ask. */
  noteTracing() {
    this.isTracing = isTracing()
  }

  /** Whatever holds the spans is the application's: it may throw. */
  activeTrace() {
    return this.isTracing ? this.#ofTracing(activeTrace) : undefined
  }

  serverSpan() {
    return this.isTracing ? this.#ofTracing(serverSpan) : undefined
  }

  #ofTracing(ask, holder, template, request) {
    try {
      return ask(holder, template, request)
    } catch (error) {
      this.#faults.report('tracing', error)
      return undefined
    }
  }

  /** The request this recorder measures of `res`, if any: one is never measured twice. */
  find(res) {
    return requestOf(res, this)
  }

  // Hot path: bench/overhead.js.
  /** Puts everything on the response that will tell how it ends: at a third of the cost before Express has seen it. */
  prepare(req, res) {
    const request = new Request(this, req, res, this.#clock.now(), methodIndex(req.method))
    request.scheme = request.socket?.encrypted === true ? 1 : 0
    // A middleware is within the span already; and a client may leave before there is an answer to look for it at.
    if (this.isTracing) request.serverSpan = this.serverSpan()
    if (request.session !== undefined) this.onHttp2(request)
    watch(request)
    return request
  }

  // Hot path: bench/overhead.js.
  count(request) {
    request.isCounted = true
    if (this.#ignore !== undefined) request.ignores = this.#ignore.of(request.req)
    this.active.add(request, 1)
    this.requests.add(request)
    // Over before it came to us. Not at once: the application is still to say which route it is.
    if (request.state === ENDED) this.#clock.afterTurn(() => this.end(request, request.head))
  }

  /** A request whose connection was handed over: it has no answer of ours to wait for. */
  upgrade(req) {
    if (this.#upgrades.has(req)) return
    this.#upgrades.add(req)
    if (this.#ignore !== undefined && (this.#ignore.of(req) & METRICS) !== 0) return
    const nowMs = this.#clock.now()
    const request = new Request(this, req, undefined, nowMs, methodIndex(req.method))
    request.outcome = UPGRADED
    request.markEnded()
    const series = this.routes.find(upgradeTemplate(req), request.method)
    series.record(request, nowMs)
    this.labelled?.record(series, request)
    this.all.count(nowMs, false)
  }

  /**
   * Counts a request that was handed over and comes all the same, so that an app may route it. What comes with it is no
   * answer that ends: it has no socket (express-ws), is none at all (websocket-express, koa-websocket), or is never
   * written to (tinyws). Each would be in flight for the connection's life, or for ever.
   * @returns {boolean} whether it is one
   */
  upgradeRouted(req, res) {
    if (req.upgrade !== true || (res?.socket !== null && !WEBSOCKET.test(req.headers.upgrade))) return false
    this.upgrade(req)
    return true
  }

  // Hot path: bench/overhead.js.
  end(request, head) {
    this.active.add(request, -1)
    this.requests.remove(request)
    let series
    try {
      // What never ran has no latency, and its route can only be guessed. The gate counts it.
      if (request.admission.isRejected) this.#noteRejected(request)
      else if (!request.admission.isAbandoned) series = this.#record(request, head)
    } catch (error) {
      this.#faults.report('recording', error)
    }
    this.onEnd(request, series)
  }

  #noteRejected(request) {
    if ((request.ignores & METRICS) === 0) this.routes.shed.note(request)
  }

  #record(request, head) {
    const nowMs = this.#clock.now()
    request.durationMs = nowMs - request.startedMs
    request.outcome = outcomeOf(request)
    request.isStream = this.#isStream(request)
    request.requestBytes = head.requestBytes
    request.responseBytes = head.responseBytes
    if (request.trace !== undefined) request.trace.atMs = this.#clock.wallMs()

    const template = this.#labelled(request, this.templateOf(head, request.status))
    if (request.serverSpan !== undefined) {
      const route = OWN_ROUTES.includes(template) ? undefined : template
      this.#ofTracing(tellSpan, request.serverSpan, route, request)
    }
    if ((request.ignores & METRICS) !== 0) {
      request.series = this.routes.nameOnly(template)
      return undefined
    }
    const series = this.routes.find(template, request.method)
    series.record(request, nowMs)
    if (this.labelled !== undefined) this.labelled.record(series, request)
    request.series = series
    if (request.isStream || request.outcome === UPGRADED) this.all.count(nowMs, false)
    else this.all.record(request.durationMs, nowMs, isFailure(request.outcome))
    return series
  }

  #isStream(request) {
    const bodyMs = request.durationMs - request.firstByteMs
    if (request.firstByteMs < 0 || bodyMs < SHORTEST_STREAM_MS) return false
    return bodyMs >= this.#streamAfterMs || isEventStream(request.res)
  }

  /** A request in flight, as far as it may be told to others. */
  describe(request) {
    return {
      method: METHODS[request.method],
      route: this.templateOf(request.head, NO_STATUS) ?? null,
      ageMs: this.#clock.now() - request.startedMs,
      state: shownState(request),
    }
  }

  /** What routers leave on a request is theirs and their users': it may be anything. */
  templateOf(head, status) {
    try {
      return templateOf(head, status)
    } catch (error) {
      this.#faults.report('routing', error)
      return undefined
    }
  }

  #labelled(request, template) {
    if (this.#label === undefined) return template
    try {
      const label = this.#label(request.req, request.res, template)
      this.#faults.heed('routes.label', label)
      return typeof label === 'string' && label !== '' ? label : template
    } catch (error) {
      this.#faults.report('routes.label', error)
      return template
    }
  }
}

/** A request just received is about to run, and one that has ended is about to be counted: users see neither state. */
function shownState(request) {
  if (request.hasAnswer || request.stream?.headersSent) return STATES[ANSWERING]
  return STATES[request.isQueued ? QUEUED : RUNNING]
}

module.exports = { Recorder }
