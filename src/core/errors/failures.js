'use strict'
// Handles an error that ends a request: answers, counts and logs it, and records it on the active span.
// Adapters use only this file of the folder.
//
// An error is recorded once per request, whichever handlers and events report it. It is logged at once, while
// the application's async context is active. It is counted when the request has ended, under the route of the
// request.

const { placeOf } = require('../features')
const { read } = require('../redaction/error-description')
const { activeSpan, recordError, serverSpan, traceFieldsOf } = require('../tracing/spans')
const { IGNORE_METRICS } = require('../request/ignore')
const { isClientError } = require('../request/outcome')
const { STATE_ENDED } = require('../request/request-record')
const { templateOf } = require('../route/template')
const { ErrorAnswer, isOver } = require('./error-answer')
const { ErrorLog } = require('./error-log')
const { ErrorTable } = require('./error-table')
const { Failure } = require('./failure')
const { NO_ANSWER } = require('./substitute-answer')

/**
 * @import { Logger, ResolvedOptions } from '../../../index.js'
 * @import { Clock } from '../clock'
 * @import { Hooked } from '../features'
 * @import { NodeRequest, NodeResponse } from '../http/entrance'
 * @import { RequestFields } from '../log/request-fields'
 * @import { InternalErrors } from './internal-errors'
 * @import { Recorder } from '../request/recorder'
 * @import { RequestRecord } from '../request/request-record'
 */

const DEADLINE = 'ERR_SPILLWAY_DEADLINE'

/** Codes of cancelled work: of Node, fetch and axios. */
const CANCELLED = ['ABORT_ERR', DOMException.ABORT_ERR, 'ERR_CANCELED']

/**
 * Codes of errors that follow from a disconnected client: use of a closed connection or stream, or cancelled
 * work.
 *
 * @type {Set<unknown>}
 */
const DISCONNECT_CODES = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ERR_HTTP2_STREAM_ERROR',
  'ERR_HTTP2_INVALID_STREAM',
  ...CANCELLED,
  // The reasons of spillway.signal().
  'ERR_SPILLWAY_CLIENT_DISCONNECTED',
  DEADLINE,
  'ERR_SPILLWAY_DRAIN',
  'ERR_SPILLWAY_RESPONSE_CUT',
  'ERR_SPILLWAY_TIMEOUT',
])

/** The messages of multer and formidable for an aborted upload. Their errors have no code. */
const ABORTED_UPLOAD = /^Request (aborted|closed)$/

const DEEPEST_CAUSE = 5

class Failures {
  table
  log
  #answer
  #recorder
  #internalErrors
  #hooked
  #unmatched
  /**
   * The one failure for all errors that follow from a deadline. It has the same answer as `errors.timeout`.
   */
  #tooLate
  /**
   * The last response each error was recorded for: an application may throw the same object for many
   * requests.
   *
   * @type {WeakMap<object, NodeResponse>}
   */
  #recordedFor = new WeakMap()

  /**
   * @param {{ options: ResolvedOptions, clock: Clock, logger: Logger, internalErrors: InternalErrors,
   *   fields: RequestFields, recorder: Recorder, hooked: Pick<Hooked, 'abortCodeOf'> }} deps
   */
  constructor({ options, clock, logger, internalErrors, fields, recorder, hooked }) {
    this.table = new ErrorTable(options.routes.overflow, clock)
    this.log = new ErrorLog({ logger, clock, internalErrors, fields })
    this.#answer = new ErrorAnswer({ internalErrors })
    this.#recorder = recorder
    this.#internalErrors = internalErrors
    this.#hooked = hooked
    this.#unmatched = options.routes.unmatched
    this.#tooLate = new Failure({ status: options.errors.timeoutStatus, expose: true, message: NO_ANSWER })
  }

