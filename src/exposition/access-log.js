'use strict'
// One line a request, in pino-http's shape, if asked for: brief where all went well, with all headers where not. Of those that
// were not let in only as many as a budget allows: under overload a line each would be the overload.

const { rounded } = require('../durations')
const { LineBudget } = require('../recording/line-budget')
const { ABORTED, OUTCOMES, isFailure } = require('../recording/outcome')
const { OwnLogger } = require('./own-logger')

const MESSAGES = OUTCOMES.map((outcome) =>
  outcome === 'timedOut' ? 'request timed out' : `request ${outcome}`
)

class AccessLog {
  #clock
  #fields
  #logger
  #traceOf
  #budget

  /** @param {{ clock: any, fields: any, logger: any, traceOf: () => any }} parts */
  constructor({ clock, fields, logger, traceOf }) {
    this.#clock = clock
    this.#fields = fields
    this.#logger = logger
    this.#traceOf = traceOf
    this.#budget = new LineBudget(clock.now())
  }

  // Hot path where there is an access log: bench/access-log.js.
  /** @returns {unknown} what the logger has returned: a promise may be rejected */
  write(request) {
    if (request.series === undefined) return this.#writeUnserved(request)
    const { outcome, status } = request
    const level = isFailure(outcome) ? 'error' : outcome === ABORTED || status >= 400 ? 'warn' : 'info'
    if (!this.#isOn(level)) return
    const line = this.#lineOf(request, request.durationMs, level === 'info')
    line.route = request.series.route
    if (request.admission.wasQueued) line.queueMs = rounded(request.admission.waitedMs)
    return this.#write(level, line, MESSAGES[outcome])
  }

  /** Turned away, or gone before its turn came. */
  #writeUnserved(request) {
    if (!this.#isOn('warn')) return
    const nowMs = this.#clock.now()
    const unlogged = this.#budget.spend(nowMs)
    if (unlogged < 0) return
    const line = this.#lineOf(request, nowMs - request.startedMs, false)
    if (unlogged > 0) line.unlogged = unlogged
    return this.#write('warn', line, request.admission.isRejected ? 'request turned away' : MESSAGES[ABORTED])
  }

  #isOn(level) {
    const logger = this.#logger
    return typeof logger.isLevelEnabled !== 'function' || logger.isLevelEnabled(level)
  }

  #write(level, line, message) {
    const logger = this.#logger
    return logger instanceof OwnLogger ? logger.write(level, line, message) : logger[level](line, message)
  }

  #lineOf({ req, res, status }, durationMs, isBrief) {
    const fields = this.#fields
    const line = {
      req: isBrief ? fields.briefOfRequest(req) : fields.ofRequest(req),
      res: isBrief ? fields.briefOfResponse(res, status) : fields.ofResponse(res, status),
      responseTime: rounded(durationMs),
    }
    return Object.assign(line, this.#traceOf())
  }
}

module.exports = { AccessLog }
