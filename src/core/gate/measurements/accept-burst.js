'use strict'
// Detects accept bursts. Node accepts one connection per loop turn. While connections keep coming, the gate
// starts no work and only lets the loop turn. So the kernel's accept queue is read into the gate's queue,
// where ages are known. A burst begins with the second turn in a row that accepted a connection. In a worker
// of a cluster it begins once the primary has connections waiting. A burst spends at most 20 ms on accepting,
// and ends after 100 ms at the latest. Details, also for TLS, are in docs/decisions/0040.

const { TURN_BUDGET_MS } = require('./loop-turns')

/** The time that one burst may spend on turns that only accept. */
const MAX_MS = 20
/** The time that all bursts together may spend on accepting, as a multiple of the time spent on work. */
const SHARE = 4
const WINDOW_MS = 1000
/**
 * The time charged for a turn longer than TURN_BUDGET_MS. Such a turn ran handlers that had awaited
 * something, so little of it was spent on accepting.
 */
const WORK_TURN_MS = 0.5
/** A burst ends after this time, however little of it was spent on accepting. */
const MAX_ELAPSED_MS = 100
/** The primary has connections waiting if this many turns in a row ran a request and found a connection. */
const FOUND_IN_ROW = 4
/** The bounds of the time for which a worker waits for the next connection from the primary. */
const MIN_QUIET_MS = 0.2
const MAX_QUIET_MS = 1
/**
 * The smoothing of gaps between connections: short gaps count more, because they show how long a hand-over
 * takes.
 */
const GAP_FALL = 0.1
const GAP_RISE = 0.01
/** A turn shorter than this did no arithmetic of a TLS handshake. */
const HANDSHAKE_MS = 0.1

class AcceptBurst {
  /** Whether the loop turns only because the primary may hand over another connection. */
  isAwaitingPrimary = false
  /** Whether a connection or handshake began since the last turn. While none did, `isAccepting` is false. */
  mayBeAccepting = false
  #isHandedOver = false
  #foundInRow = 0
  #accepted = 0
  #seen = 0
  #wasAccepting = false
  #handshakes = 0
  #lastHandshakeMs = Number.NEGATIVE_INFINITY
  #lastAcceptMs = Number.NEGATIVE_INFINITY
  #gapMs = 0.125
  /**
   * Whether the loop waited for the last connection for longer than the primary takes to hand one over. So no
   * connection was waiting in the primary.
   */
  #isLate = false
  /** Whether the next turn starts work, whatever it accepts. */
  #isWorkNext = false
  /** @type {number | undefined} */
  #sinceMs
  #spentMs = 0
  #lastTurnMs = 0
  #allowanceMs = MAX_MS
  #windowMs = 0
  #windowAccepts = 0
  #windowRequests = 0

  /**
   * @param {'connection' | 'secureConnection' | 'tlsClientError'} event of the server
   * @param {{ isSecure: boolean, isHandedOver: boolean }} how `isHandedOver`: the cluster's primary accepted
   *   the connection
   * @param {number} nowMs
   */
  onEvent(event, { isSecure, isHandedOver }, nowMs) {
    if (event !== 'connection') return this.onHandshakeEnd()
    this.onAccept(nowMs, isHandedOver)
    if (isSecure) this.onHandshake(nowMs)
  }

  /**
   * @param {number} nowMs
   * @param {boolean} isHandedOver whether the cluster's primary accepted the connection for this process
   */
  onAccept(nowMs, isHandedOver = false) {
    this.mayBeAccepting = true
    this.#accepted++
    this.#windowAccepts++
    this.#isHandedOver = isHandedOver
    const gapMs = nowMs - this.#lastAcceptMs
    this.#isLate = this.isAwaitingPrimary && gapMs >= this.#quietMs
    if (gapMs < MAX_QUIET_MS)
      this.#gapMs += (gapMs - this.#gapMs) * (gapMs < this.#gapMs ? GAP_FALL : GAP_RISE)
    this.#lastAcceptMs = nowMs
  }

  /** @param {number} nowMs */
  onHandshake(nowMs) {
    this.mayBeAccepting = true
    this.#handshakes++
    this.#lastHandshakeMs = nowMs
  }

