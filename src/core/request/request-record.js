'use strict'
// The record of one request, from its arrival to the last byte of its response. Its ticket is what the gate
// decides about it. Each instance that measures a response has its own record, with its own state and ticket.

const { NORMAL } = require('../gate/decision')
const { kRouteState } = require('../route/route-state')
const { connectionOf } = require('./connection-record')
const { METHOD_INDEX, OTHER_METHOD } = require('./methods')

/** The status of a response without a byte sent. */
const NO_STATUS = 0
/** The outcome of a request that has not ended, or never ran. */
const NO_OUTCOME = -1

const STATES = Object.freeze(/** @type {const} */ (['received', 'queued', 'running', 'answering', 'ended']))
const [STATE_RECEIVED, STATE_QUEUED, STATE_RUNNING, STATE_ANSWERING, STATE_ENDED] = STATES.keys()

/** Legal states of each transition. @type {Readonly<Record<string, readonly number[]>>} */
const LEGAL = Object.freeze({
  // A running request is queued by a limit of its route.
  markQueued: [STATE_RECEIVED, STATE_RUNNING],
  markRunning: [STATE_RECEIVED, STATE_QUEUED],
  // A rejected request never runs. A response may have several heads: an informational head first, or an
  // error's new head.
  markAnswering: [STATE_RECEIVED, STATE_QUEUED, STATE_RUNNING, STATE_ANSWERING],
  markEnded: [STATE_RECEIVED, STATE_QUEUED, STATE_RUNNING, STATE_ANSWERING],
})

/**
 * @import { ShedReason } from '../../../index.js'
 * @import { Failure } from '../errors/failure'
 * @import { AsyncContext } from './async-context'
 * @import { QueueEntry } from '../gate/queue'
 * @import { RoutedRequest, RoutedResponse, RouteState } from '../route/route-state'
 * @import { SpanHolder } from '../tracing/spans'
 * @import { Connection } from './connection-record'
 * @import { Trace } from './exemplars'
 * @import { Recorder } from './recorder'
 * @import { RouteSeries } from './route-series'
 * @typedef {RequestRecord | undefined} Link a record of the chain; undefined after the last
 * @typedef {(this: RequestRecord) => void} Transition
 * @typedef {(this: Ticket, error?: unknown) => unknown} FrameworkNext
 * @typedef {{ record: unknown, begin(nowMs: number): void, arrive(ms: number): void, leave(): void }}
 *   ExpectedAsk of features/pools/route-uses.js
 *
 * @typedef {object} RejectedBy
 * @property {ShedReason} reason
 * @property {number | undefined} value the number behind the reason
 * @property {number | undefined} bound the bound that the number reached or exceeded
 * @property {unknown} error the error to throw, for a framework that takes an error only after the decision
 *   has returned
 */

const NO_INDEX = -1

// Hot path, once a request (bench/overhead). The constructor sets every field and no code adds one, so all
// tickets share one hidden class.
/**
 * The gate's record of one request: its class, the decision, and how long it was queued. The adapters set how
 * the request continues. The recorder, logs and spans read the decision.
 */
class Ticket {
  constructor() {
    this.priority = NORMAL
    this.isDecided = false
    /** When the gate last queued, admitted or rejected the request. */
    this.decidedMs = 0
    /** Its entry in the queue, even if it never ran. @type {QueueEntry | undefined} */
    this.queueEntry = undefined
    /** Why it was rejected. @type {RejectedBy | undefined} */
    this.rejection = undefined
    /** Its index among the requests in flight. */
    this.index = NO_INDEX
    /** The total idle time of the loop when the request was admitted, or `PAUSED` of loop-share.js. */
    this.idleMs = 0
    /** How much of the loop's time it reserves, for each millisecond of its cost. */
    this.reservation = 0
    /**
     * Runs the request when it is dequeued; called with the request as `this`.
     *
     * @type {((this: RequestRecord) => unknown) | undefined}
     */
    this.runQueued = undefined
    /**
     * The framework's `next`, or a function that keeps an error for Koa. It takes the error of a rejection.
     * Only a middleware sets it.
     *
     * @type {FrameworkNext | undefined}
     */
    this.frameworkNext = undefined
    /**
     * Of features/pools/, set if the request is expected to ask a watched pool for a connection.
     *
     * @type {ExpectedAsk[] | undefined}
     */
    this.expectedAsks = undefined
  }

