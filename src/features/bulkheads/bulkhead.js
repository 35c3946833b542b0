'use strict'
// One bulkhead: at most `maxConcurrent` requests run behind a middleware of `limit()`. Other requests wait in
// the bulkhead's own queue, in the order of the gate's queue: class, fair share, arrival. A full queue keeps
// the requests that would run first. A request that has waited for `maxWait` is rejected. Each slot that
// becomes free schedules a dequeue. Until it runs, the slot is free although requests are queued. In mode
// `observe` every request runs at once, and a model of the slots says which would be rejected.

const { Queue, QueueEntry, inRequestContext } = require('../../core/gate/queue')
const { BYPASS, LIMIT_REASON, QUEUED, REJECTED, RUN } = require('../../core/gate/decision')
const { hasBody } = require('../../core/request/half-closed')
const { IGNORE_SHED } = require('../../core/request/ignore')
const { isDisconnected } = require('../../core/request/request-record')
const { ShadowBulkhead } = require('./shadow-bulkhead')

/**
 * @import { ShedReason } from '../../../index.js'
 * @import { Clock } from '../../core/clock'
 * @import { Timeouts } from '../../core/errors/timeouts'
 * @import { Admission } from '../../core/gate/admission'
 * @import { Decision } from '../../core/gate/decision'
 * @import { MemberOptions } from '../../core/options/options'
 * @import { RequestRecord } from '../../core/request/request-record'
 * @import { Slot } from './slot'
 *
 * @typedef {Pick<Admission, 'cause' | 'hooks' | 'maxWaitMs' | 'measurements' | 'mode' | 'onWouldReject' |
 *   'onWouldWithdraw' | 'pause' | 'rejectAdmitted' | 'resume'>} AskedAdmission
 *   what a bulkhead uses of the gate
 * @typedef {{ admission: AskedAdmission, clock: Clock, slotOf: (request: RequestRecord, bulkhead: Bulkhead) =>
 *   Slot | undefined, keep: (slot: Slot) => void, onWait: (waitMs: number) => void, timeouts: Pick<Timeouts,
 *   'leftMs'>, gateShare: { readonly value: number } }} BulkheadDeps
 */

/** Least time between two searches of the queue for requests that have waited too long. */
const CHECK_MS = 10
class Bulkhead {
  /** Requests that hold a slot. In mode `observe` there may be more of them than slots. */
  running = 0
  admitted = 0
  rejected = 0
  wouldReject = 0
  /** Requests whose client disconnected while they were queued. */
  abandoned = 0
  name
  maxConcurrent
  maxQueue
  maxWaitMs
  #key
  #deps
  /** @type {ShedReason} */
  #reason
  #queue = new Queue()
  #shadow
  #isClosed = false
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #timerMs = Number.POSITIVE_INFINITY
  #dequeueOne = () => this.#dequeue()
  #checkLater = () => void this.#deps.clock.afterTurn(() => this.#check())

