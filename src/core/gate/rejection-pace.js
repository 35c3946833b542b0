'use strict'
// Rejections are sent together every 20 ms, but the first one after a pause is sent at once. Through gateways
// each is sent at once: until then, another user's request waits for its connection. Rejections take at most
// 0.34 of the loop's time. This share falls while all clients wait for an answer. A rejection beyond the
// share waits, first in, first out. So most of the loop serves requests, whatever the clients of rejected
// requests do next. The share applies while at most twenty thousand rejections wait.

const { AsyncResource } = require('node:async_hooks')
const { isDisconnected } = require('../request/request-record')
const { isHalfClosed, offHalfClose, onHalfClose } = require('../request/half-closed')
const { LATELY_MS } = require('./measurements/loop-turns')

/** @import { RequestRecord } from '../request/request-record' */

const MAX_SHARE = 0.34
/**
 * While all clients wait, the share halves in this time, down to MIN_SHARE. Such clients send one request
 * per answer.
 */
const HALVED_MS = 1000
const MIN_SHARE = 0.05
/**
 * Added to the cost of a rejection on a new connection, because the loop had to accept the connection too.
 */
const ACCEPT_MS = 0.05
/**
 * Interval at which rejections are sent. A 503 that is sent alone wakes the client's process, and costs up to
 * five times as much.
 */
const TOGETHER_MS = 20
/** How long rejections that are sent together may block the loop. */
const MAX_TOGETHER_MS = 50
/**
 * The credit at the start, and the largest debt. Rejections that are sent at once although the share is used
 * up make debt.
 */
const MAX_DEBT_MS = 120
/** If more rejections wait, the oldest is sent at once, because each of them keeps its request in memory. */
const MAX_WAITING = 20_000

/** Shown by async hooks. */
const RESOURCE_TYPE = 'spillway.rejection'

/** A rejection that waits, in the async context of its request. */
class WaitingRejection extends AsyncResource {
  isSent = false
  request
  /** Called if the client half-closes. */
  sendNow

  /** @param {RequestRecord} request @param {(waiting: WaitingRejection) => void} send */
  constructor(request, send) {
    super(RESOURCE_TYPE)
    this.request = request
    this.sendNow = () => send(this)
  }
}

class RejectionPace {
  /** Rejections that have waited for their share so far. */
  late = 0
  #clock
  #clients
  #cost
  #answer
  #creditMs = MAX_DEBT_MS
  #creditedMs
  /** @type {(WaitingRejection | undefined)[]} */
  #queue = []
  #first = 0
  /** Rejections that wait now. */
  waiting = 0
  /** How many of the waiting rejections are counted in `late`. */
  #countedLate = 0
  /** Whether a timer is running, which will send the rejections that wait then. */
  #isPausing = false
  #sendsAtOnce = false

  /**
   * @param {{ clock: import('../clock').Clock, cost: { readonly rejectionMs: number },
   *   clients: { readonly areGateways: boolean, readonly waitingMs: number },
   *   answer: (request: RequestRecord) => void }} deps `answer`: sends the 503 of a request
   */
  constructor({ clock, clients, cost, answer }) {
    this.#answer = answer
    this.#clock = clock
    this.#clients = clients
    this.#cost = cost
    this.#creditedMs = clock.now()
  }

  // Hot path: once a rejection.
  /**
   * Answers the request now, or later when it is this rejection's turn.
   *
   * @param {RequestRecord} request
   * @param {number} nowMs
   */
  deliver(request, nowMs) {
    const mustNotWait = this.#sendsAtOnce || isHalfClosed(request)
    const maySend = this.#maySend
    if (maySend) this.#addCredit(nowMs)
    if (mustNotWait || (maySend && this.#creditMs > 0)) {
      this.#spend(request)
      this.#answer(request)
    } else this.#wait(request)
    this.#pause()
    if (this.waiting > MAX_WAITING) this.#sendFirst()
  }

  get #maySend() {
    return this.#clients.areGateways ? this.waiting === 0 : !this.#isPausing
  }

  /** @param {RequestRecord} request */
  #wait(request) {
    this.waiting++
    const waiting = new WaitingRejection(request, this.#sendWaiting)
    this.#queue.push(waiting)
    onHalfClose(request, waiting.sendNow)
  }

  #sendWaiting = (/** @type {WaitingRejection} */ waiting) => {
    const { request, sendNow } = waiting
    waiting.isSent = true
    this.waiting--
    offHalfClose(request, sendNow)
    // A rejection whose client has disconnected is not sent, and takes nothing of the share.
    if (isDisconnected(request)) return
    this.#spend(request)
    waiting.runInAsyncScope(this.#answer, undefined, request)
  }

  /** @param {number} nowMs */
  #addCredit(nowMs) {
    const share = Math.max(MIN_SHARE, MAX_SHARE / 2 ** (this.#clients.waitingMs / HALVED_MS))
    // An unused part of the share may be used later, because a gateway sends its whole queue at once.
    this.#creditMs = Math.min(share * LATELY_MS, this.#creditMs + share * (nowMs - this.#creditedMs))
    this.#creditedMs = nowMs
  }

  /** @param {RequestRecord} request */
  #spend({ socket }) {
    const costMs = this.#cost.rejectionMs + (socket?.bytesWritten === 0 ? ACCEPT_MS : 0)
    // The bound on the debt: rejections sent beyond the share delay later ones by at most 2.4 s.
    this.#creditMs = Math.max(this.#creditMs - costMs, -MAX_DEBT_MS)
  }

  #pause() {
    if (this.#isPausing) return
    this.#isPausing = true
    this.#clock.after(TOGETHER_MS, this.#onPauseEnd)
  }

  #onPauseEnd = () => {
    this.#isPausing = false
    if (this.waiting === 0) return
    this.#pause()
    this.#addCredit(this.#clock.now())
    this.#send()
  }

  #send() {
    const leastMs = Math.max(0, this.#creditMs - MAX_TOGETHER_MS)
    while (this.waiting > 0 && (this.#creditMs > leastMs || this.#sendsAtOnce)) this.#sendFirst()
    this.late += Math.max(0, this.waiting - this.#countedLate)
    this.#countedLate = this.waiting
  }

  #sendFirst() {
    const next = this.#queue[this.#first]
    this.#queue[this.#first++] = undefined
    // A rejection whose client half-closed has been sent already.
    if (next?.isSent === false) {
      if (this.#countedLate > 0) this.#countedLate--
      this.#sendWaiting(next)
    }
    // The queue is cut only when half of its entries are empty, so each rejection is moved once, on average.
    if (2 * this.#first < this.#queue.length) return
    this.#queue.splice(0, this.#first)
    this.#first = 0
  }

  /** Sends every rejection at once from now on. */
  sendAllAtOnce() {
    this.#sendsAtOnce = true
    this.#send()
  }
}

exports.RejectionPace = RejectionPace
