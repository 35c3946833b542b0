'use strict'
// Detects accept bursts. Node accepts one connection per loop turn. While connections keep coming, the gate
// starts no work and only lets the loop turn. So the kernel's accept queue is read into the gate's queue,
// where ages are known. A burst begins with the second turn in a row that accepted a connection. In a worker
// of a cluster it begins once the primary has connections waiting. It ends when no connection comes, and
// after 20 ms at the latest. The turn after a burst starts work, whatever it accepts. Details, also for TLS,
// are in docs/decisions/0040.

/** A burst ends after this time. */
const MAX_MS = 20
/**
 * The primary has connections waiting once this many turns in a row ran a request and then found a
 * connection. It has none once a burst found fewer.
 */
const FOUND_IN_ROW = 4
/** The primary hands over a connection within this time, if it has one waiting. */
const HAND_OVER_MS = 0.5
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
  /** Whether the loop waited for the last connection for longer than a hand-over takes. */
  #isLate = false
  /** Whether the last turn ended a burst. */
  #hasEnded = false
  /** When the burst began. @type {number | undefined} */
  #sinceMs
  /** How many connections were accepted before the burst. */
  #acceptedBefore = 0
  #turnedMs = 0

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
    this.#isHandedOver = isHandedOver
    this.#isLate = this.isAwaitingPrimary && nowMs - this.#lastAcceptMs >= HAND_OVER_MS
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
    const turnMs = nowMs - this.#turnedMs
    this.#turnedMs = nowMs
    const isHandshaking = this.#isHandshaking(nowMs)
    const hasAccepted = this.#accepted !== this.#seen
    const isAccepting = hasAccepted || (busyMs > HANDSHAKE_MS && isHandshaking)
    const isSecondInRow = isAccepting && this.#wasAccepting
    // A connection that the loop slept for was not waiting in the primary.
    const isFound = hasAccepted && this.#isHandedOver && turnMs - busyMs < HAND_OVER_MS
    if (hasRun) this.#foundInRow = isFound ? this.#foundInRow + 1 : 0
    this.#seen = this.#accepted
    this.mayBeAccepting = this.#handshakes > 0
    this.#wasAccepting = isAccepting || isHandshaking
    if (this.#hasEnded || this.#isOver(nowMs)) return this.#end(false)
    if (!this.#goesOn(isAccepting, isSecondInRow, nowMs)) return this.#end(!isAccepting)
    if (this.#sinceMs === undefined) this.#begin(nowMs)
    this.isAwaitingPrimary = !isAccepting
    return true
  }

  /**
   * Whether the primary has connections waiting. It hands over one in a loop turn, so while it has more, the
   * turns that run requests find one. Otherwise they find one by chance.
   */
  get isPrimaryBehind() {
    return this.#foundInRow >= FOUND_IN_ROW
  }

  /** @param {boolean} isAccepting @param {boolean} isSecondInRow @param {number} nowMs */
  #goesOn(isAccepting, isSecondInRow, nowMs) {
    if (!this.#isHandedOver) return isSecondInRow
    if (!this.isPrimaryBehind) return false
    return isAccepting ? !this.#isLate : nowMs - this.#lastAcceptMs < HAND_OVER_MS
  }

  /** @param {number} nowMs */
  #isOver(nowMs) {
    return this.#sinceMs !== undefined && nowMs - this.#sinceMs >= MAX_MS
  }

  /** @param {number} nowMs */
  #begin(nowMs) {
    this.#sinceMs = nowMs
    this.#acceptedBefore = this.#accepted - 1
  }

  /** Ends the burst, if there is one. @param {boolean} isQuiet whether no connection came any more */
  #end(isQuiet) {
    this.isAwaitingPrimary = false
    this.#hasEnded = this.#sinceMs !== undefined
    if (this.#hasEnded && isQuiet && this.#accepted - this.#acceptedBefore < FOUND_IN_ROW)
      this.#foundInRow = 0
    this.#sinceMs = undefined
    return false
  }
}

exports.AcceptBurst = AcceptBurst
exports.HAND_OVER_MS = HAND_OVER_MS
