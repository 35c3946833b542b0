'use strict'
// Counts and logs uncaught exceptions and unhandled rejections, with their request if it is known. With
// `errors.uncaught: 'drain'`, that request gets 500, and the process drains and exits, because an uncaught
// error may leave locks held and state half written.
//
// `ProcessEvents` observes uncaught errors without changing what Node does with them.

const { cutOff } = require('../answer/cut-off')
const { STATE_ENDED } = require('../request/request-record')
const { isOver } = require('./error-answer')
const { Failure } = require('./failure')
const { SubstituteAnswer } = require('./substitute-answer')

/**
 * @import { InternalErrors } from './internal-errors'
 * @import { Recorder } from '../request/recorder'
 * @import { RequestRecord } from '../request/request-record'
 * @import { ErrorLog } from './error-log'
 * @import { AsyncContext } from '../request/async-context'
 *
 * @typedef {'uncaughtException' | 'unhandledRejection'} Origin
 * @typedef {{ onError: (error: unknown, origin: Origin, willExit: boolean) => void,
 *   exit?: ((origin: Origin) => void) | undefined }} Observer `willExit`: whether `exit` is called next
 */

const INTERNAL_SERVER_ERROR = 500
const REJECTION = 'unhandledRejection'
/**
 * The number in the symbol is raised when the methods change, because copies of this package call each
 * other's methods.
 */
const kProcessEvents = Symbol.for('spillway.process-events.1')

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
   * @param {{ context: AsyncContext,
   *   internalErrors: InternalErrors,
   *   log: ErrorLog, recorder: Recorder,
   *   options: import('../../../index.js').ResolvedOptions, exit: (reason: string) => void }} deps
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
    const reference = this.#context.onUncaught(error)
    const request = reference?.request
    this.#log.writeUncaught(new Failure(error), {
      event,
      req: this.#namesRequest ? request?.req : undefined,
      method: reference?.method,
      route: reference && (reference.route ?? this.#unmatched),
      status: willExit && this.#answers(request) ? INTERNAL_SERVER_ERROR : undefined,
    })
  }

  /** Whether the request is about to get the substitute answer. @param {RequestRecord | undefined} request */
  #answers(request) {
    if (this.#observer.exit === undefined || request === undefined || request.state === STATE_ENDED)
      return false
    return !request.res.headersSent && !isOver(request.res)
  }

  #answer() {
    const request = this.#context.request
    if (request === undefined || request.state === STATE_ENDED) return
    if (!this.#substitute.answer(request) && !isOver(request.res)) cutOff(request.res)
  }

  close() {
    eventsOfProcess().remove(this.#observer)
  }
}

/**
 * `uncaughtExceptionMonitor` reports exceptions, and the rejections that Node is about to throw. A listener
 * for `unhandledRejection` keeps Node from throwing them. So this class adds that listener only while a
 * listener of the user exists, or where Node never throws rejections. If an `exit` listener throws, Node ends
 * the process with the exit code already chosen. So nothing is caught while the process exits. There is one
 * `ProcessEvents` per process, shared by all instances and copies of this package. Otherwise each would
 * mistake the listeners of the others for listeners of the user.
 */
class ProcessEvents {
  /** @type {Set<Observer>} */
  #observers = new Set()
  #mode = rejectionMode()

  /**
   * @param {Observer} observer if it has `exit`, Node does not end the process after an uncaught exception,
   *   so `exit` must end it
   */
  add(observer) {
    if (this.#observers.size === 0) this.#install()
    this.#observers.add(observer)
    this.#updateCatching()
  }

  /** @param {Observer} observer */
  remove(observer) {
    if (!this.#observers.delete(observer)) return
    this.#updateCatching()
    if (this.#observers.size > 0) return
    process.off('uncaughtExceptionMonitor', this.#onUncaught)
    process.off('newListener', this.#onNewListener)
    process.off('removeListener', this.#onRemoveListener)
    process.off(REJECTION, this.#onRejection)
  }

  #install() {
    process.on('uncaughtExceptionMonitor', this.#onUncaught)
    // In this mode Node throws rejections as uncaught exceptions at once.
    if (this.#mode === 'strict') return
    if (this.#mode === 'warn' || this.#mode === 'none') process.on(REJECTION, this.#onRejection)
    else {
      if (process.listenerCount(REJECTION) > 0) process.on(REJECTION, this.#onRejection)
      process.on('newListener', this.#onNewListener)
      process.on('removeListener', this.#onRemoveListener)
    }
  }

  /**
   * Listens for `uncaughtException` only if an observer wants to exit: with a listener Node does not end the
   * process.
   */
  #updateCatching() {
    this.#stopCatching()
    if ([...this.#observers].every(({ exit }) => exit === undefined)) return
    process.on('uncaughtException', this.#onCaught)
    process.prependListener('exit', this.#stopCatching)
  }

  #stopCatching = () => {
    process.off('uncaughtException', this.#onCaught)
    process.off('exit', this.#stopCatching)
  }

  #onUncaught = (/** @type {unknown} */ error, /** @type {Origin} */ origin) => {
    for (const observer of this.#observers) observer.onError(error, origin, true)
  }

  /**
   * Called for a rejection that does not end the process, because of a listener of the user or Node's mode.
   */
  #onRejection = (/** @type {unknown} */ error) => {
    for (const observer of this.#observers) observer.onError(error, REJECTION, false)
  }

  #onCaught = (/** @type {unknown} */ _error, /** @type {Origin} */ origin) => {
    for (const observer of this.#observers) observer.exit?.(origin)
  }

  #onNewListener = (/** @type {string | symbol} */ event, /** @type {unknown} */ listener) => {
    if (event !== REJECTION || listener === this.#onRejection) return
    if (!process.listeners(REJECTION).includes(this.#onRejection)) process.on(REJECTION, this.#onRejection)
  }

  #onRemoveListener = (/** @type {string | symbol} */ event) => {
    if (event !== REJECTION) return
    if (process.listeners(REJECTION).every((each) => each === this.#onRejection))
      process.off(REJECTION, this.#onRejection)
  }
}

/**
 * @returns {string | undefined} the value of `--unhandled-rejections`. The command line overrides
 *   NODE_OPTIONS
 */
function rejectionMode() {
  const given = [process.env.NODE_OPTIONS ?? '', ...process.execArgv].join(' ')
  return [...given.matchAll(/--unhandled[-_]rejections[= ](\S+)/g)].at(-1)?.[1]
}

// biome-ignore format: it would move the cast
const eventsOfProcess = () => (/** @type {{ [kProcessEvents]?: ProcessEvents }} */ (process)[kProcessEvents] ??= new ProcessEvents())

exports.ProcessErrors = ProcessErrors
