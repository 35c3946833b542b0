'use strict'
// The gate: runs a request now, queues it, or rejects it; and works the queue off in the check phase of loop turns, one
// request a callback, so that Node drains ticks and promises between two of them as it does between two sockets.

const { isDisconnected } = require('../requests/request')
const { offHalfClose, onHalfClose } = require('./half-closed')
const { inItsContext } = require('./queue')
const { BYPASS, QUEUED, REJECTED, RUN } = require('./verdict')

/** How much of a loop turn may go to requests that start in it: then the loop polls and accepts again. */
const BUDGET_MS = 5
/** How often the queue is looked through while no turn of the loop comes by itself. */
const LOOK_MS = 2
/** Waiting for the primary's next connection. */
const NAP_MS = 1

class Gate {
  peakInFlight = 0
  lastAdmitMs = 0
  #clock
  #limits
  #measurements
  #queue
  #fairShares
  #hooks
  #stats
  #reject
  /** When the first request came in the turn that is running; undefined if none has. */
  #turnMs
  #spentMs = 0
  #isAccepting = false
  #isLooking = false
  #isClosed = false
  #turnAgain = () => {}
  #runNext = () => this.#dequeue()

  /** @param {any} parts `reject(request, reason)` answers the request */
  constructor({ clock, limits, measurements, queue, fairShares, hooks, stats, reject }) {
    this.#clock = clock
    this.#limits = limits
    this.#measurements = measurements
    this.#queue = queue
    this.#fairShares = fairShares
    this.#hooks = hooks
    this.#stats = stats
    this.#reject = reject
  }

