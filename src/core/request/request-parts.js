'use strict'
// Splits the duration of a request into parts: where did the time go? The parts of a request sum to its
// duration.
//
//   received      queued ──── admitted      handler ──── returned          head            ended
//      │             └─ queue ─┘               └── run ───┘                  │               │
//      └───────────── all that is neither queue nor run: ────────────────────┴───────────────┘
//                                    the loop idled: wait before the head, body after the head
//                                    the loop did not idle: loopBusy
//
// idle     = idle time of the loop from received to ended, without the idle time in the queue
// body     = idle time of the loop from the head to ended
// wait     = idle - body
// loopBusy = duration - queue - run - idle
// gc       = collections outside of the queue, taken out of run and loopBusy
//
// The marks cost a clock read and up to three reads of the loop's idle time. The parts are computed at the
// end of the loop turn, when V8 has reported the collections of the turn. A counter that was increased is
// never corrected. Two parts lie before the duration. `unread` is an upper bound of the time that a request
// was in the kernel while the loop was busy. `proxy` is the time from a proxy's timestamp to the arrival, if
// a feature knows it.

const { placeOf } = require('../features')
const { RollingRows, Rows } = require('../histogram/rows')
const { CollectionTimes } = require('../process/garbage-collection')
const { endedMsOf } = require('./connection-record')
const { ABORTED, TIMED_OUT, UPGRADED } = require('./outcome')

/**
 * @import { Clock } from '../clock'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { Hooked } from '../features'
 * @import { GarbageCollection } from '../process/garbage-collection'
 * @import { RequestRecord } from './request-record'
 * @import { RouteSeries } from './route-series'
 * @typedef {RequestRecord & { series: RouteSeries }} Recorded
 */

/**
 * The parts, in the order of a row and of the values of the label `part`. A row has two more columns, which
 * are not parts. `loop` is the time that the request's own code ran. `gave up` counts requests whose client
 * disconnected before an answer began.
 */
const PARTS = Object.freeze(['queue', 'run', 'loop_busy', 'gc', 'wait', 'body', 'unread', 'proxy'])
const [QUEUE, RUN, LOOP_BUSY, GC, WAIT, BODY, UNREAD, PROXY] = PARTS.keys()
const LOOP = PARTS.length
const GAVE_UP = LOOP + 1
const PART_COLUMNS = GAVE_UP + 1
/** A turn shorter than this does not count as a wait. */
const SHORTEST_TURN_MS = 1
/** A poll that took longer found nothing to read when it began. */
const POLL_MS = 0.1
/**
 * If this many requests end in one turn, their parts are computed without waiting for the collections of the
 * turn.
 */
const MAX_ENDED = 1000

class RequestParts {
  /** Whether time is split: the option `insight.parts`. */
  isOn
  collections = new CollectionTimes()
  #hooked
  #internalErrors
  #recordPending = () => 0
  #rows = new Rows(PART_COLUMNS)
  #rolling
  #clock
  /**
   * Requests that ended in this turn, and how many they are. The array keeps its length, because cutting it
   * enters V8's runtime (docs/decisions/0057).
   *
   * @type {(Recorded | undefined)[]}
   */
  #ended = []
  #endedCount = 0
  #mostEnded = MAX_ENDED
  #turnedMs
  #turnedIdleMs
  #turnMs = 0
  /** When a handler last returned, or code after it last asked another process or wrote a head. */
  #markedMs = 0

  /**
   * @param {Clock} clock
   * @param {boolean} isOn
   * @param {{ hooked: Pick<Hooked, 'proxyMsOf'>, internalErrors: Pick<InternalErrors, 'report'> }} deps
   */
  constructor(clock, isOn, { hooked, internalErrors }) {
    this.isOn = isOn
    this.#hooked = hooked
    this.#internalErrors = internalErrors
    this.#clock = clock
    this.#turnedMs = clock.now()
    this.#turnedIdleMs = clock.idleMs()
    this.#rolling = new RollingRows(this.#rows, this.#turnedMs)
    if (clock.isFrozen) this.close()
  }

  /** @param {Pick<GarbageCollection, 'listen' | 'recordPending'>} collections */
  follow(collections) {
    if (!this.isOn) return
    collections.listen((startMs, durationMs) => this.collections.record(startMs, durationMs))
    this.#recordPending = () => collections.recordPending()
  }

  // Hot path, once a request (bench/overhead).
  /**
   * How long a request was in a proxy before it arrived; undefined if no feature knows.
   *
   * @param {RequestRecord} request
   */
  proxyMsOf(request) {
    const { proxyMsOf } = this.#hooked
    if (proxyMsOf.length === 0) return undefined
    try {
      return proxyMsOf[0].proxyMsOf(request)
    } catch (error) {
      this.#internalErrors.report(placeOf(proxyMsOf[0], 'proxyMsOf'), error)
      return undefined
    }
  }

