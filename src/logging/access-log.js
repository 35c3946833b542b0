'use strict'
// One line a request, in pino-http's shape, if asked for: brief where all went well, with all headers where not. Of those that
// were not let in only as many as a budget allows: under overload a line each would be the overload.

const { rounded } = require('../durations')
const { LineBudget } = require('./log-rate-limit')
const { ABORTED, OUTCOMES, isFailure } = require('../requests/outcome')
const { OwnLogger } = require('./own-logger')

const MESSAGES = OUTCOMES.map((outcome) =>
  outcome === 'timed_out' ? 'request timed out' : `request ${outcome}`
)

class AccessLog {
  #clock
  #fields
  #hooks
  #logger
  #traceOf
  #budget

  /**
   * @param {{ clock: any, fields: any, logger: any, traceOf: () => any,
   *   hooks: InstanceType<typeof import('./access-hooks').AccessHooks> | undefined }} parts
   */
  constructor({ clock, fields, hooks, logger, traceOf }) {
    this.#clock = clock
    this.#fields = fields
    this.#hooks = hooks
    this.#logger = logger
    this.#traceOf = traceOf
    this.#budget = new LineBudget(clock.now())
  }

  // Hot path where there is an access log: bench/access-log.js.
  /** @returns {unknown} what the logger has returned: a promise may be rejected */
  write(request) {
    if (this.#hooks?.ignores(request)) return
    if (request.series === undefined) return this.#writeUnserved(request)
    const { outcome, status } = request
    const usual = isFailure(outcome) ? 'error' : outcome === ABORTED || status >= 400 ? 'warn' : 'info'
    const level = this.#hooks === undefined ? usual : this.#hooks.levelOf(request, usual)
    if (!this.#isOn(level)) return
    const line = this.#lineOf(request, request.durationMs, usual === 'info')
    line.route = request.series.route
    if (request.admission.wasQueued) line.queueMs = rounded(request.admission.waitedMs)
    return this.#write(level, line, MESSAGES[outcome])
  }

  /** Turned away, or gone before its turn came. */
  #writeUnserved(request) {
    const level = this.#hooks === undefined ? 'warn' : this.#hooks.levelOf(request, 'warn')
    if (!this.#isOn(level)) return
    const nowMs = this.#clock.now()
    const unlogged = this.#budget.spend(nowMs)
    if (unlogged < 0) return
    const line = this.#lineOf(request, nowMs - request.startedMs, false)
    if (unlogged > 0) line.unlogged = unlogged
    return this.#write(level, line, request.admission.isRejected ? 'request turned away' : MESSAGES[ABORTED])
  }

  #isOn(level) {
    if (level === 'silent') return false
    const logger = this.#logger
    return typeof logger.isLevelEnabled !== 'function' || logger.isLevelEnabled(level)
  }

  #write(level, line, message) {
    const logger = this.#logger
    if (!(logger instanceof OwnLogger)) return logger[level](line, message)
    // What users add may be what JSON has no word for.
    return this.#hooks?.hasFields ? logger.log(level, line, message) : logger.write(level, line, message)
  }

  #lineOf(request, durationMs, isBrief) {
    const { req, res, status } = request
    const fields = this.#fields
    const line = {
      req: isBrief ? fields.briefOfRequest(req) : fields.ofRequest(req),
      res: isBrief ? fields.briefOfResponse(res, status) : fields.ofResponse(res, status),
      responseTime: rounded(durationMs),
    }
    Object.assign(line, this.#traceOf())
    // Ours win: who searches a log by them finds what this package says.
    return this.#hooks?.hasFields ? { ...this.#hooks.fieldsOf(request), ...line } : line
  }
}

module.exports = { AccessLog }