  /** @param {number} nowMs @param {number} index */
  onAdmit(nowMs, index) {
    this.decidedMs = nowMs
    this.index = index
  }

  /** @param {ShedReason} reason @param {number} nowMs @param {{ value?: number, bound?: number }} cause */
  onReject(reason, nowMs, { value, bound }) {
    // A handshake was admitted before its connection is refused. Its duration counts from the admission.
    if (!this.isInFlight) this.decidedMs = nowMs
    this.rejection = { reason, value, bound, error: undefined }
  }

  onRelease() {
    this.index = NO_INDEX
  }

  get isRejected() {
    return this.rejection !== undefined
  }

  get isInFlight() {
    return this.index !== NO_INDEX
  }

  /** Whether the request ended while it was queued. Valid only until it is released. */
  get isAbandoned() {
    return this.queueEntry !== undefined && this.rejection === undefined && !this.isInFlight
  }

  /** How long it was queued, once it was admitted or rejected. */
  get waitedMs() {
    return this.queueEntry === undefined ? 0 : this.decidedMs - this.queueEntry.queuedMs
  }
}

// The constructor sets every field and no code adds one, so that all requests share one hidden class.
/** @implements {RouteState} */
class RequestRecord {
  /**
   * @param {Recorder} recorder
   * @param {RoutedRequest} req
   * @param {RoutedResponse | undefined} res undefined for an upgrade
   * @param {number} startedMs
   */
  constructor(recorder, req, res, startedMs) {
    this.recorder = recorder
    /** Changed only by the `mark…` methods below. */
    this.state = STATE_RECEIVED
    this.req = req
    this.res = /** @type {RoutedResponse} */ (res)
    /** @type {Connection} */
    this.socket = req.socket
    this.stream = req.httpVersionMajor === 2 ? req.stream : undefined
    this.session = this.stream?.session
    this.connection = this.session === undefined ? this.socket : connectionOf(this.session)
    this.startedMs = startedMs
    this.scheme = 0
    this.method = METHOD_INDEX[/** @type {string} */ (req.method)] ?? OTHER_METHOD
    /**
     * Whether the request counts. If a listener of the server has opened the record, the request counts once
     * it reaches a middleware.
     */
    this.isCounted = false
    /** Flags of ignore.js: whether metrics, log or shedding leave this request out. */
    this.ignores = 0
    /** The first record made for this response. It holds the route state. @type {RequestRecord} */
    this.first = this
    /** The record that the next instance made for the same response. @type {Link} */
    this.nextOfResponse = undefined

    // The route state, which the routers write: see core/route/route-state.js.
    /** @type {RouteState['node']} */
    this.node = undefined
    /** @type {RouteState['errorNode']} */
    this.errorNode = undefined
    /** @type {RouteState['route']} */
    this.route = undefined
    this.baseLength = 0
    this.isSettled = false
    this.hasBadBody = false
    /** @type {RouteState['ctx']} */
    this.ctx = undefined
    /** @type {RouteState['mounts']} */
    this.mounts = undefined

    this.ticket = new Ticket()
    /** How many other requests were in flight when the request arrived. */
    this.othersInFlight = 0
    /** The neighbours of the request in the list of requests in flight. */
    /** @type {RequestRecord | undefined} */
    this.older = undefined
    /** @type {RequestRecord | undefined} */
    this.newer = undefined

    // Marks for its parts: see request-parts.js. Idle times are totals of the loop.
    this.receivedIdleMs = 0
    /** Upper bound of the time in the kernel before the request was read. */
    this.unreadMs = 0
    /** When the handler that was called on admission first returned. */
    this.returnedMs = -1
    /** -1 if the head was written before the handler returned. */
    this.headIdleMs = -1
    /** How long code ran for the request after its handler had returned, until the head was written. */
    this.afterReturnMs = 0
    this.endedIdleMs = 0

    // How it ended.
    this.firstByteMs = -1
    this.durationMs = 0
    this.outcome = NO_OUTCOME
    /**
     * Whether `errors.timeout` answered instead of the handler, or the handler failed because its deadline
     * had passed.
     */
    this.isTimedOut = false
    this.status = NO_STATUS
    /** Whether the connection closed before it took the whole response. */
    this.isCutOff = false
    /** Whether this is an HTTP/2 stream that Node never destroyed: see unseen-ends.js. */
    this.isEndUnseen = false
    this.isStream = false
    /** The ids of the sampled trace it was answered in, and the holder of its server span. */
    /** @type {Trace | undefined} */
    this.trace = undefined
    /** @type {SpanHolder | undefined} */
    this.serverSpan = undefined
    /**
     * The reference to the request in async contexts, if an instance keeps a context.
     *
     * @type {AsyncContext['reference']}
     */
    this.reference = undefined
    this.requestBytes = 0
    this.responseBytes = 0
    /**
     * The series of the request; `{ route }` if the metrics leave the request out; undefined if it never ran.
     *
     * @type {RouteSeries | { route: string } | undefined}
     */
    this.series = undefined
    /** Whether the request waits for messages of an open session: see sockets/. */
    this.isLongPoll = false
    /** The last error of the request, counted when the request ends. @type {Failure | undefined} */
    this.failure = undefined
  }