  /** How long the current loop turn has been busy. */
  turnMs() {
    return this.#clock.now() - this.#turnedMs - (this.#clock.idleMs() - this.#turnedIdleMs)
  }

  // Hot path, once a request (bench/overhead).
  /** @param {RequestRecord} request */
  onReceive(request) {
    const idleMs = this.#clock.idleMs()
    // The gate needs the idle time even if time is not split.
    request.receivedIdleMs = idleMs
    if (!this.isOn) return
    const idledMs = idleMs - this.#turnedIdleMs
    const soFarMs = request.startedMs - this.#turnedMs - idledMs
    // A request that arrives while the loop is idle is read at once, so it has not waited through the turn
    // before.
    const mostMs = idledMs > POLL_MS ? soFarMs : Math.max(soFarMs, this.#turnMs)
    if (mostMs >= SHORTEST_TURN_MS) request.unreadMs = unreadMs(request, mostMs)
  }

  // Hot path, once a request (bench/overhead).
  /** The handler has returned for the first time. @param {RequestRecord} request */
  onReturn(request, nowMs = this.#clock.now()) {
    if (this.isOn) request.returnedMs = this.#markedMs = nowMs
  }

  // Hot path, once a request (bench/overhead).
  /**
   * The code of a request that runs after its handler has returned mostly ends by writing the head.
   *
   * @param {RequestRecord} request
   * @param {number} nowMs
   */
  onHead(request, nowMs) {
    if (!this.isOn || request.returnedMs < 0) return
    request.headIdleMs = this.#addResumed(request, nowMs)
  }

  // Hot path: once a call, and once a use of a pool.
  /**
   * The code of the request asks another process, and will go on with the answer.
   *
   * @param {RequestRecord} request
   * @param {number} nowMs
   */
  onAsk(request, nowMs) {
    if (this.isOn && request.returnedMs >= 0 && request.headIdleMs < 0) this.#addResumed(request, nowMs)
  }

  /**
   * The time since the loop woke, or since the last mark, counts for the request whose code runs. A body was
   * parsed, or an `await` ended.
   *
   * @param {RequestRecord} request @param {number} nowMs
   */
  #addResumed(request, nowMs) {
    const idleMs = this.#clock.idleMs()
    request.afterReturnMs += this.takeResumedMs(nowMs, idleMs)
    return idleMs
  }

