'use strict'
// Decides whether a connection that lives long, such as a WebSocket, may open now. Most of its messages
// cannot be rejected. So the loop must have room for the connection's load, and not only for its handshake.
// While the loop idles three tenths of its time, there is room. Otherwise:
//   room = min(idle over 250 ms, idle over 2 s) - 0.1 - the load that new connections will bring
// connection-load.js estimates that load. Without room, a connection is held. After a second, a held
// connection is rejected if the loop is full, or if the load of newcomers shows that it will be full. Once
// connections have been held for a second without a break, further ones are rejected at once
// (docs/decisions/0055).

const { HEALTHY_LOAD } = require('../../core/gate/limits/queue-delay')
const { IDLE_SHARE, RECHECK_MS, SAMPLE_MS, shareAfter } = require('../../core/gate/measurements/loop-turns')
const { BYPASS, CRITICAL, LOW, NORMAL } = require('../../core/gate/decision')
const { ConnectionLoad, LAG_MS } = require('./connection-load')

/**
 * @import { Request, ShedReason } from '../../../index.js'
 * @import { ConnectionDeps, ShedOptions } from '../../core/gate/admission'
 * @import { Source } from './connection-load'
 */

/**
 * The horizon of the idle share that admits connections. The idle share that rejects them has LAG_MS, because
 * a loop at 80 % has moments without any idle time.
 */
const HORIZON_MS = 250
/**
 * A loop that idles this much rejects no connection. At a load of 70 %, the loop sometimes idles less for a
 * second.
 */
const FULL_SHARE = 0.2
/** How long a connection is held before it may be rejected. */
const PATIENCE_MS = 1000
/** How long the loop must have been full before messages of class `low` are rejected. */
const FULL_MS = 500

/**
 * @typedef {(reason: ShedReason | undefined, value?: number, bound?: number) => void} OnDecision `value` and
 *   `bound`: the figure that caused a rejection, and its limit
 */
/**
 * @typedef {{ owner: object | undefined, priority: number, sinceMs: number, onDecision: OnDecision }} Held
 */

class ConnectionGate {
  /** Whether the process drains: no connection opens any more. */
  isClosing = false
  #deps
  /** @type {ShedOptions['mode'] | undefined} */
  #mode
  /** @type {Set<Held>} */
  #held = new Set()
  /** When the present series of held connections began, by `#patientMs()`. */
  #queuedSinceMs = 0
  #idleShare = 1
  #longIdleShare = 1
  #turnedMs
  #turnedIdleMs
  #load
  /** Since when the loop is full, by `#patientMs()`; NaN while it idles. */
  #fullSinceMs = Number.NaN
  /**
   * The time up to the last turn or message. A turn or message counts for at most SAMPLE_MS, so a stall is
   * not a long wait.
   */
  #waitedMs = 0
  #waitedAtMs
  #isLookScheduled = false
  #isClosed = false

  /** @param {ConnectionDeps} deps @param {Source} connections */
  constructor(deps, connections) {
    this.#deps = deps
    this.#turnedMs = this.#waitedAtMs = deps.clock.now()
    this.#turnedIdleMs = deps.clock.idleMs()
    this.#load = new ConnectionLoad(connections, this.#turnedMs)
  }

  /** @param {boolean} isOff @param {Pick<ShedOptions, 'mode'>} options */
  update(isOff, { mode }) {
    this.#mode = isOff ? 'off' : mode
    if (this.#mode !== 'adaptive') this.#releaseAll(undefined)
  }

  /** The class of a connection, by the request that opens it. @param {Request} req */
  classOf(req) {
    const { hooks } = this.#deps
    return hooks.classifies ? hooks.classOf(req) : NORMAL
  }

  retryAfterSeconds() {
    return this.#deps.retryAfterSeconds()
  }

  get held() {
    return this.#held.size
  }

  /**
   * The clock that measures waiting here. The stall-free clock of requests would count a turn with many
   * messages as a stall.
   *
   * @param {number} nowMs
   */
  #patientMs(nowMs) {
    return this.#waitedMs + Math.min(SAMPLE_MS, nowMs - this.#waitedAtMs)
  }

