'use strict'
// Writes one line per request in the shape of pino-http. A successful request gets a brief line, and any
// other request a line with all its headers. Rejected requests share a rate limit, because a line for each
// would add to the overload.

const { PRIORITIES, figuresOf } = require('../gate/decision')
const { rounded } = require('../readable')
const { LogRateLimit } = require('./log-rate-limit')
const { ABORTED, OUTCOMES, isFailure } = require('../request/outcome')
const { OwnLogger } = require('./own-logger')

/**
 * @import { AccessLogLevel } from '../../../index.js'
 * @import { Clock } from '../clock'
 * @import { RequestRecord } from '../request/request-record'
 * @import { AccessHooks } from './access-hooks'
 * @import { Level, Log } from './logger'
 * @import { RequestFields } from './request-fields'
 */

const MESSAGES = OUTCOMES.map((outcome) =>
  outcome === 'timed_out' ? 'request timed out' : `request ${outcome}`
)

class AccessLog {
  #clock
  #fields
  #hooks
  #logger
  #traceOf
  #rateLimit

  /**
   * @param {{ clock: Clock, fields: RequestFields, hooks: AccessHooks | undefined, logger: Log,
   *   traceOf: () => object | undefined }} deps
   */
  constructor({ clock, fields, hooks, logger, traceOf }) {
    this.#clock = clock
    this.#fields = fields
    this.#hooks = hooks
    this.#logger = logger
    this.#traceOf = traceOf
    this.#rateLimit = new LogRateLimit(clock.now())
  }

  // Hot path if the access log is on. bench/access-log measures it.
  /**
   * @param {RequestRecord} request
   * @returns {unknown} the result of the logger, which may be a promise that rejects
   */
  write(request) {
    if (this.#hooks?.ignores(request)) return
    if (request.series === undefined) return this.#writeNotAdmitted(request)
    const { outcome, status } = request
    const usual = isFailure(outcome) ? 'error' : outcome === ABORTED || status >= 400 ? 'warn' : 'info'
    const level = this.#hooks === undefined ? usual : this.#hooks.levelOf(request, usual)
    if (!this.#isOn(level)) return
    const line = this.#lineOf(request, request.durationMs, usual === 'info')
    line.route = request.series.route
    if (request.ticket.queueEntry !== undefined) line.queueMs = rounded(request.ticket.waitedMs)
    return this.#write(level, line, MESSAGES[outcome])
  }

  /**
   * Writes the line of a request that was rejected, or whose client disconnected while it was queued.
   *
   * @param {RequestRecord} request
   */
  #writeNotAdmitted(request) {
    const level = this.#hooks === undefined ? 'warn' : this.#hooks.levelOf(request, 'warn')
    if (!this.#isOn(level)) return
    const nowMs = this.#clock.now()
    const unlogged = this.#rateLimit.take(nowMs)
    if (unlogged < 0) return
    const line = this.#lineOf(request, nowMs - request.startedMs, false)
    if (unlogged > 0) line.unlogged = unlogged
    const { ticket } = request
    const { rejection, priority, queueEntry, waitedMs } = ticket
    if (rejection !== undefined) {
      Object.assign(line, {
        reason: rejection.reason,
        ...figuresOf(rejection),
        priority: PRIORITIES[priority],
      })
      if (queueEntry !== undefined) line.queueMs = rounded(waitedMs)
    }
    return this.#write(level, line, rejection === undefined ? MESSAGES[ABORTED] : 'request rejected')
  }

  /** @param {AccessLogLevel} level @returns {level is Level} */
  #isOn(level) {
    if (level === 'silent') return false
    const logger = this.#logger
    return typeof logger.isLevelEnabled !== 'function' || logger.isLevelEnabled(level)
  }

  /** @param {Level} level @param {Record<string, unknown>} line @param {string} message */
  #write(level, line, message) {
    const logger = this.#logger
    if (!(logger instanceof OwnLogger)) return /** @type {Required<Log>} */ (logger)[level](line, message)
    // The user's fields may hold values that only pino's serializers can write.
    return this.#hooks?.hasFields ? logger.log(level, line, message) : logger.write(level, line, message)
  }

  /**
   * @param {RequestRecord} request
   * @param {number} durationMs
   * @param {boolean} isBrief
   * @returns {Record<string, unknown>}
   */
  #lineOf(request, durationMs, isBrief) {
    const { req, res, status } = request
    const fields = this.#fields
    const line = {
      req: isBrief ? fields.briefOfRequest(req) : fields.ofRequest(req),
      res: isBrief ? fields.briefOfResponse(res, status) : fields.ofResponse(res, status),
      responseTime: rounded(durationMs),
    }
    Object.assign(line, this.#traceOf())
    // The user's fields cannot override ours, because people search logs by our fields.
    return this.#hooks?.hasFields ? { ...this.#hooks.fieldsOf(request), ...line } : line
  }
}

exports.AccessLog = AccessLog
