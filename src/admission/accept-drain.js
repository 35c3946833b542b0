'use strict'
// Node accepts one connection a loop turn. While they keep coming, work is put off and the loop only turns (20 µs),
// so that the accept queue is read into ours, where ages are known, and health probes get in.
//
// Bounded in time, never in turns: a drain lasts at most 20 ms, and all drains together at most four times the work
// of the last second, halved when fewer than one accept in four brings a request: silent sockets are no evidence of
// load. In a worker of cluster's round robin connections come one by one, each after an acknowledgement, so a quiet
// turn does not mean empty: there it stays for four times the usual gap (0.2 to 1 ms). A TLS handshake in progress
// counts as a connection that is still coming: it takes several turns and 0.4 ms of work.

const MOST_MS = 20
const SHARE = 4
const WINDOW_MS = 1000
/** A turn that took longer ran handlers that had awaited something: it was not lost to accepting. */
const WORK_MS = 5
const TURN_MS = 0.5
const LONGEST_MS = 100
const QUIET_LEAST_MS = 0.2
const QUIET_MOST_MS = 1

class AcceptDrain {
  #isHandedOver
  #accepted = 0
  #seen = 0
  #handshakes = 0
  #lastHandshakeMs = Number.NEGATIVE_INFINITY
  #lastAcceptMs = Number.NEGATIVE_INFINITY
  #gapMs = 0.125
  #sinceMs
  #spentMs = 0
  #lastTurnMs = 0
  #allowanceMs = MOST_MS
  #windowMs = 0
  #windowAccepts = 0
  #windowRequests = 0

  /** @param {boolean} isHandedOver whether another process accepts for this one */
  constructor(isHandedOver) {
    this.#isHandedOver = isHandedOver
  }

  noteAccept(nowMs) {
    this.#accepted++
    this.#windowAccepts++
    const gapMs = nowMs - this.#lastAcceptMs
    if (gapMs < QUIET_MOST_MS) this.#gapMs += (gapMs - this.#gapMs) * 0.1
    this.#lastAcceptMs = nowMs
  }

  noteHandshake(nowMs) {
    this.#handshakes++
    this.#lastHandshakeMs = nowMs
  }

  /** It succeeded or failed. One that does neither is forgotten with its drain. */
  noteHandshakeEnd() {
    if (this.#handshakes > 0) this.#handshakes--
  }

  noteRequest() {
    this.#windowRequests++
  }

  /** A turn is over. If it was not given to accepting, all it did was work, handlers that had awaited something included. */
  noteTurn(busyMs, nowMs) {
    if (this.#sinceMs === undefined) this.noteWork(busyMs, nowMs)
  }

  /** Work was done: that much more may be spent on accepting. */
  noteWork(workMs, nowMs) {
    if (nowMs - this.#windowMs > WINDOW_MS) {
      this.#windowMs = nowMs
      this.#windowAccepts = this.#windowRequests = 0
    }
    const share = this.#windowRequests * 4 < this.#windowAccepts ? SHARE / 2 : SHARE
    this.#allowanceMs = Math.min(this.#allowanceMs + workMs * share, WINDOW_MS)
  }

  /** Whether a connection came that no turn has been given to yet, or one is still coming. */
  isAccepting(nowMs) {
    return this.#accepted !== this.#seen || this.#isShaking(nowMs)
  }

  #isShaking(nowMs) {
    if (this.#handshakes === 0) return false
    if (nowMs - this.#lastHandshakeMs < MOST_MS) return true
    this.#handshakes = 0
    return false
  }

  /** Asked once a turn while jobs wait: turn again before working? */
  shouldTurn(nowMs) {
    const isAccepting = this.isAccepting(nowMs)
    this.#seen = this.#accepted
    if (!isAccepting && !this.#isQuietYoung(nowMs)) return this.#stop()
    if (this.#sinceMs === undefined) {
      this.#sinceMs = nowMs
      this.#spentMs = 0
    } else {
      const turnMs = nowMs - this.#lastTurnMs
      this.#spentMs += turnMs > WORK_MS ? TURN_MS : turnMs
    }
    this.#lastTurnMs = nowMs
    if (this.#spentMs < Math.min(MOST_MS, this.#allowanceMs) && nowMs - this.#sinceMs < LONGEST_MS)
      return true
    this.#allowanceMs = Math.max(0, this.#allowanceMs - this.#spentMs)
    return this.#stop()
  }

  #isQuietYoung(nowMs) {
    if (!this.#isHandedOver) return false
    const quietMs = Math.min(QUIET_MOST_MS, Math.max(QUIET_LEAST_MS, 4 * this.#gapMs))
    return nowMs - this.#lastAcceptMs < quietMs
  }

  #stop() {
    this.#sinceMs = undefined
    return false
  }
}

module.exports = { AcceptDrain }
