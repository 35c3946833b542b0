'use strict'
// Logs ended requests: slow requests and the slowest of each minute if configured, and every request with an
// access log. An error of the logger never affects a request.

const { withRounded } = require('../readable')
const { activeSpan, traceFieldsOf } = require('../tracing/spans')
const { IGNORE_LOG } = require('../request/ignore')
const { LogRateLimit } = require('./log-rate-limit')
const { SlowRequests } = require('../request/slow-requests')

/**
 * @import { ResolvedOptions } from '../../../index.js'
 * @import { Clock } from '../clock'
 * @import { LoopDelay } from '../process/loop-delay'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { Recorder } from '../request/recorder'
 * @import { RequestRecord } from '../request/request-record'
 * @import { SlowRequest } from '../request/slow-requests'
 * @import { AccessLog } from './access-log'
 * @import { Log } from './logger'
 * @import { RequestFields } from './request-fields'
 */

class RequestLog {
  /** Whether there is an access log. Otherwise only slow requests are of interest. */
  logsAll = false
  slow
  /** @type {AccessLog | undefined} */
  #access
  #rateLimit
  #clock
  #internalErrors
  #logger
  #recorder

  /**
   * @param {{ clock: Clock,
   *   internalErrors: InternalErrors,
   *   fields: RequestFields,
   *   logger: Log,
   *   loopDelay: LoopDelay,
   *   options: ResolvedOptions['log'],
   *   recorder: Pick<Recorder, 'isTracing' | 'timeParts'> }} deps
   */
  constructor({ clock, internalErrors, fields, logger, loopDelay, options, recorder }) {
    this.#rateLimit = new LogRateLimit(clock.now())
    this.#clock = clock
    this.#internalErrors = internalErrors
    this.#logger = logger
    this.#recorder = recorder
    const traceOf = () => this.#trace()
    this.slow = new SlowRequests(options, {
      clock,
      fields,
      loopDelay,
      timeParts: recorder.timeParts,
      traceOf,
      onSlow: (slow) => this.#writeSlow(slow),
      onWindow: (slowest) => this.#writeSlowest(slowest),
    })
    if (options.access !== false) {
      const { AccessHooks } = require('./access-hooks')
      const { AccessLog } = require('./access-log')
      const hooks =
        options.access === true ? undefined : new AccessHooks(options.access, { internalErrors, logger })
      this.logsAll = true
      this.#access = new AccessLog({ clock, fields, hooks, logger, traceOf })
    }
  }

  /** @param {RequestRecord} request */
  onEnd(request) {
    if ((request.ignores & IGNORE_LOG) !== 0) return
    if (request.durationMs > this.slow.thresholdMs) this.#recordSlow(request)
    if (this.#access !== undefined) this.#writeAccess(request)
  }

  /** @param {RequestRecord} request */
  #recordSlow(request) {
    this.#internalErrors.guard('recording', () => this.slow.record(request))
  }

  /** @param {RequestRecord} request */
  #writeAccess(request) {
    try {
      this.#internalErrors.catchRejection('logger', /** @type {AccessLog} */ (this.#access).write(request))
    } catch (error) {
      this.#internalErrors.report('logger', error)
    }
  }

  /** @param {SlowRequest} slow */
  #writeSlow(slow) {
    const unlogged = this.#rateLimit.take(this.#clock.now())
    if (unlogged < 0) return
    const fields = { ...fieldsOf('slow', slow), ...(unlogged > 0 && { unlogged }) }
    this.#guard(() => this.#logger.warn(fields, `spillway: ${sentenceOf(slow)}`))
  }

  /** @param {SlowRequest[]} slowest */
  #writeSlowest(slowest) {
    for (const [index, slow] of slowest.entries()) {
      const message = `spillway: ${sentenceOf(slow)}, number ${index + 1} of the minute's slowest`
      // `at`, because the request may have ended a minute ago.
      const fields = { at: slow.at, ...fieldsOf('slowest', slow) }
      this.#guard(() => this.#logger.info(fields, message))
    }
  }

  /** Writes what a slow request of the last turn has left. */
  close() {
    this.slow.onTurn(this.#clock.now())
  }

  #trace() {
    if (!this.#recorder.isTracing) return undefined
    try {
      const span = activeSpan()
      return span === undefined ? undefined : traceFieldsOf(span)
    } catch (error) {
      this.#internalErrors.report('tracing', error)
      return undefined
    }
  }

  /** @param {() => void} callback */
  #guard(callback) {
    this.#internalErrors.guard('logger', callback)
  }
}

/** @param {'slow' | 'slowest'} event @param {SlowRequest} request */
function fieldsOf(event, { route, status, outcome, ...slow }) {
  const { durationMs, queueMs, firstByteMs, loopDelayMs, parts, unreadMs, proxyMs, trace, req } = slow
  return {
    event,
    route,
    status,
    outcome,
    ...withRounded({ durationMs, queueMs, firstByteMs, loopDelayMs }),
    ...(parts === null ? {} : { ...withRounded({ unreadMs }), parts: withRounded(parts) }),
    ...(proxyMs === null ? {} : withRounded({ proxyMs })),
    ...trace,
    req,
  }
}

/** @param {SlowRequest} slow */
const sentenceOf = ({ method, route, durationMs }) => `${method} ${route} took ${Math.round(durationMs)} ms`

exports.RequestLog = RequestLog
