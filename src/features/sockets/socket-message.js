'use strict'
// One message that was received: when it came, how many of its listeners have not ended, and whether it was
// acknowledged. Each instance of Spillway that watches the socket makes its own SocketMessage. `next` links
// them.

const { OUTCOME_BLOCKED, OUTCOME_COMPLETED, OUTCOME_ERRORED } = require('./event-table')

/**
 * @import { EventTable } from './event-table'
 * @import { Sockets } from './sockets'
 */

class SocketMessage {
  #sockets
  #row
  #startedMs
  #isOfNewcomer
  /** How many listeners have not ended. While `run` calls the listeners, that call itself counts as one. */
  #pending = 1
  #hasFailed = false
  #isAcknowledged = false

  /**
   * @param {Sockets} sockets
   * @param {{ row: ReturnType<EventTable['rowOf']>, startedMs: number, isOfNewcomer: boolean,
   *   next: SocketMessage | undefined }} parts `isOfNewcomer`: whether the connection opened lately; `next`:
   *   the message of another instance
   */
  constructor(sockets, { row, startedMs, isOfNewcomer, next }) {
    this.#sockets = sockets
    this.#row = row
    this.#startedMs = startedMs
    this.#isOfNewcomer = isOfNewcomer
    this.next = next
  }

  /**
   * Calls the listeners. They are code of the application, and may throw.
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
    // A `catch` would hide from Node and from a debugger which line threw.
    try {
      const returned = sockets.context.runAs(reference, callback)
      hasReturned = true
      return returned
    } finally {
      sockets.running = before
      if (!hasReturned) this.#onThrow()
      const nowMs = sockets.nowMs()
      // If a listener emits to its own socket, this run is inside another run, which counts the time already.
      if (before === undefined) sockets.onHandled(nowMs - sinceMs, this.#isOfNewcomer)
      this.#settle(nowMs)
    }
  }

  #onThrow() {
    this.#hasFailed = true
    this.#sockets.onThrow(this.#row.reference)
  }

  /** Called for a listener that is an async function and has not ended. */
  onFollow() {
    this.#pending++
  }

  /** Called when the promise of a listener has rejected. @param {unknown} error */
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
    const outcome = this.#hasFailed ? OUTCOME_ERRORED : OUTCOME_COMPLETED
    this.#sockets.events.onEnd(this.#row, outcome, nowMs - this.#startedMs, nowMs)
  }

  /** Counts the first acknowledgement, because Socket.IO sends no other. */
  onAck() {
    if (this.#isAcknowledged) return
    this.#isAcknowledged = true
    const nowMs = this.#sockets.nowMs()
    this.#sockets.events.onAck(this.#row, nowMs - this.#startedMs, nowMs)
  }

  /** Called when a middleware has passed an error, so no listener is called. */
  onBlocked() {
    this.#sockets.events.onEnd(this.#row, OUTCOME_BLOCKED, 0, 0)
  }
}

/** @typedef {{ byteLength?: number, size?: number }} Sized binary data */

/**
 * The size of any message that Engine.IO and ws accept, in bytes.
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
