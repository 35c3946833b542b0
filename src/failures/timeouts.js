'use strict'
// Requests whose handler does not answer: past `errors.timeout` they are answered in its stead, which frees the slot, and
// what hangs on their connection and response. Nothing is done per request: the list of those in flight is looked through
// ten times a second, while one of them waits for its answer. So a time is up to that late, and the function that gives
// it is asked when the route is known.
// Only until the head is sent: of a body that stalls nobody can tell whether it is an event stream that is quiet or a
// client that does not read; the socket's own timeout is for that.

const { PRIORITIES } = require('../admission/verdict')
const { rounded } = require('../durations')
const { cutOff } = require('./error-answer')
const { StandIn } = require('./substitute-answer')

const CHECK_MS = 100

class Timeouts {
  #clock
  #faults
  #recorder
  #timeout
  #standIn
  #warn
  #isClosed = false
  #check = () => this.#lookThrough()
  #checkLater = () => this.#clock.after(CHECK_MS, this.#check)

  /** @param {{ clock: any, faults: any, recorder: any, options: any, warn: (fields: object, message: string) => void }} parts */
  constructor({ clock, faults, recorder, options, warn }) {
    this.#clock = clock
    this.#faults = faults
    this.#warn = warn
    this.#recorder = recorder
    this.#timeout = options.errors.timeout
    this.#standIn = new StandIn(options.errors.timeoutStatus, 'No answer in time.')
  }

  start() {
    if (this.#timeout !== undefined) this.#recorder.requests.whenNext(this.#checkLater)
  }

  #lookThrough() {
    if (this.#isClosed) return
    const nowMs = this.#clock.now()
    const expired = []
    let isAnyWaiting = false
    for (const request of this.#recorder.requests) {
      if (request.hasAnswer) continue
      isAnyWaiting = true
      const ageMs = nowMs - request.startedMs
      // The rest is younger.
      if (ageMs < CHECK_MS) break
      if (!request.isQueued && ageMs >= this.#timeoutOf(request)) expired.push(request)
    }
    const answered = expired.filter((request) => this.#answer(request))
    if (answered.length > 0) this.#log(answered)
    if (isAnyWaiting) this.#checkLater()
    else this.#recorder.requests.whenNext(this.#checkLater)
  }

  #timeoutOf(request) {
    if (typeof this.#timeout === 'number') return this.#timeout
    const { route } = this.#recorder.describe(request)
    try {
      const timeoutMs = this.#timeout(request.req, {
        route,
        priority: PRIORITIES[request.admission.priority],
      })
      if (timeoutMs === undefined || timeoutMs > 0) return timeoutMs ?? Number.POSITIVE_INFINITY
      this.#faults.heed('errors.timeout', timeoutMs)
      throw new TypeError(
        `${String(timeoutMs)} is no number of milliseconds above 0; the request has no timeout`
      )
    } catch (error) {
      this.#faults.report('errors.timeout', error)
      return Number.POSITIVE_INFINITY
    }
  }

  #answer(request) {
    try {
      if (!this.#standIn.answer(request)) return false
      for (let each = request.head; each !== undefined; each = each.next) each.isTimedOut = true
      return true
    } catch (error) {
      this.#faults.report('errors.timeout', error)
      cutOff(request.res)
      return false
    }
  }

  #log(requests) {
    const { method, route, ageMs } = this.#recorder.describe(requests[0])
    this.#warn(
      { event: 'timeout', count: requests.length, method, route, ageMs: rounded(ageMs) },
      'spillway: handlers had not answered in time, so it did'
    )
  }

  close() {
    this.#isClosed = true
  }
}

module.exports = { Timeouts }
