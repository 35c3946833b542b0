'use strict'
// The load that connections put on the loop later: a connection is cheap to open, and sends its messages afterwards.
//   load of a connection = share of the time in which messages are handled / connections open a while ago
//   expected             = load of a connection x connections that have opened since, less those that have closed
// Handshakes are no load: thousands of clients that connect again after a restart, and say nothing yet, are expected to take nothing.

/** How long it takes until the load of a connection shows. */
const LAG_MS = 2000
/** The horizon of the share in which messages are handled. */
const HANDLED_MS = 1000

class ConnectionLoad {
  #source
  #turnedMs
  #handledMs = 0
  #handledShare = 0
  /** Of the last LAG_MS, the newest count the most. */
  #openBefore
  /** Open at the last turn, and those that were admitted since: they may not be open yet. */
  #openAtTurn
  #admitted = 0

  /** @param {() => { open: number, handledMs: number }} source @param {number} nowMs */
  constructor(source, nowMs) {
    this.#source = source
    this.#turnedMs = nowMs
    this.#openBefore = this.#openAtTurn = source().open
  }

  onAdmit() {
    this.#admitted++
  }

  // Hot path: once a loop turn, where sockets are watched.
  onTurn(nowMs) {
    const elapsedMs = nowMs - this.#turnedMs
    if (elapsedMs <= 0) return
    this.#turnedMs = nowMs
    const { open, handledMs } = this.#source()
    const share = Math.min(1, (handledMs - this.#handledMs) / elapsedMs)
    this.#handledMs = handledMs
    this.#handledShare += (share - this.#handledShare) * (1 - Math.exp(-elapsedMs / HANDLED_MS))
    this.#openBefore += (open - this.#openBefore) * (1 - Math.exp(-elapsedMs / LAG_MS))
    this.#openAtTurn = open
    this.#admitted = 0
  }

  /** The share of the loop that will be taken, and is not yet. */
  get expected() {
    const open = Math.max(this.#source().open, this.#openAtTurn + this.#admitted)
    const since = open - this.#openBefore
    return since <= 0 ? 0 : (since * this.#handledShare) / Math.max(1, this.#openBefore)
  }
}

module.exports = { ConnectionLoad }
