'use strict'
// The admission of one request: its class, the decision, and how long it was queued.
// The adapters set how the request continues. The recorder, logs and spans read the decision.

/**
 * @import { AsyncResource } from 'node:async_hooks'
 * @import { QueueEntry } from '../gate/queue'
 * @typedef {{ record: unknown, begin(nowMs: number): void, arrive(ms: number): void, leave(): void }} Expected
 */

/** The index of 'normal' among the priorities: the class of a request until it is classified. */
const NORMAL = 2
const NO_INDEX = -1

// Hot path: one a request. The constructor sets every field and no code adds one, so all records share one hidden class.
class AdmissionRecord {
  constructor() {
    this.priority = NORMAL
    this.isDecided = false
    this.isRejected = false
    /** Why the request was rejected. @type {string | undefined} */
    this.reason = undefined
    /** The number behind the reason, and the bound that it exceeded. Not 0: a field of numbers is allocated with each record. */
    /** @type {number | undefined} */
    this.value = undefined
    /** @type {number | undefined} */
    this.bound = undefined
    /** Its position among the queued requests of its class, where keys share fairly; otherwise 0. */
    this.tag = 0
    /** Its key among the fair shares, once it is queued. @type {string | undefined} */
    this.key = undefined
    /** Whether it was ever in the queue, even if it never ran. */
    this.wasQueued = false
    this.queuedMs = 0
    /** When its wait began, on the stall-free clock. */
    this.queuedStallFreeMs = 0
    /** How long it may be queued by the user's `deadline`. */
    this.deadlineMs = Number.POSITIVE_INFINITY
    /** The total idle time of the loop when its wait began. */
    this.queuedIdleMs = 0
    /** When it arrived at the gate, later when it was admitted or rejected. */
    this.decidedMs = 0
    /** Its entry in the queue, while it is queued. @type {QueueEntry | undefined} */
    this.entry = undefined
    /** Called when its client half-closes the connection, while it is queued. @type {(() => void) | undefined} */
    this.onHalfClose = undefined
    /** Its index among the requests in flight. */
    this.index = NO_INDEX
    /** The total idle time of the loop when the request was admitted. */
    this.idleMs = 0
    /** How much of the loop's time it reserves, for each millisecond of its cost. */
    this.share = 0
    /** The async context it arrived in, kept while it is queued. @type {AsyncResource | undefined} */
    this.resource = undefined
    /** Runs the request when it is dequeued; called with the request as `this`. @type {((this: import('./request').Request, request: import('./request').Request) => unknown) | undefined} */
    this.resume = undefined
    /** The framework's `next`, which also takes an error. Only a middleware sets it. @type {(this: AdmissionRecord, error?: unknown) => unknown} */
    this.proceed = /** @type {() => void} */ (/** @type {unknown} */ (undefined))
    /** The error to throw, for a framework that takes it only after the decision has returned. @type {unknown} */
    this.error = undefined
    /** What the limit of a feature keeps for it, such as the pools that it is expected to ask. @type {Expected[] | undefined} */
    this.expected = undefined
    /** Called when a queued request will never run. @type {(() => void) | undefined} */
    this.giveUp = undefined
  }

  /** @param {number} nowMs @param {number} queuedStallFreeMs @param {number} queuedIdleMs */
  onQueue(nowMs, queuedStallFreeMs, queuedIdleMs) {
    this.wasQueued = true
    this.queuedIdleMs = queuedIdleMs
    this.queuedMs = nowMs
    this.queuedStallFreeMs = queuedStallFreeMs
  }

  /** @param {number} nowMs */
  isPastDeadline(nowMs) {
    return nowMs - this.queuedMs >= this.deadlineMs
  }

  /** @param {number} nowMs @param {number} index */
  onAdmit(nowMs, index) {
    this.decidedMs = nowMs
    this.index = index
  }

  /** @param {string} reason @param {number} nowMs @param {{ value?: number, bound?: number }} cause */
  onReject(reason, nowMs, { value, bound }) {
    // A handshake was admitted before its connection is refused, and its duration counts from then.
    if (!this.isInFlight) this.decidedMs = nowMs
    this.isRejected = true
    this.reason = reason
    this.value = value
    this.bound = bound
  }

  onRelease() {
    this.index = NO_INDEX
  }

  get isInFlight() {
    return this.index !== NO_INDEX
  }

  /** Whether it ended while it was queued. Valid only until it is released. */
  get isAbandoned() {
    return this.wasQueued && !this.isRejected && !this.isInFlight
  }

  /** How long it was queued, once it was admitted or rejected. */
  get waitedMs() {
    return this.wasQueued ? this.decidedMs - this.queuedMs : 0
  }
}

exports.AdmissionRecord = AdmissionRecord
