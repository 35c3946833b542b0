'use strict'
// The load that connections put on the loop later: a connection is cheap to open, and sends its messages
// afterwards.
//   expected            = load of a newcomer x (opened - closed in the last two seconds)
//   load of a newcomer  = share of the loop that those of the last five seconds take, for each that sends
// Until new connections have been seen for a second, each is taken for a mean connection. That mean may hold
// a newcomer. It rejects none: `shown` leaves it out, because a few that load the loop say little about many
// that are silent. Handshakes do not count as load.

const { SAMPLE_MS } = require('../../core/gate/measurements/loop-turns')

/**
 * How long it takes until the load of a connection shows. What is supposed counts as much as one newcomer
 * that is seen for so long.
 */
const LAG_MS = 2000
/** For how long it is remembered what newcomers took. */
const MEMORY_MS = 10_000

/**
 * @typedef {() => { open: number, found: number, newcomers: number, handledMs: number,
 *   newcomersHandledMs: number }} Source `found`: the part of `open` that was there before, or that is
 *   watched no longer, as a negative number; `newcomers`: the part that opened lately and shows what it does;
 *   `newcomersHandledMs`: the part of `handledMs` that went to newcomers
 */

class ConnectionLoad {
  #source
  #turnedMs
  #handledMs = 0
  #handledShare = 0
  /** Recordings of the last LAG_MS; the newest count the most. */
  #openBefore
  /** Open at the last turn, and those that were admitted since: they may not be open yet. */
  #openAtTurn
  #admitted = 0
  #found
  /** Loop time of new connections, and for how long they were observed in all. */
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
   * Loop share of each new connection, starting from the supposed share, which counts as one second of
   * observation.
   *
   * @param {number} supposed
   */
  #loadOfEach(supposed) {
    return (this.#tookMs + LAG_MS * supposed) / (this.#seenMs + LAG_MS)
  }

  /** The connections that have opened lately, so that their load does not show yet. */
  get #recent() {
    const { open, found } = this.#source()
    const now = Math.max(open - (found - this.#found), this.#openAtTurn + this.#admitted)
    return Math.max(0, now - this.#openBefore)
  }

  /** The share of the loop that will be taken, and is not yet. */
  get expected() {
    return this.#recent * this.#loadOfEach(this.#handledShare / Math.max(1, this.#openBefore))
  }

  /** The same by what newcomers have shown alone, with so many more of them. @param {number} more */
  shown(more) {
    return (this.#recent + more) * this.#loadOfEach(0)
  }
}

exports.ConnectionLoad = ConnectionLoad
exports.LAG_MS = LAG_MS
