'use strict'
// What the gate would decide, for mode `observe`. There every request runs, so the queue stands in the kernel, unseen.
// This models it turn by turn, and holds it to the limits of mode `adaptive`:
//   queue = queue + cost of the requests that came - time the loop took since those before;  0 where the loop idled
// and the same of the slots of `maxConcurrent`. What exceeds the tolerated delay would be rejected, the lowest class first.

const { LEAST_AHEAD } = require('./limits/queue-delay')
const { CRITICAL, QUEUED_CLASSES } = require('./verdict')

/** Seen while the loop had room, so many tell what a request costs. */
const ENOUGH = 200

class ShadowQueue {
  #clock
  #limits
  #measurements
  #hooks
  #onWouldReject
  /** What a request cost in the mean when the loop last had room: behind a full one, much work is half done. */
  #eachMs = 0
  #learnt = 0
  #loopMs = 0
  #slotsMs = 0
  #came = new Float64Array(QUEUED_CLASSES)
  #count = 0
  /** When the first request came in the turn that is running, and in the turn before that had one. */
  #turnMs = 0
  #turnIdleMs = 0
  #beforeMs
  #beforeIdleMs

  /** @param {{ clock: any, limits: any, measurements: any, hooks: any, onWouldReject: (reason: string, priority: number) => void }} parts */
  constructor({ clock, limits, measurements, hooks, onWouldReject }) {
    this.#clock = clock
    this.#limits = limits
    this.#measurements = measurements
    this.#hooks = hooks
    this.#onWouldReject = onWouldReject
    this.#beforeMs = clock.now()
    this.#beforeIdleMs = clock.idleMs()
  }

  // Hot path in mode `observe`: once a request.
  onRequest(request, nowMs) {
    const { priority } = request.admission
    if (Math.max(this.#loopMs, this.#slotsMs) >= this.#hooks.deadlineMs(request))
      return this.#onWouldReject('deadline', priority)
    if (this.#count === 0) {
      this.#turnMs = nowMs
      this.#turnIdleMs = this.#clock.idleMs()
    }
    this.#came[priority]++
    this.#count++
  }

  onTurn(nowMs) {
    const { cost, turns } = this.#measurements
    if (turns.hasRoom(nowMs) || this.#learnt < ENOUGH) this.#eachMs = cost.meanMs
    if (this.#count === 0) return
    if (turns.hasRoom(nowMs)) this.#learnt += this.#count
    const elapsedMs = this.#turnMs - this.#beforeMs
    const idledMs = this.#turnIdleMs - this.#beforeIdleMs
    if (this.#loopMs <= idledMs) this.#limits.delay.onFirstQueued(nowMs, true)
    const leftMs = Math.max(0, this.#loopMs - idledMs)
    const { slotMs } = this.#limits
    this.#loopMs = Math.max(0, leftMs + this.#count * this.#eachMs - (elapsedMs - idledMs))
    this.#slotsMs = Math.max(0, this.#slotsMs + this.#count * slotMs - elapsedMs)
    this.#beforeMs = this.#turnMs
    this.#beforeIdleMs = this.#turnIdleMs
    this.#slotsMs -= slotMs * this.#rejectExcess('concurrency', this.#slotsMs, slotMs, nowMs)
    this.#loopMs -= this.#eachMs * this.#rejectExcess('loop', this.#loopMs, this.#eachMs, nowMs)
    this.#came.fill(0)
    this.#count = 0
  }

  /** @returns {number} how many of those that came would be rejected */
  #rejectExcess(reason, queuedMs, eachMs, nowMs) {
    let rejected = 0
    for (let priority = QUEUED_CLASSES - 1; priority >= CRITICAL; priority--) {
      const toleratedMs = Math.max(this.#limits.delay.toleratedMs(priority, nowMs), LEAST_AHEAD * eachMs)
      const excess = Math.floor((queuedMs - toleratedMs) / eachMs) - rejected
      for (let i = Math.min(excess, this.#came[priority]); i > 0; i--) {
        this.#onWouldReject(reason, priority)
        this.#came[priority]--
        rejected++
      }
    }
    return rejected
  }
}

module.exports = { ShadowQueue }