  /** @param {number} nowMs */
  #shareNow(nowMs) {
    const idledMs = this.#deps.clock.idleMs() - this.#turnedIdleMs
    return shareAfter(this.#idleShare, idledMs, Math.max(0, nowMs - this.#turnedMs - idledMs), HORIZON_MS)
  }

  // Hot path: once a loop turn, where sockets are watched.
  /** @param {number} busyMs @param {number} nowMs @param {number} idleMs */
  onTurn(busyMs, nowMs, idleMs) {
    const idledMs = idleMs - this.#turnedIdleMs
    this.#idleShare = shareAfter(this.#idleShare, idledMs, busyMs, HORIZON_MS)
    // A stall says nothing about the second after it.
    this.#longIdleShare = shareAfter(this.#longIdleShare, idledMs, Math.min(SAMPLE_MS, busyMs), LAG_MS)
    this.#load.onTurn(nowMs)
    this.#turnedMs = nowMs
    this.#turnedIdleMs = idleMs
    this.#noteFull(this.#idleShare, nowMs)
  }

  // Hot path where messages have priorities: once a message. One turn may read thousands.
  onMessage() {
    const nowMs = this.#deps.clock.now()
    this.#noteFull(this.#shareNow(nowMs), nowMs)
  }

  /** @param {number} idleShare @param {number} nowMs */
  #noteFull(idleShare, nowMs) {
    this.#waitedMs = this.#patientMs(nowMs)
    this.#waitedAtMs = nowMs
    if (idleShare >= IDLE_SHARE) this.#fullSinceMs = Number.NaN
    else if (Number.isNaN(this.#fullSinceMs)) this.#fullSinceMs = this.#waitedMs
  }

  /**
   * Whether a message of class `low` is to be rejected: the loop has been full for half a second, or a
   * resource is short.
   */
  get rejectsLow() {
    if (this.#isClosed || this.#mode === 'off') return false
    return this.#deps.resources.isShort || this.#isLoopFull(this.#deps.clock.now())
  }

  /**
   * Called for a message of class `low` in overload.
   *
   * @returns {boolean} false in mode `observe`, which only counts the message
   */
  rejectMessage() {
    if (this.#mode !== 'observe') return true
    this.#deps.onWouldReject(this.#deps.cause.because('loop'), LOW)
    return false
  }

  /** @param {number} nowMs */
  #isLoopFull(nowMs) {
    // After a long sleep, the measurement of the last turn is out of date.
    return this.#patientMs(nowMs) - this.#fullSinceMs >= FULL_MS && this.#shareNow(nowMs) < IDLE_SHARE
  }

  /** The share of the loop that is left for connections which open now. @param {number} nowMs */
  #roomAt(nowMs) {
    const share = this.#shareNow(nowMs)
    return share >= 1 - HEALTHY_LOAD
      ? share
      : Math.min(share, this.#longIdleShare) - IDLE_SHARE - this.#load.expected
  }

  /** @param {number} nowMs */
  #hasRoom(nowMs) {
    return this.#roomAt(nowMs) > 0
  }

  /**
   * Whether the loop has no room for the held connections, by the load of newcomers. The mean load of all
   * connections never causes a rejection.
   *
   * @param {number} nowMs
   */
  #isFull(nowMs) {
    const share = this.#longIdleShare
    if (share >= FULL_SHARE || this.#hasRoom(nowMs)) return false
    return share - IDLE_SHARE - this.#load.shown(this.#held.size) <= 0
  }

  sample() {
    return { held: this.#held.size, room: this.#roomAt(this.#deps.clock.now()) }
  }

  /**
   * Whether connections have been held for PATIENCE_MS without a break, and the loop has no room for them.
   *
   * @param {number} nowMs
   */
  #isStanding(nowMs) {
    const isLong = this.#held.size > 0 && this.#patientMs(nowMs) - this.#queuedSinceMs >= PATIENCE_MS
    return isLong && this.#isFull(nowMs)
  }

  /**
   * @param {{ priority: number, owner?: object, onDecision: OnDecision }} asked `priority`: an index into
   *   PRIORITIES; `owner`: see `open()`; `onDecision` is called with the reason of a rejection, now or later
   * @returns {(() => void) | undefined} cancels a held connection; undefined if the connection is decided
   *   already
   */
  admit({ priority, owner, onDecision }) {
    const nowMs = this.#deps.clock.now()
    const reason = this.#reasonNow(priority, nowMs)
    if (reason !== undefined) {
      const { bound, value } = this.#deps.cause
      this.#deps.countRejected(reason, priority)
      onDecision(reason, value, bound)
      return undefined
    }
    const { size } = this.#held
    if (!this.#mayHold(priority) || (size === 0 && this.#hasRoom(nowMs))) {
      this.#load.onAdmit()
      onDecision(undefined)
      return undefined
    }
    return this.#hold({ owner, priority, sinceMs: this.#patientMs(nowMs), onDecision })
  }

  /** @param {number} priority */
  #mayHold(priority) {
    return this.#mode === 'adaptive' && !this.#isClosed && priority !== BYPASS && priority !== CRITICAL
  }

