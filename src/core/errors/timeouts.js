'use strict'
// Answers requests whose handler has not answered within `errors.timeout`, which frees their slots. Ten times
// a second, while a request in flight has no answer, the list of requests is checked. So a request costs
// nothing, and its timeout comes up to 100 ms late. A timeout given as a function is called at each check,
// because the route may become known late. The timeout applies only until the head is sent: a stalled body
// may be a quiet event stream. Node's socket timeout covers bodies.

const { PRIORITIES } = require('../gate/decision')
const { rounded } = require('../readable')
const { cutOff } = require('../answer/cut-off')
const { NO_ANSWER, SubstituteAnswer } = require('./substitute-answer')

/**
 * @import { ResolvedOptions, TimeoutFunction } from '../../../index.js'
 * @import { Clock } from '../clock'
 * @import { InternalErrors } from './internal-errors'
 * @import { Recorder } from '../request/recorder'
 * @import { RequestRecord } from '../request/request-record'
 */

const CHECK_EVERY_MS = 100

class Timeouts {
  #clock
  #internalErrors
  #recorder
  #timeout
  #substitute
  #warn
  #isClosed = false
  #checkLater = () => this.#clock.after(CHECK_EVERY_MS, () => this.#check())

  /**
   * @param {{ clock: Clock, internalErrors: InternalErrors,
   *   recorder: Recorder, options: ResolvedOptions,
   *   warn: (fields: object, message: string) => void }} deps
   */
  constructor({ clock, internalErrors, recorder, options, warn }) {
    this.#clock = clock
    this.#internalErrors = internalErrors
    this.#warn = warn
    this.#recorder = recorder
    this.#timeout = options.errors.timeout
    this.#substitute = new SubstituteAnswer(options.errors.timeoutStatus, NO_ANSWER)
  }

  start() {
    if (this.#timeout !== undefined) this.#recorder.requests.onNextRequest(this.#checkLater)
  }

  #check() {
    if (this.#isClosed) return
    const nowMs = this.#clock.now()
    const expired = []
    let isAnyWaiting = false
    for (const request of this.#recorder.requests) {
      if (request.hasAnswer || request.isLongPoll) continue
      isAnyWaiting = true
      const ageMs = nowMs - request.startedMs
      // The list is in the order of arrival, so all further requests are younger.
      if (ageMs < CHECK_EVERY_MS) break
      if (!request.isQueued && ageMs >= this.#timeoutOf(request)) expired.push(request)
    }
    // The next check is arranged first, because answering calls functions of the application.
    if (isAnyWaiting) this.#checkLater()
    else this.#recorder.requests.onNextRequest(this.#checkLater)
    const answered = expired.filter((request) => this.#answer(request))
    if (answered.length > 0) this.#log(answered)
  }

  /** Milliseconds until the request times out. @param {RequestRecord} request @param {number} nowMs */
  leftMs(request, nowMs) {
    if (this.#timeout === undefined || request.isLongPoll) return Number.POSITIVE_INFINITY
    return this.#timeoutOf(request) - (nowMs - request.startedMs)
  }

  /** @param {RequestRecord} request */
  #timeoutOf(request) {
    if (typeof this.#timeout === 'number') return this.#timeout
    const { route } = this.#recorder.describe(request)
    try {
      const timeoutMs = /** @type {TimeoutFunction} */ (this.#timeout)(request.req, {
        route,
        priority: PRIORITIES[request.ticket.priority],
      })
      if (timeoutMs === undefined) return Number.POSITIVE_INFINITY
      if (typeof timeoutMs === 'number' && timeoutMs > 0) return timeoutMs
      this.#internalErrors.catchRejection('errors.timeout', timeoutMs)
      throw new TypeError(
        `it returned ${String(timeoutMs)}, which is not a number of milliseconds above 0. The request has no timeout. Return undefined if it should have none.`
      )
    } catch (error) {
      this.#internalErrors.report('errors.timeout', error)
      return Number.POSITIVE_INFINITY
    }
  }

  /** @param {RequestRecord} request */
  #answer(request) {
    try {
      if (!this.#substitute.answer(request)) return false
      request.timeOut()
      return true
    } catch (error) {
      this.#internalErrors.report('errors.timeout', error)
      cutOff(request.res)
      return false
    }
  }

  /** @param {RequestRecord[]} requests */
  #log(requests) {
    const { method, route, ageMs } = this.#recorder.describe(requests[0])
    this.#warn(
      { event: 'timeout', count: requests.length, method, route, ageMs: rounded(ageMs) },
      `spillway: ${method} ${route ?? '(unmatched)'}${others(requests.length - 1)} did not answer in time, so spillway answered`
    )
  }

  close() {
    this.#isClosed = true
  }
}

/** @param {number} count */
const others = (count) => (count === 0 ? '' : ` and ${count} ${count === 1 ? 'other' : 'others'}`)

exports.Timeouts = Timeouts
