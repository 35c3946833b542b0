'use strict'
// How long a request may be queued, by CoDel's rule: a burst that drains again may wait long, a queue that stands may not.
//   burst                                          rejected once it has waited for maxDelay on the patient clock
//   standing: not drained for an interval          rejected once it has waited for targetDelay, and on arrival if it would
// A queue has drained when it is empty and the loop has room. `critical` is always treated as a burst. Behind
// fewer than LEAST_AHEAD nobody is rejected on arrival: where each takes long, their time says little of the load.

const { CRITICAL } = require('../verdict')

const LEAST_AHEAD = 10
/** A request may be dequeued this much late: the part of a turn that the queue may take. */
const GRACE_MS = 5

class QueueDelay {
  #turns
  #maxDelayMs = 0
  #targetDelayMs = 0
  #intervalMs = 0
  /** On the patient clock, when the queue was last drained. */
  #drainedMs

  constructor(turns, nowMs) {
    this.#turns = turns
    this.#drainedMs = turns.patientMs(nowMs)
  }

  update({ maxDelay, targetDelay, interval }) {
    this.#maxDelayMs = maxDelay
    this.#targetDelayMs = Math.min(targetDelay, maxDelay)
    this.#intervalMs = interval
  }

  isStanding(priority, nowMs) {
    return priority !== CRITICAL && this.#turns.patientMs(nowMs) - this.#drainedMs > this.#intervalMs
  }

  toleratedMs(priority, nowMs) {
    return this.isStanding(priority, nowMs) ? this.#targetDelayMs : this.#maxDelayMs
  }

  /** Whether a request that would wait for so long behind so many is rejected on arrival. */
  rejects(waitMs, ahead, priority, nowMs) {
    return waitMs > this.#targetDelayMs && ahead >= LEAST_AHEAD && this.isStanding(priority, nowMs)
  }

  /** The first request is queued. A queue that was emptied by rejections, beside a full loop, has not drained. */
  onFirstQueued(nowMs, hadRoom = this.#turns.beganWithRoom) {
    if (hadRoom) this.#drainedMs = this.#turns.patientMs(nowMs)
  }

  onTurn(nowMs, isQueueing) {
    if (!isQueueing && this.#turns.hasRoom(nowMs)) this.#drainedMs = this.#turns.patientMs(nowMs)
  }

  isTooOld({ priority, queuedMs, waitsSinceMs }, nowMs) {
    if (this.isStanding(priority, nowMs)) return nowMs - queuedMs > this.#targetDelayMs + GRACE_MS
    return this.#turns.patientMs(nowMs) - waitsSinceMs > this.#maxDelayMs + GRACE_MS
  }
}

module.exports = { LEAST_AHEAD, QueueDelay }
