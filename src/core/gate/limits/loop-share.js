'use strict'
// Limits the number of requests in flight, so that together they need no more than the time of the loop. Each
// request reserves a share of the loop's time:
//   share = cost / (time it awaits something else + slack)
// The sum of all shares may be at most the share of the loop that rejections do not use. While the loop
// idles, a request in flight awaits something else. So a stream, a long poll or a slow upstream comes to
// reserve almost nothing. While the loop does not idle, no reservation shrinks (docs/decisions/0001).

const { IDLE_SHARE } = require('../measurements/loop-turns')
const { SMOOTHING } = require('../measurements/request-cost')

/**
 * @import { Clock } from '../../clock'
 * @import { Ticket } from '../../request/request-record'
 * @import { LoopTurns } from '../measurements/loop-turns'
 * @import { RequestCost } from '../measurements/request-cost'
 */

/** The slack of the formula: loop time of the work that may become ready in one turn. */
const SLACK_MS = 40
/**
 * This many requests are always allowed to run, because so few say little about the load. Requests that wait
 * for a slot of their route are not counted: eight of them would keep all other routes out.
 */
const FEW_REQUESTS = 8
/** Rejecting is pointless if a request costs no more than this many rejections. */
const POINTLESS_REJECTIONS = 3

/**
 * `idleMs` of a request that waits for a slot. With it the loop seems to have idled infinitely long, so the
 * request's reservation becomes 0.
 */
const PAUSED = Number.NEGATIVE_INFINITY

/** Lower bound of `Trust.factor`. A factor of 0 could never grow, because it grows by multiplication. */
const MIN_TRUST = 1e-3
/**
 * A loop that idles less than this share of its time is saturated. An idle share between this and IDLE_SHARE
 * does not change trust.
 */
const SATURATED_SHARE = 0.04
/**
 * A request admitted now loads the loop only after it has awaited something else. So the time span of trust
 * and pace is this multiple of the mean time that requests await, plus the slack. It is at most MAX_WAITS_MS.
 * While no request is held back, trust grows by a factor of e in MAX_WAITS_MS.
 */
const WAITS = 2
const MAX_WAITS_MS = 500

/** Requests may start this much faster than the loop runs them (see Pace). */
const SPEED = 1.1
/** While the debt of Pace is over this, no request starts. */
const BURST_MS = 20
/**
 * Upper bound of the debt before a start; the cost of the starting request is added. Without the bound, a
 * measured cost that is far too high would stop all later starts.
 */
const MAX_DEBT_MS = 100

class LoopShare {
  #cost
  #turns
  #trust = new Trust()
  #pace = new Pace()
  /** @type {Ticket[]} */
  #inFlight = []
  /** How many of them wait for a slot in the limit of their route. */
  #paused = 0
  /**
   * The sum of 1 / (wait + slack) of all requests in flight. Idle time lowers it only at a refresh. So the
   * sum is too high if the loop has idled since the last refresh.
   */
  #reserved = 0
  /** The expected 1 / (wait + slack) of the next request: the mean of the requests that ended. */
  #usual = 1 / SLACK_MS
  #refreshedIdleMs
  #turnedMs
  #turnedIdleMs

  /**
   * @param {{
   *   clock: Clock,
   *   cost: RequestCost,
   *   turns: LoopTurns,
   * }} deps
   */
  constructor({ clock, cost, turns }) {
    this.#cost = cost
    this.#turns = turns
    this.#turnedMs = clock.now()
    this.#turnedIdleMs = this.#refreshedIdleMs = clock.idleMs()
  }

  get inFlight() {
    return this.#inFlight.length
  }

  /** Whether running a request costs the loop no more than rejecting a few. */
  get isRejectingPointless() {
    return this.#cost.ms <= POINTLESS_REJECTIONS * this.#cost.rejectionMs
  }

  /** The expected cost of one more request: the measured cost times trust. */
  get expectedCostMs() {
    return this.#cost.ms * this.#trust.factor
  }