  /** @param {MemberOptions['limit']} options @param {BulkheadDeps} deps */
  constructor({ name, maxConcurrent, maxQueue, maxWait, key }, deps) {
    this.name = name
    this.maxConcurrent = maxConcurrent
    this.maxQueue = maxQueue ?? Number.POSITIVE_INFINITY
    this.maxWaitMs = maxWait
    this.#key = key
    this.#reason = `${LIMIT_REASON}${name}`
    this.#deps = deps
    const { admission, clock, gateShare } = deps
    this.#shadow = new ShadowBulkhead(this, {
      clock,
      turns: admission.measurements.turns,
      gateShare,
      onWouldReject: ({ priority, others }) => {
        this.wouldReject++
        admission.onWouldReject(this.#because(others), priority)
      },
      onWithdraw: () => admission.onWouldWithdraw(),
    })
  }

  /** Mean time that a slot is held. */
  get slotHeldMs() {
    return this.#shadow.heldMs
  }

  get queued() {
    return this.#queue.length
  }

  get #isObserved() {
    return this.#deps.admission.mode === 'observe'
  }

  // Hot path: once a request. With a free slot it allocates nothing.
  /**
   * @param {Slot} slot
   * @returns {Decision} RUN, QUEUED (`runQueued` or `giveUp` will be called) or REJECTED (answered, or its
   *   client has disconnected)
   */
  takeSlot(slot) {
    const { request } = slot
    // With a frozen clock, no request would ever be dequeued.
    if (this.#isClosed || this.#deps.clock.isFrozen) return RUN
    if (request.isTimedOut) return REJECTED
    // Code before the handler has already answered, so nobody waits for the handler.
    if (request.res.headersSent) return RUN
    this.#classify(request)
    if (request.ticket.priority === BYPASS || this.#deps.slotOf(request, this) !== undefined) return RUN
    if (isDisconnected(request)) return REJECTED
    const nowMs = this.#deps.clock.now()
    if (this.#isObserved) this.#observe(slot, nowMs)
    else if (this.running >= this.maxConcurrent || this.#queue.length > 0)
      return this.#queueOrReject(slot, nowMs)
    this.#deps.keep(slot)
    this.#take(slot, nowMs)
    return RUN
  }

  /**
   * Sets the class, unless the gate has set it. The gate has not set it if the gate is off, or if the request
   * never passed the gate.
   *
   * @param {RequestRecord} request
   */
  #classify({ ignores, req, ticket }) {
    const { hooks, mode } = this.#deps.admission
    if ((ignores & IGNORE_SHED) !== 0) ticket.priority = BYPASS
    else if (hooks.classifies && (mode === 'off' || !ticket.isDecided)) ticket.priority = hooks.classOf(req)
  }

  /** @param {Slot} slot @param {number} nowMs */
  #take(slot, nowMs) {
    slot.isHeld = true
    slot.takenMs = nowMs
    if (this.#isObserved) slot.takenIdleMs = this.#deps.clock.idleMs()
    this.running++
    this.admitted++
  }

  /** @param {Slot} slot @param {number} nowMs */
  #observe({ request }, nowMs) {
    const boundMs = Math.min(this.maxWaitMs, this.#requestMaxWaitMs(request, nowMs))
    this.#shadow.onRequest({ priority: request.ticket.priority, others: this.running, boundMs }, nowMs)
  }

  /** Returns the reason, with the number of requests that want a slot, this one included. */
  #because(others = this.running + this.#queue.length) {
    const wanted = others + 1
    return this.#deps.admission.cause.because(this.#reason, wanted, this.maxConcurrent)
  }

  /** @param {Slot} slot @param {number} nowMs */
  #queueOrReject(slot, nowMs) {
    const { request, ctx } = slot
    const { admission, clock } = this.#deps
    const key = admission.hooks.keyOf(request, this.#key, ctx)
    const tag = this.#queue.tagOf(key)
    const maxWaitMs = this.#requestMaxWaitMs(request, nowMs)
    // A function of the user may have closed the instance. A closed bulkhead dequeues nothing, so the request
    // runs.
    if (this.#isClosed) return RUN
    if (Math.min(this.maxWaitMs, maxWaitMs) <= 0 || !this.#makeRoom(request.ticket.priority, tag))
      return this.#reject(slot, this.#because())
    const stallFreeMs = admission.measurements.turns.stallFreeMs(nowMs)
    const idleMs = clock.idleMs()
    const entry = new QueueEntry(request, { key, tag, maxWaitMs, nowMs, stallFreeMs, idleMs })
    slot.queueEntry = entry
    this.#deps.keep(slot)
    request.markQueued()
    admission.pause(request, nowMs)
    this.#queue.push(entry, () => this.#onHalfClose(slot, entry))
    this.#checkIn(Math.min(this.maxWaitMs, maxWaitMs), nowMs)
    return QUEUED
  }

  /**
   * Returns how long the request may be queued, by its deadline and by `errors.timeout`.
   *
   * @param {RequestRecord} request
   * @param {number} nowMs
   */
  #requestMaxWaitMs(request, nowMs) {
    const { admission, timeouts } = this.#deps
    return Math.min(admission.maxWaitMs(request, nowMs), timeouts.leftMs(request, nowMs))
  }

  /**
   * Makes room for one more request, and returns whether there is room. In a full queue, the new request
   * replaces the last queued request if the new one would run before it.
   *
   * @param {number} priority
   * @param {number} tag
   */
  #makeRoom(priority, tag) {
    if (this.#queue.length < this.maxQueue) return true
    const last = this.#queue.last()
    if (last === undefined || priority > last.priority || (priority === last.priority && tag >= last.tag))
      return false
    this.#rejectQueued(this.#remove(this.#slotOf(/** @type {RequestRecord} */ (last.request))))
    return true
  }

  /** @param {Slot} slot @param {ShedReason} reason */
  #reject({ request, frameworkNext }, reason) {
    this.rejected++
    request.ticket.frameworkNext = frameworkNext
    this.#deps.admission.rejectAdmitted(request, reason)
    return REJECTED
  }

  /** @param {Slot} slot taken out of the queue @param {ShedReason} [reason] */
  #rejectQueued(slot, reason) {
    const { request } = slot
    if (isGone(request)) return this.#abandon(slot)
    inRequestContext(/** @type {QueueEntry} */ (slot.queueEntry), request, () =>
      this.#reject(slot, reason ?? this.#because())
    )
    slot.giveUp()
  }

  /** @param {RequestRecord} request that is queued, or was until now */
  #slotOf(request) {
    return /** @type {Slot} */ (this.#deps.slotOf(request, this))
  }

  /** @param {Slot} slot that is queued */
  #remove(slot) {
    this.#queue.remove(/** @type {QueueEntry} */ (slot.queueEntry))
    return slot
  }

  #dequeue() {
    while (this.#isObserved || this.running < this.maxConcurrent) {
      const request = this.#queue.shift()
      if (request === undefined) return
      const slot = this.#slotOf(request)
      // One request per callback, so that Node runs ticks and promises before the next request.
      if (this.#mayRun(slot)) return this.#run(slot)
      this.#rejectQueued(slot)
    }
  }

  /**
   * Whether the client still waits for the answer. The deadline is checked here too, because the timer of the
   * queue may be late.
   *
   * @param {Slot} slot that was queued
   */
  #mayRun({ request, queueEntry: entry }) {
    return !isGone(request) && !(/** @type {QueueEntry} */ (entry).isPastDeadline(this.#deps.clock.now()))
  }

  /** @param {Slot} slot taken out of the queue */
  #run(slot) {
    const { request, runQueued } = slot
    const entry = /** @type {QueueEntry} */ (slot.queueEntry)
    const { admission, clock, onWait } = this.#deps
    const nowMs = clock.now()
    this.#take(slot, nowMs)
    admission.resume(request, nowMs)
    onWait(nowMs - entry.queuedMs)
    if (!request.hasAnswer) request.markRunning()
    inRequestContext(entry, request, runQueued)
  }

  /**
   * The client has half-closed, so it only receives an answer that is sent at once. A body parser would
   * believe that the body is complete.
   *
   * @param {Slot} slot
   * @param {QueueEntry} entry
   */
  #onHalfClose(slot, entry) {
    // A handler that ran for the same half-close may have closed the instance, and so emptied the queue.
    if (!entry.isQueued) return
    this.#remove(slot)
    const isFree = this.running < this.maxConcurrent
    if (isFree && !hasBody(slot.request.req) && this.#mayRun(slot)) this.#run(slot)
    else this.#rejectQueued(slot)
  }

  /**
   * Called once for each request with a slot or a place in the queue, when it has ended.
   *
   * @param {Slot} slot
   * @param {number} nowMs
   */
  onEnd(slot, nowMs) {
    const { queueEntry } = slot
    if (slot.isHeld) {
      if (this.#isObserved) this.#shadow.onEndWhileObserving(slot, this.running, nowMs)
      else this.#shadow.onEnd(nowMs - slot.takenMs)
      this.running--
      if (this.#queue.length > 0) this.#deps.clock.afterTurn(this.#dequeueOne)
    } else if (queueEntry?.isQueued) {
      this.#abandon(this.#remove(slot))
    }
  }

  /** Counts a request whose answer nobody waits for any more. @param {Slot} slot taken out of the queue */
  #abandon(slot) {
    this.abandoned++
    slot.giveUp()
  }

  /**
   * Schedules a search of the queue after this time, unless an earlier search is scheduled.
   *
   * @param {number} leftMs
   * @param {number} nowMs
   */
  #checkIn(leftMs, nowMs) {
    if (nowMs + leftMs >= this.#timerMs) return
    const { clock } = this.#deps
    if (this.#timer !== undefined) clock.cancel(this.#timer)
    this.#timerMs = nowMs + leftMs
    this.#timer = clock.after(leftMs, this.#checkLater)
  }

  /**
   * Rejects requests that have waited too long. Runs after the turn, so ends that Node reported in this turn
   * are already known.
   */
  #check() {
    this.#timer = undefined
    this.#timerMs = Number.POSITIVE_INFINITY
    const nowMs = this.#deps.clock.now()
    let leastMs = Number.POSITIVE_INFINITY
    const overdue = this.#queue.scan((entry) => {
      const leftMs = this.#leftMs(entry, nowMs)
      if (leftMs > 0) leastMs = Math.min(leastMs, leftMs)
      return leftMs <= 0
    })
    this.#rejectAll(overdue)
    if (this.#queue.length > 0) this.#checkIn(Math.max(CHECK_MS, leastMs), nowMs)
  }

  /**
   * A stall of the loop does not count as a wait for a slot, but it uses up a deadline.
   *
   * @param {QueueEntry} entry
   * @param {number} nowMs
   */
  #leftMs(entry, nowMs) {
    const waitedMs = this.#deps.admission.measurements.turns.stallFreeMs(nowMs) - entry.queuedStallFreeMs
    return Math.min(this.maxWaitMs - waitedMs, entry.queuedMs + entry.maxWaitMs - nowMs)
  }

  /** @param {readonly RequestRecord[]} requests @param {ShedReason} [reason] */
  #rejectAll(requests, reason) {
    for (const request of requests) {
      const slot = this.#deps.slotOf(request, this)
      // A listener or function of the user may have closed the instance, and so emptied the queue.
      if (slot?.queueEntry?.isQueued) this.#rejectQueued(this.#remove(slot), reason)
    }
  }

  /**
   * `shed.mode` may have changed. In mode `observe` no request waits, so the queue is emptied. In other modes
   * the model starts anew.
   */
  onUpdate() {
    if (!this.#isObserved) return this.#shadow.restart()
    for (let left = this.#queue.length; left > 0; left--) this.#deps.clock.afterTurn(this.#dequeueOne)
  }

  /** Rejects every queued request; from now on every request runs. */
  close() {
    this.#isClosed = true
    this.#shadow.restart()
    if (this.#timer !== undefined) this.#deps.clock.cancel(this.#timer)
    for (const request of this.#queue.scan(() => true))
      this.#rejectAll([request], this.#deps.admission.cause.because('closed'))
  }
}

/**
 * Whether nobody waits for an answer of the handler: the client has disconnected, or other code has answered.
 *
 * @param {RequestRecord} request
 */
const isGone = (request) => isDisconnected(request) || request.res.headersSent

exports.Bulkhead = Bulkhead