  // Hot path: once a request. With room and no queue it is a dozen comparisons, with nothing allocated.
  /** @returns {number} RUN, QUEUED (then `request.admission.resume` is called) or REJECTED (then it is answered) */
  admit(request, nowMs) {
    const { priority } = request.admission
    if (priority === BYPASS) return RUN
    this.#measurements.acceptBurst.onRequest()
    this.#turnMs ??= nowMs
    const hasRoom = this.#limits.hasRoom(nowMs)
    if (!hasRoom) this.#limits.onKeptOut(this.#limits.short)
    else if (this.#queue.length === 0 && this.#runsInThisTurn(nowMs)) return this.enter(request, nowMs)
    const key = this.#hooks.keyOf(request)
    const tag = key === undefined ? 0 : this.#fairShares.tagOf(key)
    const reason = this.#reasonFor(request, priority, tag, nowMs)
    if (reason !== undefined) return this.rejectNow(request, reason)
    // One of the user's functions may have closed the instance: nobody would work the queue off.
    if (this.#isClosed) return this.enter(request, nowMs)
    if (key !== undefined) this.#fairShares.onQueue(key, tag)
    request.admission.tag = tag
    this.#enqueue(request, nowMs)
    return QUEUED
  }

  #reasonFor(request, priority, tag, nowMs) {
    const ahead = this.#queue.ahead(priority, tag)
    const expectedMs = this.#limits.expectedMs(ahead)
    if (expectedMs >= this.#hooks.deadlineMs(request)) return 'deadline'
    return this.#limits.reasonFor(expectedMs, ahead, priority, nowMs)
  }

  /** A loop with room runs what comes as it comes. A full one runs what fits into the turn, after it has accepted. */
  #runsInThisTurn(nowMs) {
    if (nowMs - this.#turnMs < BUDGET_MS && !this.#measurements.acceptBurst.isAccepting(nowMs)) return true
    return this.#limits.loop.isPointless || this.#measurements.turns.hasRoom(nowMs)
  }

  /** The request is in flight from now on. */
  enter(request, nowMs) {
    this.#limits.onAdmit(request.admission, nowMs, this.#clock.idleMs())
    this.#stats.admitted++
    this.lastAdmitMs = nowMs
    if (this.#limits.inFlight > this.peakInFlight) this.peakInFlight = this.#limits.inFlight
    if (!request.hasAnswer) request.markRunning()
    return RUN
  }

  rejectNow(request, reason) {
    this.#limits.onKeptOut(reason)
    this.#reject(request, reason)
    return REJECTED
  }

  #enqueue(request, nowMs) {
    const { admission } = request
    admission.onQueue(nowMs, this.#measurements.turns.patientMs(nowMs))
    // Others than its handler may have begun its answer.
    if (!request.hasAnswer) request.markQueued()
    if (this.#queue.length === 0) this.#limits.delay.onFirstQueued(nowMs)
    this.#queue.push(request)
    admission.onHalfClose = () => this.#rush(request)
    onHalfClose(request, admission.onHalfClose)
    this.#clock.afterTurn(this.#runNext)
  }

  /** The request has ended, however it did. */
  release(request) {
    const { admission } = request
    if (admission.isInFlight) {
      this.#measurements.cost.onEnd()
      this.#limits.onEnd(admission, this.#clock.now(), this.#clock.idleMs())
      if (this.#queue.length > 0) this.#clock.afterTurn(this.#runNext)
    } else if (admission.isAbandoned) {
      if (this.#queue.has(request)) this.#takeOut(request)
      this.#stats.abandoned++
      admission.giveUp?.()
    }
  }

  /** First in the check phase of every loop turn. */
  onTurn(nowMs, idleMs, busyMs) {
    const isQueueing = this.#queue.length > 0
    const { acceptBurst } = this.#measurements
    this.#limits.onTurn(nowMs, idleMs, isQueueing)
    this.#turnMs = undefined
    this.#spentMs = 0
    this.#isAccepting = acceptBurst.shouldTurnAgain(nowMs, busyMs)
    if (!isQueueing) return
    if (this.#isAccepting) return this.#acceptMore(acceptBurst)
    this.#rejectOld(nowMs)
    this.#scheduleRuns(nowMs)
  }

  #acceptMore({ isAwaitingPrimary }) {
    if (!isAwaitingPrimary) return this.#clock.afterTurn(this.#turnAgain)
    this.#measurements.turns.onNap()
    this.#clock.after(NAP_MS, this.#turnAgain)
  }

  /** As many callbacks in the next turn as its budget has room for. */
  #scheduleRuns(nowMs) {
    const queued = this.#queue.length
    if (queued === 0) return
    if (!this.#limits.hasRoom(nowMs)) return this.#lookLater()
    const eachMs = Math.max(this.#limits.loop.eachMs, BUDGET_MS / 1000)
    const count = Math.min(queued, Math.ceil(BUDGET_MS / eachMs))
    for (let i = 0; i < count; i++) this.#clock.afterTurn(this.#runNext)
  }

  /** The loop would sleep though requests are queued: a turn of the loop looks again. */
  #lookLater() {
    if (this.#isLooking) return
    this.#isLooking = true
    this.#clock.after(LOOK_MS, () => {
      this.#isLooking = false
    })
  }

  #dequeue() {
    if (this.#isAccepting || this.#spentMs >= BUDGET_MS || !this.#limits.hasRoom(this.#clock.now())) return
    const request = this.#queue.shift()
    if (request === undefined) return
    this.#ignoreHalfClose(request)
    this.#runQueued(request)
  }

  #runQueued(request) {
    // A handler whose client disconnected while it was queued would get no event at all any more.
    if (isDisconnected(request)) return
    const nowMs = this.#clock.now()
    this.#fairShares.onDequeue(request.admission.tag)
    this.#stats.onWait(nowMs - request.admission.queuedMs)
    this.enter(request, nowMs)
    try {
      inItsContext(request, request.admission.resume)
    } finally {
      const ranMs = this.#clock.now() - nowMs
      this.#measurements.cost.onRun(ranMs)
      this.#spentMs += ranMs
    }
  }

  /** Its client half-closed: only what is answered at once reaches it. */
  #rush(request) {
    this.#takeOut(request)
    const nowMs = this.#clock.now()
    const { delay, isConcurrencyShort } = this.#limits
    // In a burst it runs. In a queue that stands, to half-close must be no way past it.
    const isStanding =
      delay.isStanding(request.admission.priority, nowMs) && !this.#measurements.turns.hasRoom(nowMs)
    if ((!isConcurrencyShort && !isStanding) || this.#limits.hasRoom(nowMs)) this.#runQueued(request)
    else this.#rejectQueued(request, this.#limits.short)
  }

  /** Those that have been queued for too long. A loop with room rejects nobody. */
  #rejectOld(nowMs) {
    const { areKept, delay, isConcurrencyShort } = this.#limits
    if (!areKept) return
    if (!isConcurrencyShort && this.#measurements.turns.hasRoom(nowMs)) return
    for (const request of this.#queue.filter((admission) => delay.isTooOld(admission, nowMs))) {
      // A listener or function of the user's may have closed the instance, and so emptied the queue.
      if (!this.#queue.has(request)) continue
      this.#takeOut(request)
      this.#rejectQueued(request, this.#limits.short)
    }
  }

  #rejectQueued(request, reason) {
    if (isDisconnected(request)) return
    inItsContext(request, () => this.rejectNow(request, reason))
    request.admission.giveUp?.()
  }

  #takeOut(request) {
    this.#queue.remove(request)
    this.#ignoreHalfClose(request)
  }

  #ignoreHalfClose(request) {
    offHalfClose(request, request.admission.onHalfClose)
    request.admission.onHalfClose = undefined
  }

  /** Answers what is queued; nothing is queued from now on. */
  close() {
    this.#isClosed = true
    for (const request of this.#queue.filter(() => true)) {
      if (!this.#queue.has(request)) continue
      this.#takeOut(request)
      this.#rejectQueued(request, 'closed')
    }
  }
}

module.exports = { Gate }