  markQueued() {
    this.state = STATE_QUEUED
  }

  markRunning() {
    this.state = STATE_RUNNING
  }

  markAnswering() {
    this.state = STATE_ANSWERING
  }

  markEnded() {
    this.state = STATE_ENDED
  }

  /** Marks the request as timed out for all instances. */
  timeOut() {
    for (let each = /** @type {Link} */ (this.first); each !== undefined; each = each.nextOfResponse)
      each.isTimedOut = true
  }

  /**
   * Whether the request waits in the queue. A request rejected there keeps its state until the application
   * answers it.
   */
  get isQueued() {
    return this.state === STATE_QUEUED && !this.ticket.isRejected
  }

  /** Whether its response has begun or ended. Code outside its handler may begin the response at any time. */
  get hasAnswer() {
    return this.state >= STATE_ANSWERING
  }
}

const { markQueued, markRunning, markAnswering, markEnded } = RequestRecord.prototype
const UNCHECKED = { markQueued, markRunning, markAnswering, markEnded }

/**
 * Makes illegal transitions throw, for tests. In production the methods above run unchecked.
 *
 * @param {boolean} isOn
 */
function checkTransitions(isOn) {
  Object.assign(RequestRecord.prototype, isOn ? checked(UNCHECKED) : UNCHECKED)
}

/** The same transitions, which throw if they are illegal. @param {Record<string, Transition>} transitions */
function checked(transitions) {
  return Object.fromEntries(
    Object.keys(LEGAL).map((name) => [name, checkedTransition(name, transitions[name])])
  )
}

/** @param {string} name @param {Transition} transition */
function checkedTransition(name, transition) {
  /** @this {RequestRecord} */
  return function () {
    if (!LEGAL[name].includes(this.state)) {
      throw new Error(`illegal transition: ${name}() of a request in state '${STATES[this.state]}'`)
    }
    transition.call(this)
  }
}

/**
 * Whether the client disconnected, even if the end of the request has not been reported. A reset HTTP/2
 * stream is closed before it is destroyed, and a write to it throws. A pipelined response gets no event if
 * its connection closes first. `req.destroyed` cannot tell: it is also true after a body parser has read the
 * whole body.
 * @param {RequestRecord} request
 */
function isDisconnected({ state, res, socket, stream }) {
  if (state === STATE_ENDED) return true
  if (stream !== undefined) return stream.closed || stream.destroyed
  return res.destroyed === true || socket?.destroyed === true
}

/**
 * @param {RoutedResponse | null | undefined} res @param {Recorder} recorder
 * @returns {RequestRecord | undefined} the request that this recorder measures for the response
 */
function requestOf(res, recorder) {
  let request = res?.[kRouteState]
  while (request !== undefined && request.recorder !== recorder) request = request.nextOfResponse
  return request
}

exports.NO_OUTCOME = NO_OUTCOME
exports.NO_STATUS = NO_STATUS
exports.RequestRecord = RequestRecord
exports.STATES = STATES
exports.STATE_ANSWERING = STATE_ANSWERING
exports.STATE_ENDED = STATE_ENDED
exports.STATE_QUEUED = STATE_QUEUED
exports.STATE_RECEIVED = STATE_RECEIVED
exports.STATE_RUNNING = STATE_RUNNING
exports.Ticket = Ticket
exports.checkTransitions = checkTransitions
exports.isDisconnected = isDisconnected
exports.requestOf = requestOf
