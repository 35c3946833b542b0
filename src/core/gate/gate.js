'use strict'
// The gate decides whether a request runs now, is queued or is rejected. The gate dequeues in the check phase
// of loop turns, one request per callback. So Node runs ticks and promises between two requests, as between
// two sockets.

const { isDisconnected } = require('../request/request-record')
const { hasBody } = require('../request/half-closed')
const { HAND_OVER_MS } = require('./measurements/accept-burst')
const { RECHECK_MS, SAMPLE_MS, TURN_BUDGET_MS } = require('./measurements/loop-turns')
const { QueueEntry, inRequestContext } = require('./queue')
const { CRITICAL, QUEUED, REJECTED, RUN } = require('./decision')

/**
 * @import { ShedReason } from '../../../index.js'
 * @import { Clock } from '../clock'
 * @import { RequestRecord, Ticket } from '../request/request-record'
 * @import { Limits } from './limits/limits'
 * @import { Queue } from './queue'
 * @import { Stats } from './stats'
 * @import { UserHooks } from './user-hooks'
 * @import { Cause, Decision } from './decision'
 */

/** @typedef {NonNullable<Ticket['runQueued']>} RunQueued */

/**
 * The budget of a loop turn while clients cannot make the queue long, in place of TURN_BUDGET_MS. With the
 * smaller budget, more requests would be queued. Queued requests survive minor garbage collections, which
 * makes these collections slower.
 */
const BOUNDED_BUDGET_MS = 50
/**
 * The budget while the primary of a cluster has connections waiting. It hands over one in a loop turn, so
 * short turns empty its queue. Nobody sees how old the requests in that queue are.
 */
const BEHIND_BUDGET_MS = 1

/** The entry of a request that is or was queued. @param {RequestRecord} request */
const entryOf = ({ ticket }) => /** @type {QueueEntry} */ (ticket.queueEntry)

class Gate {
  peakInFlight = 0
  lastAdmitMs = 0
  /** How many requests have reached `decide` in the current loop turn. */
  arrivedInTurn = 0
  /** How many requests in flight have ended in the current loop turn. */
  endedInTurn = 0
  #cause
  #clock
  #limits
  #measurements
  #queue
  #hooks
  #stats
  #rejectRequest
  #onReturn
  /** Time of the first request in the last loop turn with an arrival. */
  #firstArrivalMs = 0
  /** When the first request of this loop turn was dequeued. */
  #firstDequeueMs = Number.POSITIVE_INFINITY
  #ranHalfClosedMs = Number.NEGATIVE_INFINITY
  #isAccepting = false
  #turnedMs = 0
  #budgetMs = TURN_BUDGET_MS
  #isRecheckScheduled = false
  #isClosed = false
  #turnAgain = () => {}
  /** Node runs timers after the check phase. Without an immediate the loop would sleep before the turn. */
  #turnAfterTimer = () => this.#clock.afterTurn(this.#turnAgain)
  #dequeueOne = () => this.#dequeue()

  /**
   * @param {{ cause: Cause, clock: Clock, queue: Queue, limits: Limits,
   *   measurements: import('./admission').Measurements, stats: Stats, hooks: UserHooks,
   *   rejectRequest: (request: RequestRecord, reason: ShedReason) => void,
   *   onReturn: (request: RequestRecord, nowMs: number) => void }} deps `rejectRequest` counts and answers
   *   the request; `onReturn` is called when the handler of a dequeued request has returned
   */
  constructor({ cause, clock, limits, measurements, queue, hooks, stats, rejectRequest, onReturn }) {
    this.#cause = cause
    this.#clock = clock
    this.#limits = limits
    this.#measurements = measurements
    this.#queue = queue
    this.#hooks = hooks
    this.#stats = stats
    this.#rejectRequest = rejectRequest
    this.#onReturn = onReturn
  }

