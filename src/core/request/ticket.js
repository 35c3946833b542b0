'use strict'
// The gate's record of one request: its class, the decision, and how long it was queued.
// The adapters set how the request continues. The recorder, logs and spans read the decision.

const { NORMAL } = require('../gate/verdict')

/**
 * @import { Wait } from '../gate/queue'
 *
 * @typedef {{ record: unknown, begin(nowMs: number): void, arrive(ms: number): void, leave(): void }}
 *   Expected
 *
 * @typedef {object} RejectedBy
 * @property {string} reason
 * @property {number | undefined} value the number behind the reason
 * @property {number | undefined} bound the bound that the number exceeded
 * @property {unknown} error the error to throw, for a framework that takes an error only after the decision
 *   has returned
 */

const NO_INDEX = -1

// Hot path: one per request. The constructor sets every field and no code adds one, so all records share one
// hidden class.
class Ticket {
  constructor() {
    this.priority = NORMAL
    this.isDecided = false
    /** When the request arrived at the gate; later, when it was admitted or rejected. */
    this.decidedMs = 0
    /** Its wait in the queue, even if it never ran. @type {Wait | undefined} */
    this.wait = undefined
    /** Why it was rejected. @type {RejectedBy | undefined} */
    this.rejection = undefined
    /** Its index among the requests in flight. */
    this.index = NO_INDEX
    /** The total idle time of the loop when the request was admitted. */
    this.idleMs = 0
    /** How much of the loop's time it reserves, for each millisecond of its cost. */
    this.share = 0
    /**
     * Runs the request when it is dequeued; called with the request as `this`.
     *
     * @type {((this: import('./request').Request) => unknown) | undefined}
     */
    this.resume = undefined
    /**
     * The framework's `next`, which also takes an error. Only a middleware sets it.
     *
     * @type {(this: Ticket, error?: unknown) => unknown}
     */
    this.proceed = /** @type {() => void} */ (/** @type {unknown} */ (undefined))
    /**
     * Field of a feature's limit, such as the pools that the request is expected to use.
     *
     * @type {Expected[] | undefined}
     */
    this.expected = undefined
  }

  /** @param {number} nowMs @param {number} index */
  onAdmit(nowMs, index) {
    this.decidedMs = nowMs
    this.index = index
  }

  /** @param {string} reason @param {number} nowMs @param {{ value?: number, bound?: number }} cause */
  onReject(reason, nowMs, { value, bound }) {
    // A handshake was admitted before its connection is refused. Its duration counts from the admission.
    if (!this.isInFlight) this.decidedMs = nowMs
    this.rejection = { reason, value, bound, error: undefined }
  }

  onRelease() {
    this.index = NO_INDEX
  }

  get isRejected() {
    return this.rejection !== undefined
  }

  get isInFlight() {
    return this.index !== NO_INDEX
  }

  /** Whether the request ended while it was queued. Valid only until it is released. */
  get isAbandoned() {
    return this.wait !== undefined && this.rejection === undefined && !this.isInFlight
  }

  /** How long it was queued, once it was admitted or rejected. */
  get waitedMs() {
    return this.wait === undefined ? 0 : this.decidedMs - this.wait.queuedMs
  }
}

exports.Ticket = Ticket
