'use strict'
// One message that was received: when it came, which of its listeners have not ended, and whether it was
// acknowledged. Each instance that watches the socket has its own, linked by `next`.

const { BLOCKED, COMPLETED, ERRORED } = require('./event-table')

/**
 * @import { EventTable } from './event-table'
 * @import { Sockets } from './sockets'
 */

class SocketMessage {
  #sockets
  #row
  #startedMs
  #isOfNewcomer
  /** Listeners that have not ended; the call of them counts as one. */
  #pending = 1
  #hasFailed = false
  #isAcknowledged = false

  /**
   * @param {Sockets} sockets
   * @param {{ row: ReturnType<EventTable['rowOf']>, startedMs: number, isOfNewcomer: boolean,
   *   next: SocketMessage | undefined }} parts `isOfNewcomer`: its connection opened lately; `next`: of
   *   another instance
   */
  constructor(sockets, { row, startedMs, isOfNewcomer, next }) {
    this.#sockets = sockets
    this.#row = row
    this.#startedMs = startedMs
    this.#isOfNewcomer = isOfNewcomer
    this.next = next
  }

  /**
   * Calls the listeners: code of the application, which may throw.
   *
   * @template T
   * @param {() => T} callback
   * @returns {T}
   */
  run(callback) {
    const sockets = this.#sockets
    const { reference } = this.#row
    const before = sockets.running
    sockets.running = reference
    const sinceMs = sockets.nowMs()
    let hasReturned = false
    // Without `catch`: Node shows the line that threw, and a debugger stops there.
    try {
      const returned = sockets.context.runAs(reference, callback)
      hasReturned = true
      return returned
    } finally {
      sockets.running = before
      if (!hasReturned) this.#onThrow()
      const nowMs = sockets.nowMs()
      // A listener that emits to its own socket is within another.
      if (before === undefined) sockets.onHandled(nowMs - sinceMs, this.#isOfNewcomer)
      this.#settle(nowMs)
    }
  }

  #onThrow() {
    this.#hasFailed = true
    this.#sockets.onThrow(this.#row.reference)
  }

  /** A listener is an async function, and has not ended. */
  onFollow() {
    this.#pending++
  }

  /** The promise of a listener has rejected. @param {unknown} error */
  onError(error) {
    this.#hasFailed = true
    this.#sockets.onError(error, this.#row.reference)
  }

  onSettled() {
    this.#settle(this.#sockets.nowMs())
  }

  /** @param {number} nowMs */
  #settle(nowMs) {
    if (--this.#pending > 0) return
    const outcome = this.#hasFailed ? ERRORED : COMPLETED
    this.#sockets.events.onEnd(this.#row, outcome, nowMs - this.#startedMs, nowMs)
  }

  /** Socket.IO sends the first acknowledgement only. */
  onAck() {
    if (this.#isAcknowledged) return
    this.#isAcknowledged = true
    const nowMs = this.#sockets.nowMs()
    this.#sockets.events.onAck(this.#row, nowMs - this.#startedMs, nowMs)
  }

  /** A middleware has passed an error: no listener is called. */
  onBlocked() {
    this.#sockets.events.onEnd(this.#row, BLOCKED, 0, 0)
  }
}

/** @typedef {{ byteLength?: number, size?: number }} Sized binary data */

/**
 * Bytes of any message that Engine.IO and ws accept.
 *
 * @param {unknown} data
 * @returns {number} 0 for anything else
 */
function sizeOf(data) {
  if (typeof data === 'string') return Buffer.byteLength(data)
  if (data === undefined || data === null) return 0
  if (typeof data === 'number') return String(data).length
  // A message in fragments.
  if (Array.isArray(data)) return data.reduce((sum, part) => sum + sizeOf(part), 0)
  return /** @type {Sized} */ (data).byteLength ?? /** @type {Sized} */ (data).size ?? 0
}

exports.SocketMessage = SocketMessage
exports.sizeOf = sizeOf
