'use strict'
// The load that connections put on the loop later: a connection is cheap to open, and sends its messages afterwards.
//   expected          = load of a newcomer x connections that have opened in the last two seconds, less those that have closed
//   load of a newcomer = what those that are one to five seconds old take of the loop, for each of them
// Until there are such, a newcomer is taken for a mean connection. That mean may hold a newcomer. It rejects none: `shown` leaves it out, because a
// few that load the loop say little about many that are silent. Handshakes are no load.

/** How long it takes until the load of a connection shows. */
const LAG_MS = 2000
/** The horizon of the share in which messages are handled. */
const HANDLED_MS = 1000
/** A newcomer is looked at in this age: at first it has not sent what it will send. */
const YOUNGEST_MS = 1000
const OLDEST_MS = 5000
/** For how long it is remembered what newcomers took. */
const MEMORY_MS = 10_000
/** The mean counts as much as one newcomer that is looked at for so long. */
const PRIOR_MS = 1000
const SLOT_MS = 500
const SLOTS = OLDEST_MS / SLOT_MS + 1
const YOUNGEST_SLOTS = YOUNGEST_MS / SLOT_MS

/** Whether what a connection of this age does is that of a newcomer. */
const isNewcomer = (ageMs) => ageMs >= YOUNGEST_MS && ageMs < OLDEST_MS

/**
 * @typedef {() => { open: number, opened: number, found: number, handledMs: number, newcomersHandledMs: number }} Source `opened`: in
 *   all; `found`: the part of `open` that was there before, or that is watched no longer, as a negative number; `newcomersHandledMs`: the part of
 *   `handledMs` that went to newcomers
 */

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
  #found
  /** How many had opened in all, at the end of each of the last slots; the newest first. */
  #opened
  #slotMs
  /** What newcomers took of the loop, and for how long all of them were looked at. */
  #newcomersHandledMs = 0
  #tookMs = 0
  #lookedAtMs = 0

  /** @param {Source} source @param {number} nowMs */
  constructor(source, nowMs) {
    const { open, opened, found } = source()
    this.#source = source
    this.#turnedMs = this.#slotMs = nowMs
    this.#openBefore = this.#openAtTurn = open
    this.#found = found
    this.#opened = new Array(SLOTS).fill(opened)
  }

  onAdmit() {
    this.#admitted++
  }

  // Hot path: once a loop turn, where sockets are watched.
  onTurn(nowMs) {
    const elapsedMs = nowMs - this.#turnedMs
    if (elapsedMs <= 0) return
    this.#turnedMs = nowMs
    const { open, opened, found, handledMs, newcomersHandledMs } = this.#source()
    this.#openBefore += found - this.#found
    this.#found = found
    const share = Math.min(1, (handledMs - this.#handledMs) / elapsedMs)
    this.#handledMs = handledMs
    this.#handledShare += (share - this.#handledShare) * (1 - Math.exp(-elapsedMs / HANDLED_MS))
    this.#openBefore += (open - this.#openBefore) * (1 - Math.exp(-elapsedMs / LAG_MS))
    this.#openAtTurn = open
    this.#admitted = 0
    this.#learn({ elapsedMs, open, newcomersHandledMs })
    this.#openSlots(nowMs, opened)
  }

  #learn({ elapsedMs, open, newcomersHandledMs }) {
    const newcomers = Math.min(open, this.#opened[YOUNGEST_SLOTS] - this.#opened[SLOTS - 1])
    const kept = Math.exp(-elapsedMs / MEMORY_MS)
    this.#tookMs = this.#tookMs * kept + newcomersHandledMs - this.#newcomersHandledMs
    this.#lookedAtMs = this.#lookedAtMs * kept + newcomers * elapsedMs
    this.#newcomersHandledMs = newcomersHandledMs
  }

  #openSlots(nowMs, opened) {
    this.#opened[0] = opened
    const count = Math.min(SLOTS, Math.floor((nowMs - this.#slotMs) / SLOT_MS))
    for (let i = 0; i < count; i++) {
      this.#opened.pop()
      this.#opened.unshift(opened)
    }
    this.#slotMs += count < SLOTS ? count * SLOT_MS : nowMs - this.#slotMs
  }

  /** The connections that have opened lately, so that their load does not show yet. */
  get #recent() {
    const { open, found } = this.#source()
    const now = Math.max(open - (found - this.#found), this.#openAtTurn + this.#admitted)
    return Math.max(0, now - this.#openBefore)
  }

  /** The share of the loop that will be taken, and is not yet. */
  get expected() {
    const meanShare = this.#handledShare / Math.max(1, this.#openBefore)
    return (this.#recent * (this.#tookMs + PRIOR_MS * meanShare)) / (this.#lookedAtMs + PRIOR_MS)
  }

  /** The same by what newcomers have shown alone, with so many more of them. @param {number} more */
  shown(more) {
    return this.#lookedAtMs < 1 ? 0 : ((this.#recent + more) * this.#tookMs) / this.#lookedAtMs
  }
}

module.exports = { ConnectionLoad, isNewcomer }