  /** @param {number} priority @param {number} nowMs */
  #reasonNow(priority, nowMs) {
    if (this.#isClosed) return undefined
    if (this.isClosing) return this.#deps.cause.because('closed')
    if (this.#mode === 'off' || priority === BYPASS) return undefined
    const reason = this.#shortage(priority) ?? this.#loopReason(priority, nowMs)
    if (reason === undefined || this.#mode !== 'observe') return reason
    this.#deps.onWouldReject(reason, priority)
    return undefined
  }

  /** @param {number} priority */
  #shortage(priority) {
    const { resources } = this.#deps
    return resources.isShort ? resources.reasonFor(priority) : undefined
  }

  /** @param {number} priority @param {number} nowMs */
  #loopReason(priority, nowMs) {
    if (priority === CRITICAL) return undefined
    const { cause } = this.#deps
    if (this.#mode === 'observe')
      return this.#isLoopFull(nowMs) && !this.#hasRoom(nowMs) ? cause.because('loop') : undefined
    if (!this.#isStanding(nowMs)) return undefined
    return cause.because('loop', this.#patientMs(nowMs) - this.#queuedSinceMs, PATIENCE_MS)
  }

  /** @param {Held} held */
  #hold(held) {
    if (this.#held.size === 0) this.#queuedSinceMs = held.sinceMs
    this.#held.add(held)
    this.#lookLater()
    return () => this.#held.delete(held)
  }

  /** Uses a timer, because an idle loop makes no turn. */
  #lookLater() {
    if (this.#isLookScheduled) return
    this.#isLookScheduled = true
    this.#deps.clock.after(RECHECK_MS, () => {
      this.#isLookScheduled = false
      this.#look()
    })
  }

  #look() {
    const nowMs = this.#deps.clock.now()
    const waitedMs = this.#patientMs(nowMs)
    for (const held of [...this.#held]) {
      if (this.#hasRoom(nowMs)) {
        this.#load.onAdmit()
        this.#release(held, undefined)
      } else if (waitedMs - held.sinceMs >= PATIENCE_MS && this.#isFull(nowMs))
        this.#release(held, 'loop', waitedMs - held.sinceMs, PATIENCE_MS)
      else break
    }
    if (this.#held.size > 0) this.#lookLater()
  }

  /**
   * Calls back a turn later, because the application may throw.
   *
   * @param {Held} held
   * @param {ShedReason} [reason]
   * @param {number} [value]
   * @param {number} [bound]
   */
  #release(held, reason, value, bound) {
    if (!this.#held.delete(held)) return
    const { cause, clock, countRejected } = this.#deps
    if (reason !== undefined) countRejected(cause.because(reason, value, bound), held.priority)
    clock.afterTurn(() => held.onDecision(reason, value, bound))
  }

  /** Called when the process drains: no connection opens from now on. */
  onDrain() {
    this.isClosing = true
    this.#releaseAll('closed')
  }

  /** Called when the instance closes: all held connections open. */
  close() {
    this.#isClosed = true
    this.#releaseAll(undefined)
  }

  /** Opens all held connections of an owner. @param {object} owner */
  open(owner) {
    for (const held of this.#held) if (held.owner === owner) this.#release(held, undefined)
  }

  /** @param {ShedReason | undefined} reason */
  #releaseAll(reason) {
    for (const held of this.#held) this.#release(held, reason)
  }
}

exports.ConnectionGate = ConnectionGate
