'use strict'
// Decides for mode `observe` what mode `adaptive` would reject.
//
// In mode `observe` every request runs, so requests wait in the kernel while a loop turn is long. The next
// turn reads all of them at once. This file models the queue that mode `adaptive` would have had. Requests
// arrive in it evenly spread over the long turn, and the rules of mode `adaptive` decide (decisions/0056).
//
// shadow-slots.js models the wait for a slot of `maxConcurrent`. shadow-withdrawals.js models which requests
// the limits of routes would have rejected.

const { Overload, QueueDelay } = require('./limits/queue-delay')
const { TURN_BUDGET_MS } = require('./measurements/loop-turns')
const { nextClass } = require('./queue')
const { ShadowSlots } = require('./shadow-slots')
const { ShadowWithdrawals } = require('./shadow-withdrawals')
const { CRITICAL, QUEUED_CLASSES } = require('./decision')

/**
 * @import { ShedReason } from '../../../index.js'
 * @import { Clock } from '../clock'
 * @import { RequestRecord } from '../request/request-record'
 * @import { ShedOptions } from './admission'
 * @import { Limits } from './limits/limits'
 * @import { Cause } from './decision'
 */

/**
 * The mean cost counts as known after this many requests. While the loop is full, it is a moving mean over
 * the same number of requests.
 */
const KNOWN_AFTER = 200

/**
 * @typedef {{ priority: number, count: number, queuedMs: number, queuedStallFreeMs: number }} Queued requests
 *   of one class that arrived in one step
 */

class ShadowQueue {
  #cause
  #clock
  #limits
  #measurements
  #onWouldReject
  #slots
  #overload
  #delay
  /**
   * The turns as the rules see them. In mode `observe` an overload makes turns long, so `usualLongMs` is the
   * value from before the overload.
   */
  #turns = { usualLongMs: 0, stallFreeMs: (/** @type {number} */ nowMs) => nowMs - this.#stalledMs }
  /**
   * The stall-free clock stands still during stalls. These fields say how far it is behind the real clock: in
   * the model, and at the first arrival of the turn.
   */
  #stalledMs = 0
  #firstStalledMs = 0
  /** The modelled queue of each class, oldest first. @type {Queued[][]} */
  #queues = Array.from({ length: QUEUED_CLASSES }, () => [])
  #length = 0
  /** The model's time, and the loop's idle time at that moment. */
  #modelMs
  #modelIdleMs = 0
  /** Whether the loop was short when the last turn ended: otherwise nothing is rejected for the loop. */
  #isShort = false
  /** Remaining capacity of the model. */
  #creditMs = 0
  /** The mean cost of a request, and the number of requests that it was measured from. */
  #meanMs = 0
  #samples = 0
  /**
   * The mean cost of a request in mode `adaptive`. A request that a limit of its route would reject counts as
   * costing nothing.
   */
  #meanAdaptiveMs = 0
  #withdrawals = new ShadowWithdrawals()
  /**
   * Mean cost of the requests of the last turn. With this cost, the model serves as many requests as have
   * really ended.
   */
  #servedMs = 0
  /** Arrivals of the current turn by class. */
  #arrivals = new Float64Array(QUEUED_CLASSES)
  /** Arrivals of the current turn in total. */
  #count = 0
  /** When the first of these arrivals was read. */
  #firstMs = 0
  /** Whether the loop idled until the first arrival was read. */
  #beganIdle = false
  /** Whether the turn accepted a connection whose request must still be left out of the rate (see #step). */
  #isAccepting = false

  /**
   * @param {{
   *   cause: Cause,
   *   clock: Clock,
   *   limits: Limits,
   *   measurements: import('./admission').Measurements,
   *   onWouldReject: (reason: ShedReason, priority: number) => void,
   * }} deps
   */
  constructor({ cause, clock, limits, measurements, onWouldReject }) {
    this.#cause = cause
    this.#clock = clock
    this.#limits = limits
    this.#slots = new ShadowSlots(limits)
    this.#measurements = measurements
    this.#onWouldReject = onWouldReject
    this.#overload = new Overload(measurements.clients, clock.now(), clock.idleMs())
    this.#delay = new QueueDelay({ turns: this.#turns, overload: this.#overload })
    this.#modelMs = clock.now()
  }

