'use strict'
// Measures accept bursts. Node accepts one connection a loop turn: while connections keep coming, work is put off and the
// loop only turns (20 µs each), so that the kernel's accept queue is read into ours, where ages are known.
//
// Begins with the second turn in a row that accepted one: a connection that comes alone delays nothing.
// Bounded in time, not in turns: a burst lasts at most 20 ms, and all bursts at most four times the work of the last second;
// twice when fewer than one accept in four brings a request, for silent sockets are no evidence of load.
//
// In a worker of cluster's round robin the primary hands over one connection at a time and waits for an acknowledgement. There
// a burst waits for three times what a hand-over takes, learnt from the shortest gaps, and sleeps meanwhile: the primary may
// need this core. A TLS handshake takes several turns: those that do its arithmetic belong to the burst.

/** What a burst may spend on turns that only accept. */
const MOST_MS = 20
/** What all may spend together, as a multiple of the work. */
const SHARE = 4
const WINDOW_MS = 1000
/** A turn that took longer ran handlers that had awaited something: it was not lost to accepting, and counts for little. */
const WORK_MS = 5
const WORK_TURN_MS = 0.5
/** However little of it was spent, a burst is over then. */
const LONGEST_MS = 100
/** For so long a worker of cluster waits for the next connection. */
const QUIET_LEAST_MS = 0.2
const QUIET_MOST_MS = 1
/** How much of a shorter and of a longer gap is learnt. */
const GAP_FALL = 0.1
const GAP_RISE = 0.01
/** A turn that took less had nothing of a handshake to do. */
const HANDSHAKE_MS = 0.1

class AcceptBurst {
  /** Whether it turns only for what the primary may hand over next. */
  isAwaitingPrimary = false
  #isHandedOver = false
  #accepted = 0
  #seen = 0
  #wasAccepting = false
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

  /** @param {boolean} isHandedOver whether another process has accepted it for this one */
  onAccept(nowMs, isHandedOver = false) {
    this.#accepted++
    this.#windowAccepts++
    this.#isHandedOver = isHandedOver
    const gapMs = nowMs - this.#lastAcceptMs
    if (gapMs < QUIET_MOST_MS)
      this.#gapMs += (gapMs - this.#gapMs) * (gapMs < this.#gapMs ? GAP_FALL : GAP_RISE)
    this.#lastAcceptMs = nowMs
  }

  onHandshake(nowMs) {
    this.#handshakes++
    this.#lastHandshakeMs = nowMs
  }

  /** It succeeded or failed. One that does neither is forgotten with its burst. */
  onHandshakeEnd() {
    if (this.#handshakes > 0) this.#handshakes--
  }

  onRequest() {
    this.#windowRequests++
  }

  /**
   * A turn is over. If it was not given to accepting, all it did was work, handlers that had awaited something included:
   * so much more may be spent on accepting.
   */
  onTurn(busyMs, nowMs) {
    if (this.#sinceMs !== undefined) return
    if (nowMs - this.#windowMs > WINDOW_MS) {
      this.#windowMs = nowMs
      this.#windowAccepts = this.#windowRequests = 0
    }
    const share = this.#windowRequests * 4 < this.#windowAccepts ? SHARE / 2 : SHARE
    this.#allowanceMs = Math.min(this.#allowanceMs + busyMs * share, WINDOW_MS)
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

  /** Asked once a turn, of which `busyMs` were not spent waiting: turn again before working? */
  shouldTurnAgain(nowMs, busyMs) {
    const isShaking = this.#isShaking(nowMs)
    const isAccepting = this.#accepted !== this.#seen || (busyMs > HANDSHAKE_MS && isShaking)
    const isSecondInRow = isAccepting && this.#wasAccepting
    this.#seen = this.#accepted
    this.#wasAccepting = isAccepting || isShaking
    this.isAwaitingPrimary = !isAccepting && this.#isQuietYoung(nowMs)
    if (!isSecondInRow && !this.#isHandedOver) return this.#stop()
    if (!isAccepting && !this.isAwaitingPrimary) return this.#stop()
    if (this.#sinceMs === undefined) {
      this.#sinceMs = nowMs
      this.#spentMs = 0
    } else {
      const turnMs = nowMs - this.#lastTurnMs
      this.#spentMs += turnMs > WORK_MS ? WORK_TURN_MS : turnMs
    }
    this.#lastTurnMs = nowMs
    if (this.#spentMs < Math.min(MOST_MS, this.#allowanceMs) && nowMs - this.#sinceMs < LONGEST_MS)
      return true
    this.#allowanceMs = Math.max(0, this.#allowanceMs - this.#spentMs)
    return this.#stop()
  }

  #isQuietYoung(nowMs) {
    if (!this.#isHandedOver) return false
    const quietMs = Math.min(QUIET_MOST_MS, Math.max(QUIET_LEAST_MS, 3 * this.#gapMs))
    return nowMs - this.#lastAcceptMs < quietMs
  }

  #stop() {
    this.isAwaitingPrimary = false
    this.#sinceMs = undefined
    return false
  }
}

module.exports = { AcceptBurst }
