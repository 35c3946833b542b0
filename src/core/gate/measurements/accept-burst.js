'use strict'
// Detects accept bursts. Node accepts one connection per loop turn. While connections keep coming, the gate
// starts no work and only lets the loop turn. So the kernel's accept queue is read into the gate's queue,
// where ages are known. A burst begins with the second turn in a row that accepted a connection. It ends when
// no connection comes, or when bursts have taken four times the time of the work between them. The longest
// lasts 150 ms. The turn after a burst starts work, whatever it accepts.
//
// In a worker of a cluster the primary accepts, and hands over one connection per loop turn. There a burst
// begins once the primary has connections waiting. Details, also for TLS, are in docs/decisions/0040.

/** How many milliseconds of bursts each millisecond of other work allows. */
const SHARE = 4
/** The longest burst: what is allowed is saved up to this time. */
const MAX_MS = 150
/** No TLS handshake is in progress if none has begun for this time. */
const HANDSHAKE_TIMEOUT_MS = 20
/**
 * Once this many turns in a row ran a request and then found a connection, the primary has connections
 * waiting. Once such a turn finds none, the primary has none. The same holds if a burst finds fewer
 * connections than this, and then waits in vain.
 */
const FOUND_IN_ROW = 4
/** If the primary has connections waiting, the loop sleeps for less than this before it gets the next one. */
const HAND_OVER_MS = 0.5
/** A turn shorter than this did no arithmetic of a TLS handshake. */
const HANDSHAKE_MS = 0.1

class AcceptBurst {
  /** Whether the loop turns only because the primary may hand over another connection. */
  isAwaitingPrimary = false
  /** Whether a connection began since the last turn, or a handshake may be in progress. */
  mayBeAccepting = false
  #isHandedOver = false
  #foundInRow = 0
  #accepted = 0
  #seen = 0
  #wasAccepting = false
  #handshakes = 0
  #lastHandshakeMs = Number.NEGATIVE_INFINITY
  /** How long the loop has slept since the last turn that accepted a connection. */
  #sleptMs = 0
  /** Whether the last turn ended a burst. */
  #hasEnded = false
  #isOn = false
  /** How long bursts may still last. */
  #allowedMs = MAX_MS
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
    this.onAccept(isHandedOver)
    if (isSecure) this.onHandshake(nowMs)
  }

  /** @param {boolean} isHandedOver whether the cluster's primary accepted the connection for this process */
  onAccept(isHandedOver = false) {
    this.mayBeAccepting = true
    this.#accepted++
    this.#isHandedOver = isHandedOver
  }

  /** @param {number} nowMs */
  onHandshake(nowMs) {
    this.mayBeAccepting = true
    this.#handshakes++
    this.#lastHandshakeMs = nowMs
  }

  /** A handshake succeeded or failed. One that does neither is forgotten in time. */
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
    if (nowMs - this.#lastHandshakeMs < HANDSHAKE_TIMEOUT_MS) return true
    this.#handshakes = 0
    return false
  }

  /**
   * @param {number} nowMs @param {number} busyMs how long the turn was busy
   * @param {boolean} hasRun whether a request has run since the last turn
   * @returns {boolean} whether the loop should turn again before the gate starts work
   */
  onTurn(nowMs, busyMs, hasRun) {
    const sleptMs = nowMs - this.#turnedMs - busyMs
    this.#turnedMs = nowMs
    this.#sleptMs += sleptMs
    // The loop sleeps for longer than that only if nothing is queued.
    const spentMs = busyMs + Math.min(sleptMs, HAND_OVER_MS)
    if (this.#isOn) this.#allowedMs = Math.max(0, this.#allowedMs - spentMs)
    else this.#allowedMs = Math.min(MAX_MS, this.#allowedMs + SHARE * busyMs)
    const isHandshaking = this.#isHandshaking(nowMs)
    const hasAccepted = this.#accepted !== this.#seen
    const isAccepting = hasAccepted || (busyMs > HANDSHAKE_MS && isHandshaking)
    const isSecondInRow = isAccepting && this.#wasAccepting
    const hasWaited = this.#sleptMs >= HAND_OVER_MS
    if (hasRun) this.#countFound(hasAccepted && !hasWaited)
    if (hasAccepted) this.#sleptMs = 0
    this.#seen = this.#accepted
    this.mayBeAccepting = this.#handshakes > 0
    this.#wasAccepting = isAccepting || isHandshaking
    const goesOn = this.#isHandedOver ? this.isPrimaryBehind && !hasWaited : isSecondInRow
    if (!goesOn) return this.#end(!isAccepting)
    if (this.#hasEnded || this.#allowedMs <= 0) return this.#end(false)
    if (!this.#isOn) this.#begin()
    this.isAwaitingPrimary = !isAccepting
    return true
  }

  /** Counts the turns in a row that ran a request and then found a connection. @param {boolean} isFound */
  #countFound(isFound) {
    this.#foundInRow = isFound && this.#isHandedOver ? this.#foundInRow + 1 : 0
  }

  /**
   * Whether the primary has connections waiting. It hands over one in a loop turn, so while it has more, the
   * turns that run requests find one. Otherwise they find one by chance.
   */
  get isPrimaryBehind() {
    return this.#foundInRow >= FOUND_IN_ROW
  }

  #begin() {
    this.#isOn = true
    this.#acceptedBefore = this.#accepted - 1
  }

  /** Ends the burst, if there is one. @param {boolean} isQuiet whether no connection came any more */
  #end(isQuiet) {
    this.isAwaitingPrimary = false
    this.#hasEnded = this.#isOn
    if (this.#isOn && isQuiet && this.#accepted - this.#acceptedBefore < FOUND_IN_ROW) this.#foundInRow = 0
    this.#isOn = false
    return false
  }
}

exports.AcceptBurst = AcceptBurst
exports.HAND_OVER_MS = HAND_OVER_MS