  /** A handshake succeeded or failed. A handshake that does neither is forgotten after MAX_MS. */
  onHandshakeEnd() {
    if (this.#handshakes > 0) this.#handshakes--
  }

  /**
   * Outside a burst the whole turn was work. Work adds to the time that may be spent on accepting.
   * @param {number} busyMs @param {number} nowMs
   * @param {number} arrived how many requests arrived in this turn
   */
  onTurn(busyMs, nowMs, arrived) {
    this.#windowRequests += arrived
    if (this.#sinceMs !== undefined) return
    if (nowMs - this.#windowMs > WINDOW_MS) {
      this.#windowMs = nowMs
      this.#windowAccepts = this.#windowRequests = 0
    }
    // Connections that send no request say nothing about the load.
    const share = this.#windowRequests * 4 < this.#windowAccepts ? SHARE / 2 : SHARE
    this.#allowanceMs = Math.min(this.#allowanceMs + busyMs * share, WINDOW_MS)
  }

  /**
   * Whether a connection was accepted since the last turn ended, or a handshake is under way.
   *
   * @param {number} nowMs
   */
  isAccepting(nowMs) {
    return this.#accepted !== this.#seen || this.#isHandshaking(nowMs)
  }

  /** @param {number} nowMs */
  #isHandshaking(nowMs) {
    if (this.#handshakes === 0) return false
    if (nowMs - this.#lastHandshakeMs < MAX_MS) return true
    this.#handshakes = 0
    return false
  }

  /**
   * Whether the loop should turn again before the gate starts work. Called once per turn; the turn was busy
   * for `busyMs`.
   * @param {number} nowMs @param {number} busyMs
   * @param {boolean} hasRun whether a request has run since the last turn
   */
  shouldTurnAgain(nowMs, busyMs, hasRun) {
    const isHandshaking = this.#isHandshaking(nowMs)
    const hasAccepted = this.#accepted !== this.#seen
    const isAccepting = hasAccepted || (busyMs > HANDSHAKE_MS && isHandshaking)
    const isSecondInRow = isAccepting && this.#wasAccepting
    if (hasRun) this.#foundInRow = hasAccepted && this.#isHandedOver ? this.#foundInRow + 1 : 0
    this.#seen = this.#accepted
    this.mayBeAccepting = this.#handshakes > 0
    this.#wasAccepting = isAccepting || isHandshaking
    this.isAwaitingPrimary = !isAccepting && this.#mayGetAnother(nowMs)
    if (this.#isHandedOver ? !this.isPrimaryBehind : !isSecondInRow) return this.#stop()
    if (!isAccepting && !this.isAwaitingPrimary) return this.#stop()
    if (this.#isPrimaryDone(hasAccepted)) return this.#stop()
    if (this.#sinceMs === undefined) {
      this.#sinceMs = nowMs
      this.#spentMs = 0
    } else {
      const turnMs = nowMs - this.#lastTurnMs
      this.#spentMs += turnMs > TURN_BUDGET_MS ? WORK_TURN_MS : turnMs
    }
    this.#lastTurnMs = nowMs
    if (this.#spentMs < Math.min(MAX_MS, this.#allowanceMs) && nowMs - this.#sinceMs < MAX_ELAPSED_MS)
      return true
    this.#allowanceMs = Math.max(0, this.#allowanceMs - this.#spentMs)
    return this.#stop()
  }

  /**
   * Whether the primary has connections waiting. It hands over one in a loop turn. So behind a turn that ran
   * a request there is always one then, and otherwise only by chance.
   */
  get isPrimaryBehind() {
    return this.#foundInRow >= FOUND_IN_ROW
  }

  /**
   * Whether the primary may hand over another connection: its last hand-over was less than three usual gaps
   * ago.
   *
   * @param {number} nowMs
   */
  #mayGetAnother(nowMs) {
    return this.isPrimaryBehind && nowMs - this.#lastAcceptMs < this.#quietMs
  }

  /**
   * Whether the primary had handed over all connections. The requests that are queued then start in the next
   * turn, whatever that turn accepts.
   *
   * @param {boolean} hasAccepted
   */
  #isPrimaryDone(hasAccepted) {
    const isLate = hasAccepted && this.#isLate
    const isDone = isLate || this.#isWorkNext
    this.#isWorkNext = isLate
    return isDone
  }

  get #quietMs() {
    return Math.min(MAX_QUIET_MS, Math.max(MIN_QUIET_MS, 3 * this.#gapMs))
  }

  #stop() {
    this.isAwaitingPrimary = false
    this.#sinceMs = undefined
    return false
  }
}

exports.AcceptBurst = AcceptBurst
exports.MAX_QUIET_MS = MAX_QUIET_MS
