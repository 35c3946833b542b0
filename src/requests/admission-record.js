'use strict'
// What the admission of one instance notes of one request: its class, the decision, and the times of its wait.
// The adapters put in how the request goes on; the recorder, logs and spans read how it was decided.

/** The class of a request until it is classified: the index of 'normal' among the priorities. */
const NORMAL = 2
/** The slot of a request that holds none. */
const NO_SLOT = -1

// Hot path: one a request. Every field is set here and none is added later, so that all records have one hidden class.
class AdmissionRecord {
  constructor() {
    this.priority = NORMAL
    this.isDecided = false
    this.isRejected = false
    /** Why it was rejected. */
    this.reason = undefined
    /** Its turn in the queue among those of its class, where keys share fairly; else 0. */
    this.tag = 0
    /** Whether it has been in the queue, however it left. */
    this.wasQueued = false
    this.queuedMs = 0
    /** When its wait began, on the patient clock. */
    this.waitsSinceMs = 0
    this.admittedMs = 0
    /** Its entry in the queue, while it is queued. */
    this.entry = undefined
    /** Told while it is queued that its client half-closed. */
    this.onHalfClose = undefined
    /** Its place among those in flight. */
    this.slot = NO_SLOT
    /** How long the loop had idled in all when it was admitted. */
    this.idleMs = 0
    /** What it reserves of the loop's time, for each millisecond of its cost. */
    this.share = 0
    /** The async context it came in, kept while it is queued. */
    this.resource = undefined
    /** What runs it when its turn in the queue has come; called on the request. */
    this.resume = undefined
    /** The framework's own way on, which also takes an error; only a middleware has one. */
    this.proceed = undefined
    /** The error to pass on, where the framework takes it once the decision is back. */
    this.error = undefined
    /** Told that a request that was queued will not run. */
    this.giveUp = undefined
  }

  noteQueued(nowMs, waitsSinceMs) {
    this.wasQueued = true
    this.queuedMs = nowMs
    this.waitsSinceMs = waitsSinceMs
  }

  noteAdmitted(nowMs, slot) {
    this.admittedMs = nowMs
    this.slot = slot
  }

  noteRejected(reason) {
    this.isRejected = true
    this.reason = reason
  }

  noteReleased() {
    this.slot = NO_SLOT
  }

  get isInFlight() {
    return this.slot !== NO_SLOT
  }

  /** Whether it ended before its turn came. Nobody may ask once its slot is given back. */
  get isAbandoned() {
    return this.wasQueued && !this.isRejected && !this.isInFlight
  }

  /** How long an admitted request was queued. */
  get waitedMs() {
    return this.wasQueued ? this.admittedMs - this.queuedMs : 0
  }
}

module.exports = { AdmissionRecord }
