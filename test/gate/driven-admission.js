'use strict'
// The admission of one instance with everything around it driven by hand: the clock, the loop's turns, the
// memory and the requests. What it decides is read off the answer a request got.

const { Admission } = require('../../src/core/gate/admission')
const { resolveOptions } = require('../../src/core/options/options')
const { InternalErrors } = require('../../src/core/errors/internal-errors')
const { deadlineLimit } = require('../support/deadline-limit')
const { FakeClock } = require('../support/fake-clock')
const { requestWith } = require('../support/request')

class TimedClock extends FakeClock {
  #timers = []

  after = (delayMs, callback) => {
    const timer = { atMs: this.now() + delayMs, callback }
    this.#timers.push(timer)
    return timer
  }

  cancel = (timer) => {
    this.#timers = this.#timers.filter((each) => each !== timer)
  }

  fire() {
    const due = this.#timers.filter(({ atMs }) => atMs <= this.now())
    this.#timers = this.#timers.filter((timer) => !due.includes(timer))
    for (const { callback } of due) callback()
  }
}

class DrivenAdmission {
  clock = new TimedClock()
  told = []
  /** What would have been told, in mode `observe`. */
  observed = []
  logged = []
  memory = {}
  admission
  /** For how long a feature lets a request be queued. @type {(req: any) => number | undefined} */
  deadlineMs = () => undefined

  /** @param {any} given options of `shed`, and `deadlineMs` */
  constructor({ deadlineMs = this.deadlineMs, ...shed } = {}) {
    this.internalErrors = new InternalErrors({ error: (fields) => this.logged.push(fields.place), warn() {} })
    this.admission = new Admission({
      clock: this.clock,
      internalErrors: this.internalErrors,
      options: resolveOptions({ shed }).shed,
      sampleMemory: () => this.memory,
      onOverloadEvent: (event, details) => this.told.push([event, details]),
      onShadowOverloadEvent: (event, details) => this.observed.push([event, details]),
    })
    this.deadlineMs = deadlineMs
    this.admission.limitBy(/** @type {any} */ (deadlineLimit((req) => this.deadlineMs(req))))
  }

  update(shed) {
    this.admission.update({ ...resolveOptions({ shed }).shed })
  }

  /** @returns {any} the request, with `decision`, and `answer` if it was rejected */
  ask(req = {}) {
    const preset = new Map()
    const request = requestWith({
      req: { headers: {}, httpVersionMajor: 1, method: 'GET', ...req },
      res: {
        headersSent: false,
        getHeaderNames: () => [...preset.keys()],
        setHeader: (name, value) => preset.set(name, value),
        removeHeader: (name) => preset.delete(name),
        writeHead(status, head = []) {
          request.answer = { status, head: [...preset].flat().concat(head) }
        },
        end(body) {
          request.answer.body = body
        },
      },
    })
    request.ticket.runQueued = () => (request.hasRun = true)
    request.decision = this.admission.decide(request, this.clock.now())
    return request
  }

  /** Lets a second pass, so that rejections that wait are sent. */
  sendRejections() {
    this.clock.advance(1000)
    this.clock.fire()
  }

  end(request) {
    request.markEnded()
    this.admission.release(request)
  }

  /** A turn that works, after it has waited. */
  turn(busyMs, idleMs = 0) {
    this.clock.idle(idleMs)
    this.clock.advance(busyMs)
    this.clock.fire()
    this.admission.onTurn(busyMs, this.clock.now(), this.clock.idleMs())
    this.clock.turn()
  }

  /**
   * Whether requests are rejected now: the second of two, for the first may be the one in 100 ms that is
   * always admitted.
   */
  get refuses() {
    this.end(this.ask())
    const second = this.ask()
    this.end(second)
    return second.answer !== undefined
  }
}

module.exports = { DrivenAdmission, TimedClock }
