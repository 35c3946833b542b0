'use strict'
// The load that connections put on the loop later: a connection is cheap to open, and sends its messages
// afterwards.
//   expected            = load of a newcomer x (opened - closed in the last two seconds)
//   load of a newcomer  = loop share of newcomers / how many of them have a known load
// Newcomers are connections that opened in the last five seconds (newcomers.js). While newcomers have been
// observed for a short time only, each counts mostly as a mean connection. This mean may delay a new
// connection but never rejects one. `shown` leaves the mean out, because a few connections with much load say
// little about many silent ones. Handshakes do not count as load.

const { SAMPLE_MS } = require('../../core/gate/measurements/loop-turns')

/**
 * How long it takes until the load of a connection shows. Until newcomers are observed, a load is supposed:
 * the mean in `expected`, 0 in `shown`. It weighs as much as one newcomer that was observed for this time.
 */
const LAG_MS = 2000
/** How long the load of newcomers is remembered. */
const MEMORY_MS = 10_000

/**
 * @typedef {() => { open: number, found: number, newcomers: number, handledMs: number,
 *   newcomersHandledMs: number }} Source `found`: how many connections were open before Spillway watched,
 *   minus how many it has stopped watching; `newcomers`: how many connections have opened lately and have a
 *   known load; `newcomersHandledMs`: the part of `handledMs` that newcomers took
 */

class ConnectionLoad {
  #source
  #turnedMs
  #handledMs = 0
  #handledShare = 0
  /** Mean number of open connections over LAG_MS. Later numbers weigh more. */
  #openBefore
  /**
   * Connections that were open at the last turn, and connections admitted since, which may not be open yet.
   */
  #openAtTurn
  #admitted = 0
  #found
  /** Loop time of new connections, and the total time that they were observed. */
  #newcomersHandledMs = 0
  #tookMs = 0
  #seenMs = 0

  /** @param {Source} source @param {number} nowMs */
  constructor(source, nowMs) {
    const { open, found } = source()
    this.#source = source
    this.#turnedMs = nowMs
    this.#openBefore = this.#openAtTurn = open
    this.#found = found
  }

  onAdmit() {
    this.#admitted++
  }

  // Hot path: once a loop turn, where sockets are watched.
  /** @param {number} nowMs */
  onTurn(nowMs) {
    const elapsedMs = nowMs - this.#turnedMs
    if (elapsedMs <= 0) return
    this.#turnedMs = nowMs
    const { open, found, newcomers, handledMs, newcomersHandledMs } = this.#source()
    this.#openBefore += found - this.#found
    this.#found = found
    const share = Math.min(1, (handledMs - this.#handledMs) / elapsedMs)
    this.#handledMs = handledMs
    this.#handledShare += (share - this.#handledShare) * (1 - Math.exp(-elapsedMs / LAG_MS))
    this.#openBefore += (open - this.#openBefore) * (1 - Math.exp(-elapsedMs / LAG_MS))
    this.#openAtTurn = open
    this.#admitted = 0
    this.#learn({ elapsedMs, newcomers, newcomersHandledMs })
  }

  /** @param {{ elapsedMs: number, newcomers: number, newcomersHandledMs: number }} turn */
  #learn({ elapsedMs, newcomers, newcomersHandledMs }) {
    const kept = Math.exp(-elapsedMs / MEMORY_MS)
    // One long message says little about other newcomers.
    const part = Math.min(1, SAMPLE_MS / elapsedMs)
    this.#tookMs = this.#tookMs * kept + (newcomersHandledMs - this.#newcomersHandledMs) * part
    this.#seenMs = this.#seenMs * kept + newcomers * elapsedMs * part
    this.#newcomersHandledMs = newcomersHandledMs
  }

  /**
   * Returns the loop share of each new connection. It starts from the supposed share, which weighs as much as
   * LAG_MS of observation.
   *
   * @param {number} supposed
   */
  #loadOfEach(supposed) {
    return (this.#tookMs + LAG_MS * supposed) / (this.#seenMs + LAG_MS)
  }

  /** Connections that have opened so lately that their load does not show yet. */
  get #recent() {
    const { open, found } = this.#source()
    const now = Math.max(open - (found - this.#found), this.#openAtTurn + this.#admitted)
    return Math.max(0, now - this.#openBefore)
  }

  /** The share of the loop that these connections will take, and do not take yet. */
  get expected() {
    return this.#recent * this.#loadOfEach(this.#handledShare / Math.max(1, this.#openBefore))
  }

  /**
   * The same share with `more` connections added, by the observed load of newcomers alone.
   *
   * @param {number} more
   */
  shown(more) {
    return (this.#recent + more) * this.#loadOfEach(0)
  }
}

exports.ConnectionLoad = ConnectionLoad
exports.LAG_MS = LAG_MS
