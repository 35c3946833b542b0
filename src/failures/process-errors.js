'use strict'
// Exceptions and rejections that nobody caught: counted, and logged with the request they belong to where it is known. By
// option that request is answered with 500, and the process leaves when the others have been: what has thrown where
// nobody expected it may hold locks, sockets and half of a state, so that it is not to go on.

const { ENDED } = require('../requests/request-state')
const { cutOff, isOver } = require('./error-answer')
const { Failure } = require('./failure')
const { eventsOfProcess } = require('./process-events')
const { RequestContext } = require('./request-context')
const { StandIn } = require('./substitute-answer')

const INTERNAL_SERVER_ERROR = 500

class ProcessErrors {
  /** Undefined where no option asks for it. */
  context
  counts = { uncaughtException: 0, unhandledRejection: 0 }
  #log
  #recorder
  #unmatched
  #standIn = new StandIn(INTERNAL_SERVER_ERROR, 'The request failed.')
  #observer

  /**
   * @param {{ faults: any, log: any, recorder: any, options: any, leave: (reason: string) => void }} parts
   */
  constructor({ faults, log, recorder, options, leave }) {
    const { uncaught } = options.errors
    this.#log = log
    this.#recorder = recorder
    this.#unmatched = options.routes.unmatched
    if (uncaught !== 'log') this.context = new RequestContext(recorder)
    // What throws here would end the process with another error than its own.
    this.#observer = {
      note: (error, origin) => faults.guard('errors.uncaught', () => this.#note(error, origin)),
      leave:
        uncaught === 'drain'
          ? (origin) => {
              faults.guard('errors.uncaught', () => this.#answer())
              leave(origin)
            }
          : undefined,
    }
  }

  start() {
    eventsOfProcess().add(this.#observer)
  }

  #note(error, origin) {
    this.counts[origin]++
    const request = this.context?.request
    const route = request && (this.#recorder.describe(request).route ?? this.#unmatched)
    const status = this.#answers(request) ? INTERNAL_SERVER_ERROR : undefined
    this.#log.writeUncaught(new Failure(error), { event: origin, req: request?.req, route, status })
  }

  /** Whether the request is about to get an answer of ours. */
  #answers(request) {
    if (this.#observer.leave === undefined || request === undefined || request.state === ENDED) return false
    return !request.res.headersSent && !isOver(request.res)
  }

  #answer() {
    const request = this.context?.request
    if (request === undefined || request.state === ENDED) return
    if (!this.#standIn.answer(request) && !isOver(request.res)) cutOff(request.res)
  }

  close() {
    eventsOfProcess().remove(this.#observer)
    this.context?.close()
  }
}

module.exports = { ProcessErrors }