  /**
   * @param {unknown} error
   * @param {NodeRequest} req
   * @param {NodeResponse | undefined} res undefined without a response
   * @param {number} [fallbackStatus] see `Failure`
   */
  record(error, req, res, fallbackStatus) {
    const failure = new Failure(error, fallbackStatus)
    const codes = codesOf(error)
    // The application has chosen the answer of an error that has a status.
    if (!failure.hasStatus && this.#isPastDeadline(codes, res)) return this.#tooLate
    if (
      isOverloadError(error) ||
      isDisconnectError(failure, codes, res) ||
      (res !== undefined && this.#recordedFor.get(/** @type {object} */ (error)) === res)
    )
      return failure
    if (res !== undefined && Object(error) === error)
      this.#recordedFor.set(/** @type {object} */ (error), res)
    const request = res === undefined ? undefined : this.#recorder.find(res)
    // An instrumented router of Express marks body errors itself, with the layer that threw them.
    if (request !== undefined && request.first.node === undefined && failure.isBodyError) {
      request.first.hasBadBody = true
    }
    this.#count(request, failure)
    const trace = this.#trace(failure)
    this.log.write(failure, { req, route: this.#routeOf(request, failure.status), trace })
    return failure
  }

  /**
   * Ends the response with an answer for the failure.
   *
   * @param {NodeRequest} req
   * @param {NodeResponse} res
   * @param {Failure} failure
   */
  answer(req, res, failure) {
    if (this.isTooLate(failure) && !isOver(res)) this.#recorder.find(res)?.timeOut()
    this.#answer.send(req, res, failure)
  }

  /** Whether the failure follows from the deadline of its request. @param {Failure} failure */
  isTooLate(failure) {
    return failure === this.#tooLate
  }

  /** @param {unknown[]} codes @param {NodeResponse | undefined} res */
  #isPastDeadline(codes, res) {
    if (codes.includes(DEADLINE)) return true
    // Some functions that take a signal throw their own error, without the signal's reason.
    if (res === undefined || !codes.some((code) => CANCELLED.some((each) => each === code))) return false
    for (const feature of this.#hooked.abortCodeOf) {
      try {
        if (feature.abortCodeOf(res) === DEADLINE) return true
      } catch (thrown) {
        this.#internalErrors.report(placeOf(feature, 'abortCodeOf'), thrown)
      }
    }
    return false
  }

  /**
   * Counts the failures of a request that has ended, under the route in `request.series`.
   *
   * @param {RequestRecord} request
   */
  onEnd(request) {
    for (let each = request.failure; each !== undefined; each = each.earlier) this.#countAs(request, each)
    request.failure = undefined
  }

  /** @param {RequestRecord | undefined} request @param {Failure} failure */
  #count(request, failure) {
    if (request === undefined || !request.isCounted || request.state === STATE_ENDED)
      return this.#countAs(request, failure)
    failure.earlier = request.failure
    request.failure = failure
  }

  /** @param {RequestRecord | undefined} request @param {Failure} failure */
  #countAs(request, failure) {
    if (request !== undefined && (request.ignores & IGNORE_METRICS) !== 0) return
    this.table.count(request?.series ?? { route: this.#unmatched }, failure)
  }

  /** @param {Failure} failure */
  #trace(failure) {
    try {
      const span = activeSpan()
      if (span === undefined) return undefined
      recordError(serverSpan()?.span ?? span, failure)
      return traceFieldsOf(span)
    } catch (error) {
      this.#internalErrors.report('tracing', error)
      return undefined
    }
  }

  /** @param {RequestRecord | undefined} request @param {number} status @returns {string} */
  #routeOf(request, status) {
    try {
      return (request && templateOf(request.first, status)) ?? this.#unmatched
    } catch {
      // The recorder reports the error when it records the request.
      return this.#unmatched
    }
  }
}

/** Compares the code, as another copy of this package may have thrown the error. @param {unknown} error */
function isOverloadError(error) {
  return codeOf(error) === 'ERR_SPILLWAY_OVERLOADED'
}

/**
 * Whether the error follows from a response that is over, because the client disconnected or an earlier error
 * cut it off.
 *
 * @param {Failure} failure
 * @param {unknown[]} codes of the error and its causes
 * @param {NodeResponse | undefined} res
 */
function isDisconnectError(failure, codes, res) {
  if (res === undefined || !isOver(res)) return false
  // The first check is on the error itself only. A lost connection in a cause is a connection to another
  // host: `fetch` and database drivers wrap such errors.
  if (isClientError(codes[0]) || ABORTED_UPLOAD.test(failure.message)) return true
  return codes.some((code) => DISCONNECT_CODES.has(code))
}

/** @param {unknown} error @returns {unknown[]} its code, and those of its causes */
function codesOf(error) {
  const codes = []
  let each = error
  for (let depth = 0; depth <= DEEPEST_CAUSE && each !== undefined && each !== null; depth++) {
    codes.push(codeOf(each))
    each = read(each, 'cause')
  }
  return codes
}

/** @param {unknown} error */
const codeOf = (error) => read(error, 'code')

exports.Failures = Failures
