'use strict'
// Counts and logs uncaught exceptions and unhandled rejections, with their request if it is known. With
// `errors.uncaught: 'drain'`, that request gets 500, and the process drains and exits, because an uncaught
// error may leave locks held and state half written.

const { cutOff } = require('../request/cut-off')
const { ENDED } = require('../request/request')
const { isOver } = require('./error-answer')
const { Failure } = require('./failure')
const { eventsOfProcess } = require('./process-events')
const { SubstituteAnswer } = require('./substitute-answer')

/**
 * @import { InternalErrors } from '../request/internal-errors'
 * @import { Recorder } from '../request/recorder'
 * @import { Request } from '../request/request'
 * @import { ErrorLog } from './error-log'
 * @import { Observer, Origin } from './process-events'
 * @import { RequestContext } from './request-context'
 */

const INTERNAL_SERVER_ERROR = 500

class ProcessErrors {
  counts = { uncaughtException: 0, unhandledRejection: 0 }
  #context
  #log
  #namesRequest
  #unmatched
  #substitute = new SubstituteAnswer(INTERNAL_SERVER_ERROR, 'The request failed.')
  /** @type {Observer} */
  #observer

  /**
   * @param {{ context: RequestContext,
   *   internalErrors: InternalErrors,
   *   log: ErrorLog, recorder: Recorder,
   *   options: import('../../../index.js').ResolvedOptions, exit: (reason: string) => void }} parts
   */
  constructor({ context, internalErrors, log, recorder, options, exit }) {
    const { uncaught } = options.errors
    this.#namesRequest = uncaught !== 'log'
    this.#log = log
    this.#unmatched = options.routes.unmatched
    this.#context = context
    if (this.#namesRequest) context.turnOn()
    // Guarded: an error thrown here would end the process in place of the original error.
    this.#observer = {
      onError: (error, event, willExit) =>
        internalErrors.guard('errors.uncaught', () => this.#record(error, event, willExit)),
      exit:
        uncaught === 'drain'
          ? (origin) => {
              internalErrors.guard('errors.uncaught', () => this.#answer())
              exit(origin)
            }
          : undefined,
    }
  }

  start() {
    eventsOfProcess().add(this.#observer)
  }

  /** @param {unknown} error @param {Origin} event @param {boolean} willExit */
  #record(error, event, willExit) {
    this.counts[event]++
    const reference = this.#context.referenceOf(error)
    const request = reference?.request
    this.#log.writeUncaught(new Failure(error), {
      event,
      req: this.#namesRequest ? request?.req : undefined,
      method: reference?.method,
      route: reference && (reference.route ?? this.#unmatched),
      status: willExit && this.#answers(request) ? INTERNAL_SERVER_ERROR : undefined,
    })
  }

  /** Whether the request is about to get the substitute answer. @param {Request | undefined} request */
  #answers(request) {
    if (this.#observer.exit === undefined || request === undefined || request.state === ENDED) return false
    return !request.res.headersSent && !isOver(request.res)
  }

  #answer() {
    const request = this.#context.request
    if (request === undefined || request.state === ENDED) return
    if (!this.#substitute.answer(request) && !isOver(request.res)) cutOff(request.res)
  }

  close() {
    eventsOfProcess().remove(this.#observer)
  }
}

exports.ProcessErrors = ProcessErrors