  /** @param {ShedOptions} options */
  update(options) {
    this.#delay.update(options)
  }

  // Hot path in mode `observe`: once a request.
  /** @param {RequestRecord} request @param {number} nowMs */
  onRequest(request, nowMs) {
    const { priority } = request.ticket
    const waitMs = Math.max(this.#loopWaitMs(nowMs), this.#slotWaitMs(nowMs))
    if (waitMs > 0) {
      const maxWaitMs = this.#limits.ofFeatures.maxWaitMs(request, nowMs)
      if (waitMs >= maxWaitMs)
        return this.#onWouldReject(this.#cause.because('deadline', waitMs, maxWaitMs), priority)
    }
    if (this.#length > 0) this.#measurements.clients.onQueue(request.req)
    if (this.#count === 0) {
      this.#firstMs = nowMs
      this.#firstStalledMs = nowMs - this.#measurements.turns.stallFreeMs(nowMs)
      this.#beganIdle = this.#measurements.turns.beganIdle
    }
    this.#arrivals[priority]++
    this.#count++
  }

  /** Called for a request that the gate admits and the limit of the request's route would reject. */
  onWithdraw() {
    this.#withdrawals.withdrawn++
  }

  /** @param {number} nowMs */
  #loopWaitMs(nowMs) {
    return this.#length * this.#meanAdaptiveMs - (nowMs - this.#modelMs)
  }

  /** Called when mode `observe` begins. What the model observed earlier does not count. */
  restart() {
    const nowMs = this.#clock.now()
    for (const queue of this.#queues) queue.length = 0
    this.#length = 0
    this.#slots.clear()
    this.#modelMs = nowMs
    this.#modelIdleMs = this.#clock.idleMs()
    this.#onEmpty(nowMs)
    this.#arrivals.fill(0)
    this.#count = 0
  }

  /** @param {number} nowMs */
  #onEmpty(nowMs) {
    this.#overload.onEmpty(nowMs)
    this.#turns.usualLongMs = this.#measurements.turns.usualLongMs
  }

  // Called once per turn in mode `observe`. A full loop makes a step for each 5 ms of the turn.
  /**
   * @param {number} busyMs
   * @param {number} nowMs
   * @param {number} idleMs
   * @param {number} ended how many requests ended in this turn
   */
  onTurn(busyMs, nowMs, idleMs, ended) {
    this.#withdrawals.onArrivals(this.#count)
    this.#meanAdaptiveMs = (1 - this.#withdrawals.share) * this.#meanMs
    if (this.#count > 0 && Number.isFinite(this.#limits.maxConcurrent)) this.#takeSlots()
    if (this.#count > 0 && this.#beganIdle) {
      this.#advanceIdle(this.#firstMs, this.#firstStalledMs, idleMs)
      if (this.#length === 0) this.#onEmpty(this.#firstMs)
    }
    this.#isAccepting = this.#measurements.acceptBurst.mayBeAccepting
    if (this.#count === 0)
      this.#advanceIdle(nowMs, nowMs - this.#measurements.turns.stallFreeMs(nowMs), idleMs)
    else if (this.#beganIdle) this.#step(0, this.#queueArrivals(1, 1))
    else this.#advance(this.#firstMs, this.#firstStalledMs, true)
    this.#modelIdleMs = idleMs
    this.#estimate(nowMs, busyMs, ended)
    const isIdling = this.#measurements.turns.isIdling(nowMs)
    this.#isShort = this.#limits.isLoopShort(nowMs)
    if (this.#length === 0 && isIdling) this.#onEmpty(nowMs)
    if (this.#count > 0) this.#arrivals.fill(0)
    this.#count = 0
  }

  /**
   * Estimates the cost of a request. A full loop leaves work unfinished, so requests in flight are counted at
   * their usual cost.
   *
   * @param {number} nowMs
   * @param {number} busyMs
   * @param {number} ended
   */
  #estimate(nowMs, busyMs, ended) {
    const { cost, turns } = this.#measurements
    const { inFlight } = this.#limits
    const count = ended + inFlight
    const usualMs = Math.min(this.#meanMs, cost.ms)
    const servedMs = count === 0 ? this.#meanMs : (busyMs + inFlight * usualMs) / count
    if (turns.isIdling(nowMs) || this.#samples < KNOWN_AFTER) {
      this.#meanMs = cost.meanMs
      this.#samples += ended
    } else this.#meanMs += ((servedMs - this.#meanMs) * ended) / (KNOWN_AFTER + ended)
    this.#withdrawals.onReplay(this.#count)
    const runs = 1 - this.#withdrawals.share
    this.#servedMs = runs * servedMs
    this.#meanAdaptiveMs = runs * this.#meanMs
  }

  /**
   * Advances over a time: the loop was busy first and then idled. A loop that idles rejects nothing.
   *
   * @param {number} toMs
   * @param {number} toStalledMs
   * @param {number} idleMs
   */
  #advanceIdle(toMs, toStalledMs, idleMs) {
    this.#advance(toMs - (idleMs - this.#modelIdleMs), toStalledMs, false)
    this.#serve(toMs - this.#modelMs)
    this.#modelMs = toMs
    this.#modelIdleMs = idleMs
  }

  /**
   * Advances in steps. Each step has the length of a turn of a full loop in mode `adaptive`. There are at
   * most as many steps as requests.
   * @param {number} toMs @param {number} toStalledMs @param {boolean} isArriving
   */
  #advance(toMs, toStalledMs, isArriving) {
    const elapsedMs = toMs - this.#modelMs
    if (elapsedMs <= 0 && !isArriving) return
    const sinceMs = this.#modelMs
    const stalledMs = this.#stalledMs
    const steps = Math.max(1, Math.min(this.#length + this.#count, Math.ceil(elapsedMs / TURN_BUDGET_MS)))
    for (let i = 1; i <= steps; i++) {
      this.#modelMs = sinceMs + (elapsedMs * i) / steps
      this.#stalledMs = stalledMs + ((toStalledMs - stalledMs) * i) / steps
      const served = this.#serve(elapsedMs / steps)
      const arrived = isArriving ? this.#queueArrivals(i, steps) : 0
      this.#step(served, arrived)
      if (this.#isShort) this.#rejectOverdue()
      if (this.#length === 0 && !isArriving) break
    }
    this.#modelMs = toMs
    this.#stalledMs = toStalledMs
  }

  /** @param {number} ended @param {number} arrivals */
  #step(ended, arrivals) {
    // A full loop accepts one connection per turn, however many wait. So the request on that connection says
    // nothing about the rate.
    const arrived = this.#isAccepting && arrivals > 0 ? arrivals - 1 : arrivals
    if (arrived < arrivals) this.#isAccepting = false
    const [nowMs, idleMs, usualMs] = [this.#modelMs, this.#modelIdleMs, this.#meanAdaptiveMs]
    this.#overload.onTurn({ nowMs, idleMs, arrived, ended, usualMs, isEmpty: false })
  }

  /**
   * Takes out the queued requests that can run in this time.
   *
   * @param {number} ms
   * @returns {number} how many
   */
  #serve(ms) {
    if (this.#length === 0 || this.#servedMs === 0 || this.#limits.loop.isRejectingPointless) {
      this.#creditMs = 0
      return this.#clear()
    }
    this.#creditMs += ms
    let left = Math.min(this.#length, Math.floor(this.#creditMs / this.#servedMs))
    this.#creditMs -= left * this.#servedMs
    const served = left
    while (left > 0) left -= this.#take(this.#queues[nextClass(this.#queuedMsOf)], left)
    return served
  }

  /** @param {number} priority */
  #queuedMsOf = (priority) => this.#queues[priority][0]?.queuedMs ?? Number.POSITIVE_INFINITY

  /**
   * Takes up to `most` requests from the oldest step of the queue.
   *
   * @param {Queued[]} queue
   * @param {number} most
   * @returns {number} how many
   */
  #take(queue, most) {
    const [oldest] = queue
    const taken = Math.min(most, oldest.count)
    oldest.count -= taken
    this.#length -= taken
    if (oldest.count === 0) queue.shift()
    return taken
  }

  #clear() {
    const cleared = this.#length
    for (const queue of this.#queues) queue.length = 0
    this.#length = 0
    return cleared
  }

  /**
   * Queues the arrivals of step `i` of `steps`, counted from 1.
   *
   * @param {number} i
   * @param {number} steps
   * @returns {number} how many
   */
  #queueArrivals(i, steps) {
    let [ahead, arrived] = [0, 0]
    for (let priority = CRITICAL; priority < QUEUED_CLASSES; priority++) {
      for (const { count } of this.#queues[priority]) ahead += count
      const all = this.#arrivals[priority]
      const count = Math.floor((all * i) / steps) - Math.floor((all * (i - 1)) / steps)
      if (count === 0) continue
      arrived += count
      const queued = this.#queue(priority, count, ahead)
      ahead += queued
    }
    return arrived
  }

  /**
   * @param {number} priority
   * @param {number} count
   * @param {number} ahead
   * @returns {number} how many are queued; the others would be rejected on arrival
   */
  #queue(priority, count, ahead) {
    let queued = 0
    for (let i = 0; i < count; i++) {
      const waitMs = (ahead + queued) * this.#meanAdaptiveMs
      if (
        this.#isShort &&
        this.#delay.rejects(waitMs, ahead + queued, priority, this.#meanAdaptiveMs, this.#modelMs)
      )
        this.#reject(this.#cause.because('loop', waitMs, this.#delay.targetOf(priority)), priority)
      else queued++
    }
    if (queued > 0) {
      const queuedMs = this.#modelMs
      const queuedStallFreeMs = this.#turns.stallFreeMs(queuedMs)
      this.#queues[priority].push({ priority, count: queued, queuedMs, queuedStallFreeMs })
    }
    this.#length += queued
    return queued
  }

  /** @param {ShedReason} reason @param {number} priority */
  #reject(reason, priority) {
    this.#withdrawals.rejected++
    this.#onWouldReject(reason, priority)
  }

  #rejectOverdue() {
    if (this.#length === 0) return
    const isOverload = this.#overload.isOn(this.#meanAdaptiveMs, this.#modelMs)
    for (const queue of this.#queues) {
      while (queue.length > 0 && this.#delay.isOverdue(queue[0], isOverload, this.#modelMs)) {
        const [oldest] = queue
        const waitedMs = this.#delay.waitedMs(oldest, isOverload, this.#modelMs)
        const reason = this.#cause.because('loop', waitedMs, this.#delay.boundMs(oldest.priority, isOverload))
        for (let i = 0; i < oldest.count; i++) this.#reject(reason, oldest.priority)
        this.#take(queue, oldest.count)
      }
    }
  }

  /**
   * Gives the arrivals of the turn their slots, higher classes first. These requests are in flight already.
   */
  #takeSlots() {
    const others = this.#limits.inFlight - 1
    for (let priority = CRITICAL; priority < QUEUED_CLASSES; priority++) {
      for (let left = this.#arrivals[priority]; left > 0; left--) {
        const waitMs = this.#slots.waitMs(this.#firstMs, others)
        if (waitMs <= this.#delay.maxDelayMs) this.#slots.admit(this.#firstMs, others, waitMs)
        else {
          this.#arrivals[priority]--
          this.#onWouldReject(this.#limits.concurrencyReason(), priority)
        }
      }
    }
  }

  /** @param {number} nowMs */
  #slotWaitMs(nowMs) {
    return Number.isFinite(this.#limits.maxConcurrent) ? this.#slots.waitMs(nowMs, this.#limits.inFlight) : 0
  }
}

exports.ShadowQueue = ShadowQueue