  /** How long code has run since the loop woke, or since the last mark. Sets a mark. @param {number} nowMs */
  takeResumedMs(nowMs, idleMs = this.#clock.idleMs()) {
    const wokeMs = this.#turnedMs + idleMs - this.#turnedIdleMs
    const ms = Math.max(0, nowMs - Math.max(wokeMs, this.#markedMs))
    this.#markedMs = nowMs
    return ms
  }

  // Hot path, once a request (bench/overhead). With a frozen clock, turns never end.
  /** @param {RequestRecord} request that has ended and has a series */
  onEnd(request) {
    this.#ended[this.#endedCount++] = /** @type {Recorded} */ (request)
    if (this.#endedCount >= this.#mostEnded) this.#settle()
  }

  // Hot path: once a loop turn.
  /** @param {number} busyMs @param {number} nowMs @param {number} idleMs */
  onTurn(busyMs, nowMs, idleMs) {
    this.#turnedMs = nowMs
    this.#turnedIdleMs = idleMs
    this.#turnMs = busyMs
    this.#recordPending()
    if (this.#endedCount > 0) this.#settle()
    this.#rolling.onTurn(nowMs)
  }

  #settle() {
    const ended = this.#ended
    for (let i = 0; i < this.#endedCount; i++) {
      this.#record(/** @type {Recorded} */ (ended[i]))
      ended[i] = undefined
    }
    this.#endedCount = 0
  }

  /** @param {Recorded} request */
  #record(request) {
    const { ticket, durationMs, othersInFlight, series } = request
    // Streams and upgraded connections have no duration to compare or to split.
    const hasDuration = !request.isStream && request.outcome !== UPGRADED
    const hasGivenUp = request.outcome === ABORTED && request.firstByteMs < 0 && !request.isLongPoll
    if (hasDuration) {
      const ms = durationMs - ticket.waitedMs
      if (hasGivenUp || request.outcome === TIMED_OUT) series.load.recordUnanswered(ms)
      else series.load.record(othersInFlight, ms)
    }
    if (!this.isOn) return
    const start = (series.partsRow ??= this.#rows.add()) * PART_COLUMNS
    const { values } = this.#rows
    values[start + LOOP] += Math.max(0, request.returnedMs - ticket.decidedMs) + request.afterReturnMs
    if (hasGivenUp) values[start + GAVE_UP]++
    if (hasDuration) this.#addParts(request, values, start)
  }

  // Hot path, once a request (bench/overhead).
  /** @param {RequestRecord} request @param {Float64Array} values @param {number} start */
  #addParts(request, values, start) {
    const { ticket, durationMs, startedMs } = request
    const endedMs = startedMs + durationMs
    const { waitedMs } = ticket
    const { queueEntry } = ticket
    const queuedIdleMs = queueEntry === undefined ? 0 : queueEntry.dequeuedIdleMs - queueEntry.queuedIdleMs
    const handlerMs = ticket.decidedMs
    const returnedMs = Math.min(request.returnedMs, endedMs)
    const ranMs = Math.max(0, returnedMs - handlerMs)
    const leftMs = Math.max(0, durationMs - waitedMs - ranMs)
    // Two clocks may differ by a little.
    const idledMs = within(request.endedIdleMs - request.receivedIdleMs - queuedIdleMs, leftMs)
    const bodyMs = request.firstByteMs < 0 ? 0 : within(request.endedIdleMs - headIdleMsOf(request), idledMs)
    values[start + QUEUE] += waitedMs
    values[start + RUN] += ranMs
    values[start + LOOP_BUSY] += leftMs - idledMs
    values[start + WAIT] += idledMs - bodyMs
    values[start + BODY] += bodyMs
    values[start + UNREAD] += request.unreadMs
    const proxyMs = this.proxyMsOf(request)
    if (proxyMs !== undefined) values[start + PROXY] += proxyMs
    if (this.collections.lastEndMs <= startedMs) return
    const { collections } = this
    const inQueueMs = queueEntry === undefined ? 0 : collections.between(queueEntry.queuedMs, handlerMs)
    const inRunMs = within(collections.between(handlerMs, returnedMs), ranMs)
    const inAllMs = collections.between(startedMs, endedMs)
    const inBusyMs = within(inAllMs - inQueueMs - inRunMs, leftMs - idledMs)
    values[start + RUN] -= inRunMs
    values[start + LOOP_BUSY] -= inBusyMs
    values[start + GC] += inRunMs + inBusyMs
  }

  /**
   * The parts of one request that has ended, or null. Collections of the current turn are not known before
   * the turn ends.
   *
   * @param {RequestRecord} request
   */
  of(request) {
    if (!this.isOn) return null
    const values = new Float64Array(PART_COLUMNS)
    this.#addParts(request, values, 0)
    return partsIn((part) => Math.round(values[part] * 1000) / 1000)
  }

  /**
   * The sums of all requests that have ended. For requests that ended in this turn, the collections of the
   * turn count as run or as loopBusy.
   * @param {Float64Array} [spare]
   */
  copy(spare) {
    this.#settle()
    return this.#rows.copy(spare)
  }

  /** The rows as they were at the beginning of the last minute. @param {number} nowMs */
  minuteAgo(nowMs) {
    return this.#rolling.minuteAgo(nowMs)
  }

  /** No turn follows: from now on each request is counted when it ends. */
  close() {
    this.#mostEnded = 1
    this.#settle()
  }
}

/**
 * The loop does not idle while a handler runs. So a head that the handler writes has the idle time of the
 * handler's call.
 *
 * @param {RequestRecord} request
 */
const headIdleMsOf = ({ ticket, headIdleMs, receivedIdleMs }) =>
  headIdleMs < 0 ? Math.max(receivedIdleMs, ticket.idleMs) : headIdleMs

/** @param {number} ms @param {number} mostMs */
const within = (ms, mostMs) => Math.min(Math.max(0, ms), mostMs)

/**
 * Limits the time by the end of the previous answer, because a client sends the next request on its
 * connection after that.
 *
 * @param {RequestRecord} request
 * @param {number} mostMs
 */
function unreadMs({ connection, session, startedMs }, mostMs) {
  if (session !== undefined) return mostMs
  return within(startedMs - endedMsOf(connection), mostMs)
}

/** @param {(part: number) => number} read */
function partsIn(read) {
  return {
    queueMs: read(QUEUE),
    runMs: read(RUN),
    loopBusyMs: read(LOOP_BUSY),
    gcMs: read(GC),
    waitMs: read(WAIT),
    bodyMs: read(BODY),
  }
}

exports.GAVE_UP = GAVE_UP
exports.LOOP = LOOP
exports.UNREAD = UNREAD
exports.PARTS = PARTS
exports.PROXY = PROXY
exports.PART_COLUMNS = PART_COLUMNS
exports.RequestParts = RequestParts
exports.partsIn = partsIn
