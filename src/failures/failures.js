'use strict'
// What becomes of an error that ends a request: answered, counted, logged and put on the span in force. The adapters know
// only this.
//
// An error is noted once, however many handlers, instances of a handler or events bring it for the same request. It is
// counted when the request has ended, under the route the request is counted under; logged at once, while whatever the
// application keeps in its async context is at hand.

const { activeSpan, traceFieldsOf } = require('../tracing/active-span')
const { METRICS } = require('../requests/ignore')
const { isOfClient } = require('../requests/outcome')
const { ENDED } = require('../requests/request-state')
const { serverSpan } = require('../tracing/server-span')
const { templateOf } = require('../routing/template')
const { ErrorAnswer, isOver } = require('./error-answer')
const { ErrorLog } = require('./error-log')
const { ErrorTable } = require('./error-table')
const { Failure } = require('./failure')
const { recordOn } = require('../tracing/span-error')

/** Errors of whoever still uses a connection or stream that is gone, or has given up what nobody waits for. */
const OF_CONNECTION = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ERR_HTTP2_STREAM_ERROR',
  'ERR_HTTP2_INVALID_STREAM',
  'ABORT_ERR',
  // What fetch rejects with, and axios.
  DOMException.ABORT_ERR,
  'ERR_CANCELED',
])

/** What multer and formidable say of an upload that broke off: they give it no code of Node's. */
const BROKEN_OFF = /^Request (aborted|closed)$/

class Failures {
  table
  log
  #answer
  #recorder
  #faults
  #unmatched
  /** The response an error was last noted for: an application may throw the same object again and again. */
  #notedFor = new WeakMap()

  constructor({ options, clock, logger, faults, fields, recorder }) {
    this.table = new ErrorTable(options.routes.overflow)
    this.log = new ErrorLog({ logger, clock, faults, fields })
    this.#answer = new ErrorAnswer({ faults })
    this.#recorder = recorder
    this.#faults = faults
    this.#unmatched = options.routes.unmatched
  }

  /**
   * @param {number} [fallbackStatus] see `Failure`
   * @returns {InstanceType<typeof Failure>}
   */
  note(error, req, res, fallbackStatus) {
    const failure = new Failure(error, fallbackStatus)
    if (isOfOverload(error) || isOfConnection(failure, res) || this.#notedFor.get(error) === res)
      return failure
    if (Object(error) === error) this.#notedFor.set(error, res)
    const request = this.#recorder.find(res)
    // Express's routers tell it themselves, and from which of them it came.
    if (request !== undefined && request.head.place === undefined && failure.isOfBody) {
      request.head.hasBadBody = true
    }
    this.#count(request, failure)
    const trace = this.#trace(failure)
    this.log.write(failure, { req, route: this.#routeOf(request, failure.status), trace })
    return failure
  }

  /** Ends the request. */
  answer(req, res, failure) {
    this.#answer.send(req, res, failure)
  }

  /** The request has ended, and `request.series` tells its route. */
  onEnd(request) {
    for (let each = request.failure; each !== undefined; each = each.earlier) this.#countAs(request, each)
    request.failure = undefined
  }

  #count(request, failure) {
    if (request === undefined || !request.isCounted || request.state === ENDED)
      return this.#countAs(request, failure)
    failure.earlier = request.failure
    request.failure = failure
  }

  #countAs(request, failure) {
    if (request !== undefined && (request.ignores & METRICS) !== 0) return
    this.table.count(request?.series?.route ?? this.#unmatched, failure)
  }

  #trace(failure) {
    try {
      const span = activeSpan()
      if (span === undefined) return undefined
      recordOn(serverSpan()?.span ?? span, failure)
      return traceFieldsOf(span)
    } catch (error) {
      this.#faults.report('tracing', error)
      return undefined
    }
  }

  #routeOf(request, status) {
    try {
      return (request && templateOf(request.head, status)) ?? this.#unmatched
    } catch {
      // Reported when the request is recorded.
      return this.#unmatched
    }
  }
}

/** Told by its code: another copy of this package may have made it. */
function isOfOverload(error) {
  return codeOf(error) === 'ERR_SPILLWAY_OVERLOADED'
}

/** Of an answer that nobody waits for, or that was cut for an error noted before: no error of the application. */
function isOfConnection(failure, res) {
  if (!isOver(res)) return false
  const code = codeOf(failure.error)
  return isOfClient(code) || OF_CONNECTION.has(code) || BROKEN_OFF.test(failure.message)
}

function codeOf(error) {
  try {
    return error?.code
  } catch {
    return undefined
  }
}

module.exports = { Failures }