  // Hot path, once a request (bench/overhead). With a free slot and an empty queue, `decide` makes
  // a dozen comparisons and allocates nothing.
  /**
   * @param {RequestRecord} request
   * @param {number} nowMs
   * @returns {Decision} RUN, QUEUED (`runQueued` will be called) or REJECTED (`rejectRequest` was called)
   */
  decide(request, nowMs) {
    if (this.arrivedInTurn++ === 0) this.#firstArrivalMs = nowMs
    if (!this.#limits.hasFreeSlot(nowMs)) this.#limits.onHeldBack(this.#limits.shortResource)
    else if (this.#queue.length === 0 && this.#fitsThisTurn(nowMs)) return this.admit(request, nowMs)
    this.#measurements.clients.onQueue(request.req)
    const key = this.#hooks.keyOf(request)
    const tag = this.#queue.tagOf(key)
    const maxWaitMs = this.#limits.ofFeatures.maxWaitMs(request, nowMs)
    const reason = this.#reasonFor(request, tag, maxWaitMs, nowMs)
    if (reason !== undefined) return this.reject(request, reason)
    // A function of the user may have closed the instance, and a closed gate dequeues nothing.
    if (this.#isClosed) return this.admit(request, nowMs)
    const stallFreeMs = this.#measurements.turns.stallFreeMs(nowMs)
    const marks = { key, tag, maxWaitMs, nowMs, stallFreeMs, idleMs: this.#clock.idleMs() }
    return this.#enqueue(request, new QueueEntry(request, marks))
  }

  /** @param {RequestRecord} request @param {number} tag @param {number} maxWaitMs @param {number} nowMs */
  #reasonFor({ ticket }, tag, maxWaitMs, nowMs) {
    const ahead = this.#queue.ahead(ticket.priority, tag)
    const expectedWaitMs = this.#limits.expectedWaitMs(ahead)
    // While the loop is not short, the expected wait may be wrong: the request is queued until its deadline
    // has really passed.
    const isShort = this.#limits.isAtMaxConcurrent || this.#limits.isLoopShort(nowMs)
    if (expectedWaitMs >= maxWaitMs && (isShort || maxWaitMs <= 0))
      return this.#cause.because('deadline', expectedWaitMs, maxWaitMs)
    return this.#limits.reasonFor(expectedWaitMs, ahead, ticket.priority, nowMs)
  }

  /**
   * An idling loop runs every request on arrival. A full loop accepts first, then runs what the turn's budget
   * allows.
   *
   * @param {number} nowMs
   */
  #fitsThisTurn(nowMs) {
    const { acceptBurst } = this.#measurements
    const isAccepting = acceptBurst.mayBeAccepting && acceptBurst.isAccepting(nowMs)
    if (!isAccepting && nowMs - this.#firstArrivalMs < this.#budgetMs) return true
    return this.#limits.loop.isRejectingPointless || this.#measurements.turns.isIdling(nowMs)
  }

  /**
   * Puts the request in flight. If it has just arrived, the loop's idle time has been read for it already.
   *
   * @param {RequestRecord} request
   * @param {number} nowMs
   */
  admit(request, nowMs) {
    const isArrival = nowMs === request.startedMs
    this.#limits.onAdmit(request.ticket, nowMs, isArrival ? request.receivedIdleMs : this.#clock.idleMs())
    this.#stats.admitted++
    this.lastAdmitMs = nowMs
    if (this.#limits.inFlight > this.peakInFlight) this.peakInFlight = this.#limits.inFlight
    if (!request.hasAnswer) request.markRunning()
    this.#limits.ofFeatures.onAdmit(request, nowMs)
    return RUN
  }

  /** @param {RequestRecord} request @param {ShedReason} reason */
  reject(request, reason) {
    this.#limits.onHeldBack(reason)
    this.#rejectRequest(request, reason)
    return REJECTED
  }

  /** @param {RequestRecord} request @param {QueueEntry} entry */
  #enqueue(request, entry) {
    request.ticket.queueEntry = entry
    // Code other than the handler may have begun the answer already.
    if (!request.hasAnswer) request.markQueued()
    if (this.#queue.length === 0) this.#limits.onFirstQueued(entry.queuedMs)
    this.#queue.push(entry, () => this.#onHalfClose(request, entry))
    this.#clock.afterTurn(this.#dequeueOne)
    return QUEUED
  }

  /**
   * Called once for every request that has ended, with any outcome.
   *
   * @param {RequestRecord} request
   * @param {number} nowMs
   * @param {number} idleMs
   */
  release(request, nowMs, idleMs) {
    const { ticket } = request
    if (ticket.isInFlight) {
      this.endedInTurn++
      this.#limits.onEnd(ticket, nowMs, idleMs)
      if (this.#queue.length > 0) this.#clock.afterTurn(this.#dequeueOne)
    } else if (ticket.isAbandoned) {
      if (entryOf(request).isQueued) this.#queue.remove(entryOf(request))
      this.#stats.abandoned++
      ticket.queueEntry?.giveUp?.()
    }
  }

  /**
   * Called when a request in flight is rejected by the limit of its route. The request has not run, so its
   * figures are not counted.
   *
   * @param {RequestRecord} request
   * @param {number} nowMs
   */
  withdraw({ ticket }, nowMs) {
    if (ticket.isInFlight) this.#limits.onWithdraw(ticket, nowMs)
  }

  /** Whether the gate needs another loop turn: requests are queued, or an accept burst delays their start. */
  get needsNextTurn() {
    return this.#queue.length > 0 || this.#isAccepting
  }

  /** @param {number} nowMs @param {number} idleMs @param {number} busyMs */
  onTurn(nowMs, idleMs, busyMs) {
    const isQueueing = this.#queue.length > 0
    this.#limits.onTurn(nowMs, idleMs, this.arrivedInTurn, this.endedInTurn, isQueueing)
    this.arrivedInTurn = this.endedInTurn = 0
    this.#firstDequeueMs = Number.POSITIVE_INFINITY
    const { acceptBurst } = this.#measurements
    this.#isAccepting = acceptBurst.onTurn(nowMs, busyMs, this.lastAdmitMs > this.#turnedMs)
    this.#turnedMs = nowMs
    if (acceptBurst.isPrimaryBehind) this.#budgetMs = BEHIND_BUDGET_MS
    else this.#budgetMs = this.#limits.areClientsBounded ? BOUNDED_BUDGET_MS : TURN_BUDGET_MS
    if (!isQueueing) return
    if (this.#isAccepting) return this.#acceptMore()
    this.#rejectOverdue(nowMs)
    this.#scheduleDequeues(nowMs)
  }

  #acceptMore() {
    const { acceptBurst, turns } = this.#measurements
    if (!acceptBurst.isAwaitingPrimary) return this.#clock.afterTurn(this.#turnAgain)
    turns.onSleep()
    this.#clock.after(HAND_OVER_MS, this.#turnAfterTimer)
  }

  /** Schedules as many callbacks as the budget of the next loop turn allows. @param {number} nowMs */
  #scheduleDequeues(nowMs) {
    if (this.#queue.length === 0) return
    if (!this.#limits.hasFreeSlot(nowMs)) return this.#scheduleRecheck()
    const expectedCostMs = Math.max(this.#limits.loop.expectedCostMs, TURN_BUDGET_MS / 1000)
    const count = Math.min(this.#queue.length, Math.ceil(this.#budgetMs / expectedCostMs))
    for (let i = 0; i < count; i++) this.#clock.afterTurn(this.#dequeueOne)
  }

  /** Without a timer the loop would sleep although requests are queued. */
  #scheduleRecheck() {
    if (this.#isRecheckScheduled) return
    this.#isRecheckScheduled = true
    this.#clock.after(RECHECK_MS, () => {
      this.#isRecheckScheduled = false
      this.#turnAfterTimer()
    })
  }

  #dequeue() {
    if (this.#isAccepting) return
    const nowMs = this.#clock.now()
    // The budget is compared with all time since the first dequeue, not with the time until handlers
    // returned. A handler that awaits goes on working in the ticks after its return.
    if (nowMs - this.#firstDequeueMs >= this.#budgetMs || !this.#limits.hasFreeSlot(nowMs)) return
    const request = this.#queue.shift()
    if (request === undefined) return
    this.#firstDequeueMs = Math.min(this.#firstDequeueMs, nowMs)
    this.#runQueued(request)
  }

  /** @param {RequestRecord} request */
  #runQueued(request) {
    // The client has disconnected, so a handler that starts now would miss the events that say so.
    if (isDisconnected(request)) return
    const nowMs = this.#clock.now()
    const reason = this.#limits.areEnforced
      ? this.#limits.ofFeatures.reasonAfterQueue(request, nowMs)
      : undefined
    if (reason !== undefined) return this.#rejectQueued(request, reason)
    const entry = entryOf(request)
    this.#stats.onWait(nowMs - entry.queuedMs)
    this.admit(request, nowMs)
    entry.dequeuedIdleMs = request.ticket.idleMs
    try {
      inRequestContext(entry, request, /** @type {RunQueued} */ (request.ticket.runQueued))
    } finally {
      const returnedMs = this.#clock.now()
      this.#onReturn(request, returnedMs)
      this.#measurements.cost.onRun(returnedMs - nowMs)
    }
  }

  /**
   * A half-closed client receives only an answer that is sent at once: run the request now, or reject it.
   *
   * @param {RequestRecord} request
   * @param {QueueEntry} entry
   */
  #onHalfClose(request, entry) {
    // A half-closed connection may have several queued requests. The handler of an earlier one may have
    // closed the instance, and so emptied the queue.
    if (!entry.isQueued) return
    this.#queue.remove(entry)
    const nowMs = this.#clock.now()
    // In a burst the request runs. In an overload it is rejected: it must not overtake other requests, and a
    // client that gave up looks half-closed until its response is written. Even then, one such request runs
    // every SAMPLE_MS, so that some of these clients get an answer.
    const mustNotOvertake =
      entry.priority !== CRITICAL && this.#limits.isOverload(nowMs) && this.#limits.isLoopShort(nowMs)
    // Body parsers treat a request as finished once its client has half-closed, so the handler would see no
    // body.
    const mayRun = !hasBody(request.req) && (!mustNotOvertake || nowMs - this.#ranHalfClosedMs >= SAMPLE_MS)
    if (this.#limits.isAtMaxConcurrent) return this.#rejectQueued(request, this.#limits.concurrencyReason())
    // The request of a half-closed client cannot be queued again.
    if (!mayRun) return this.#rejectQueued(request, this.#cause.because('loop', nowMs - entry.queuedMs, 0))
    if (mustNotOvertake) this.#ranHalfClosedMs = nowMs
    this.#runQueued(request)
  }

  /**
   * Rejects requests that have been queued for too long. Unless the loop or `maxConcurrent` is short, only
   * those past their own deadline are rejected.
   *
   * @param {number} nowMs
   */
  #rejectOverdue(nowMs) {
    const { areEnforced, delay, isAtMaxConcurrent } = this.#limits
    const isShort = areEnforced && (isAtMaxConcurrent || this.#limits.isLoopShort(nowMs))
    const isOverload = this.#limits.isOverload(nowMs)
    const { bounds } = this.#queue
    // In most turns nothing is overdue, so a long queue need not be searched.
    const mayBeOverdue = isShort && delay.isOverdue(bounds, isOverload, nowMs)
    if (!mayBeOverdue && !bounds.mayBePastDeadline(nowMs)) return
    /** @param {QueueEntry} each */
    const isOverdue = (each) =>
      each.isPastDeadline(nowMs) || (isShort && delay.isOverdue(each, isOverload, nowMs))
    /** @param {QueueEntry} each */
    const reasonOf = (each) =>
      each.isPastDeadline(nowMs)
        ? this.#cause.because('deadline', nowMs - each.queuedMs, each.maxWaitMs)
        : this.#limits.overdueReason(each, isOverload, nowMs)
    this.#rejectAll(reasonOf, isOverdue)
  }

  /**
   * @param {(entry: QueueEntry) => ShedReason} reasonOf
   * @param {(entry: QueueEntry) => boolean} [isChosen]
   */
  #rejectAll(reasonOf, isChosen = (_each) => true) {
    for (const request of this.#queue.scan(isChosen)) {
      // A listener or function of the user may have closed the instance, and so emptied the queue.
      if (!entryOf(request).isQueued) continue
      this.#queue.remove(entryOf(request))
      this.#rejectQueued(request, reasonOf(entryOf(request)))
    }
  }

  /** @param {RequestRecord} request @param {ShedReason} reason */
  #rejectQueued(request, reason) {
    if (isDisconnected(request)) return
    inRequestContext(entryOf(request), request, () => this.reject(request, reason))
    entryOf(request).giveUp?.()
  }

  /** Rejects every queued request; from now on no request is queued. */
  close() {
    this.#isClosed = true
    this.#rejectAll(() => this.#cause.because('closed'))
  }
}

exports.Gate = Gate