  get #free() {
    return 1 - this.#cost.rejectedShare
  }

  // Hot path, once a request (bench/overhead).
  /** Whether the loop has a share left for one more request. @param {number} nowMs */
  hasFreeShare(nowMs) {
    if (this.#inFlight.length - this.#paused < FEW_REQUESTS || this.isRejectingPointless) return true
    return this.expectedCostMs * (this.#reserved + this.#usual) <= this.#free && this.#pace.allows(nowMs)
  }

  /** How many requests may be in flight, given the current reservations. */
  get limit() {
    if (this.isRejectingPointless) return Number.POSITIVE_INFINITY
    const more = Math.floor((this.#free / this.expectedCostMs - this.#reserved) / this.#usual)
    return Math.max(FEW_REQUESTS + this.#paused, this.#inFlight.length + more)
  }

  /** How long a request waits for the loop behind `ahead` others. @param {number} ahead */
  waitMs(ahead) {
    return (ahead * this.expectedCostMs) / this.#free
  }

  // Hot path, once a request (bench/overhead).
  /** @param {Ticket} ticket @param {number} nowMs @param {number} idleMs */
  onAdmit(ticket, nowMs, idleMs) {
    ticket.idleMs = idleMs
    ticket.reservation = this.#usual
    this.#reserved += ticket.reservation
    ticket.onAdmit(nowMs, this.#inFlight.push(ticket) - 1)
    this.#pace.onAdmit(this.#cost.ms, nowMs)
  }

  // Hot path, once a request (bench/overhead).
  /** @param {Ticket} ticket @param {number} nowMs @param {number} idleMs */
  onEnd(ticket, nowMs, idleMs) {
    this.#recordWait(nowMs - ticket.decidedMs - this.#turns.meanReadyDelayMs(nowMs, idleMs), nowMs)
    this.#remove(ticket)
  }

  /**
   * The request waits for a slot in the limit of its route. It reserves nothing once the loop idles.
   * Otherwise requests that wait there would keep all others out.
   *
   * @param {Ticket} ticket in flight @param {number} nowMs
   */
  onPause(ticket, nowMs) {
    this.#pace.onWithdraw(this.#cost.ms, nowMs)
    ticket.idleMs = PAUSED
    this.#paused++
  }

  /**
   * The paused request has got its slot.
   *
   * @param {Ticket} ticket @param {number} nowMs @param {number} idleMs
   */
  onResume(ticket, nowMs, idleMs) {
    this.#reserved += this.#usual - ticket.reservation
    if (ticket.idleMs === PAUSED) this.#paused--
    ticket.idleMs = idleMs
    ticket.reservation = this.#usual
    this.#pace.onAdmit(this.#cost.ms, nowMs)
  }

  /**
   * The request has not run, so neither its time nor its cost counts.
   *
   * @param {Ticket} ticket @param {number} nowMs
   */
  onWithdraw(ticket, nowMs) {
    if (ticket.idleMs !== PAUSED) this.#pace.onWithdraw(this.#cost.ms, nowMs)
    this.#remove(ticket)
  }

  /** @param {Ticket} ticket in flight */
  #remove(ticket) {
    if (ticket.idleMs === PAUSED) this.#paused--
    const last = /** @type {Ticket} */ (this.#inFlight.pop())
    if (last !== ticket) {
      this.#inFlight[ticket.index] = last
      last.index = ticket.index
    }
    ticket.onRelease()
    this.#reserved = this.#inFlight.length === 0 ? 0 : this.#reserved - ticket.reservation
  }

  /**
   * A wait that is longer than usual counts only while the loop idles. In a full loop, requests wait for the
   * loop itself.
   *
   * @param {number} waitedMs
   * @param {number} nowMs
   */
  #recordWait(waitedMs, nowMs) {
    const reservation = 1 / (Math.max(0, waitedMs) + SLACK_MS)
    if (reservation < this.#usual && !this.#turns.isIdling(nowMs)) return
    this.#usual += (reservation - this.#usual) * SMOOTHING
  }

  /**
   * @param {number} nowMs
   * @param {number} idleMs
   * @param {boolean} isContended whether a request is queued, or was held back in this turn
   */
  onTurn(nowMs, idleMs, isContended) {
    const idleShare = this.#turns.idleShare(nowMs)
    const waitAndSlackMs = 1 / this.#usual
    const idledMs = idleMs - this.#turnedIdleMs
    this.#trust.onTurn({ idledMs, elapsedMs: nowMs - this.#turnedMs, idleShare, isContended, waitAndSlackMs })
    this.#pace.onTurn(nowMs, idleShare < IDLE_SHARE, waitAndSlackMs)
    this.#turnedMs = nowMs
    this.#turnedIdleMs = idleMs
    if (isContended && idleMs > this.#refreshedIdleMs) this.#refresh(idleMs, idleShare >= IDLE_SHARE)
  }

  /** @param {number} idleMs @param {boolean} isIdling */
  #refresh(idleMs, isIdling) {
    this.#refreshedIdleMs = idleMs
    this.#reserved = 0
    for (const ticket of this.#inFlight) {
      if (ticket.idleMs !== PAUSED || isIdling)
        ticket.reservation = Math.min(this.#usual, 1 / (idleMs - ticket.idleMs + SLACK_MS))
      this.#reserved += ticket.reservation
    }
  }
}

/**
 * Correction factor of the measured cost of a request. A loop that idles while requests are held back proves
 * that the measured cost is too high. The factor falls with the idle time, and recovers while the loop is
 * saturated (docs/decisions/0001).
 */
class Trust {
  /** The factor, from MIN_TRUST to 1. */
  factor = 1

  /**
   * @param {{ idledMs: number, elapsedMs: number, idleShare: number, isContended: boolean,
   *   waitAndSlackMs: number }} turn `isContended`: a request is queued, or was held back; `waitAndSlackMs`:
   *   how long requests await something other than the loop, plus the slack
   */
  onTurn({ idledMs, elapsedMs, idleShare, isContended, waitAndSlackMs }) {
    const horizonMs = Math.min(MAX_WAITS_MS, WAITS * waitAndSlackMs)
    let growth = 0
    if (!isContended) growth = elapsedMs / MAX_WAITS_MS
    else if (idleShare >= IDLE_SHARE) growth = -idledMs / horizonMs
    else if (idleShare < SATURATED_SHARE) growth = elapsedMs / horizonMs
    this.factor = Math.min(1, Math.max(MIN_TRUST, this.factor * Math.exp(growth)))
  }
}

/**
 * Limits how closely requests may start after one another, while the loop is full and shortly after. Requests
 * that start together resume together: without a pace, the loop alternates between idle and overloaded
 * (docs/decisions/0002).
 *   debt = cost of the started requests - 1.1 x elapsed time, at least 0
 * No request starts while the debt is over 20 ms.
 */
class Pace {
  #debtMs = 0
  #debtSinceMs = 0
  #fullMs = Number.NEGATIVE_INFINITY
  #isActive = false

  /** @param {number} nowMs */
  allows(nowMs) {
    return !this.#isActive || this.#debtAt(nowMs) <= BURST_MS
  }

  /** @param {number} nowMs */
  #debtAt(nowMs) {
    return Math.max(0, this.#debtMs - (nowMs - this.#debtSinceMs) * SPEED)
  }

  // Hot path, once a request (bench/overhead).
  /** @param {number} costMs @param {number} nowMs */
  onAdmit(costMs, nowMs) {
    this.#debtMs = Math.min(MAX_DEBT_MS, this.#debtAt(nowMs)) + costMs
    this.#debtSinceMs = nowMs
  }

  /** @param {number} costMs @param {number} nowMs */
  onWithdraw(costMs, nowMs) {
    this.#debtMs = Math.max(0, this.#debtAt(nowMs) - costMs)
    this.#debtSinceMs = nowMs
  }

  /** @param {number} nowMs @param {boolean} isFull @param {number} waitAndSlackMs */
  onTurn(nowMs, isFull, waitAndSlackMs) {
    if (isFull) this.#fullMs = nowMs
    this.#isActive = nowMs - this.#fullMs < Math.min(MAX_WAITS_MS, WAITS * waitAndSlackMs)
  }
}

exports.FEW_REQUESTS = FEW_REQUESTS
exports.LoopShare = LoopShare
exports.Pace = Pace
exports.Trust = Trust
