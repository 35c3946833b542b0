'use strict'
// What the gate would decide, for mode `observe`. There every request runs, so the queue stands in the kernel, unseen.
// This models it turn by turn, and holds it to the limits of mode `adaptive`:
//   queue = queue + mean cost of the requests that came - time the loop took since those before;  0 where the loop idled
// What exceeds the tolerated delay would be rejected, the lowest class first.

const { LEAST_AHEAD } = require('./limits/queue-delay')
const { CRITICAL, QUEUED_CLASSES } = require('./verdict')

class ShadowQueue {
  #clock
  #limits
  #cost
  #hooks
  #stats
  #queuedMs = 0
  #came = new Float64Array(QUEUED_CLASSES)
  #count = 0
  /** When the first request came in the turn that is running, and in the turn before that had one. */
  #turnMs = 0
  #turnIdleMs = 0
  #beforeMs
  #beforeIdleMs

  constructor({ clock, limits, measurements, hooks, stats }) {
    this.#clock = clock
    this.#limits = limits
    this.#cost = measurements.cost
    this.#hooks = hooks
    this.#stats = stats
    this.#beforeMs = clock.now()
    this.#beforeIdleMs = clock.idleMs()
  }

  // Hot path in mode `observe`: once a request.
  onRequest(request, nowMs) {
    const { priority } = request.admission
    const reason = this.#reasonOf(request, priority, nowMs)
    if (reason !== undefined) return this.#stats.onWouldReject(reason, priority)
    if (this.#count === 0) {
      this.#turnMs = nowMs
      this.#turnIdleMs = this.#clock.idleMs()
    }
    this.#came[priority]++
    this.#count++
  }

  /** What is known of it alone. */
  #reasonOf(request, priority, nowMs) {
    const { delay, excess } = this.#limits
    const deadlineMs = this.#hooks.deadlineMs(request)
    if (this.#queuedMs >= deadlineMs) return 'deadline'
    if (excess <= 0) return undefined
    const waitMs = this.#limits.expectedMs(excess)
    if (waitMs >= deadlineMs) return 'deadline'
    return waitMs > delay.toleratedMs(priority, nowMs) ? 'concurrency' : undefined
  }

  onTurn(nowMs) {
    if (this.#count === 0) return
    const eachMs = this.#cost.meanMs
    const idledMs = this.#turnIdleMs - this.#beforeIdleMs
    const busyMs = this.#turnMs - this.#beforeMs - idledMs
    this.#queuedMs = Math.max(0, Math.max(0, this.#queuedMs - idledMs) + this.#count * eachMs - busyMs)
    this.#beforeMs = this.#turnMs
    this.#beforeIdleMs = this.#turnIdleMs
    this.#rejectExcess(eachMs, nowMs)
    this.#came.fill(0)
    this.#count = 0
  }

  #rejectExcess(eachMs, nowMs) {
    for (let priority = QUEUED_CLASSES - 1; priority >= CRITICAL; priority--) {
      const toleratedMs = Math.max(this.#limits.delay.toleratedMs(priority, nowMs), LEAST_AHEAD * eachMs)
      let excess = Math.min(this.#came[priority], Math.floor((this.#queuedMs - toleratedMs) / eachMs))
      for (; excess > 0; excess--) {
        this.#stats.onWouldReject('loop', priority)
        this.#queuedMs -= eachMs
      }
    }
  }
}

module.exports = { ShadowQueue }
