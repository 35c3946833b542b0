'use strict'
// One line a request, in pino-http's shape, if asked for. Of those that were not let in only as many as a budget allows:
// under overload a line each would be the overload.

const { LineBudget } = require('../recording/line-budget')
const { ABORTED, OUTCOMES, isFailure } = require('../recording/outcome')

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
  write(request) {
    if (request.series === undefined) return this.#writeUnserved(request)
    const { outcome, status } = request
    const level = isFailure(outcome) ? 'error' : outcome === ABORTED || status >= 400 ? 'warn' : 'info'
    if (!this.#isOn(level)) return
    const line = this.#lineOf(request, request.durationMs)
    line.route = request.series.route
    if (request.queuedMs > 0) line.queueMs = rounded(request.admittedMs - request.queuedMs)
    this.#logger[level](line, MESSAGES[outcome])
  }

  /** Turned away, or gone before its turn came. */
  #writeUnserved(request) {
    if (!this.#isOn('warn')) return
    const nowMs = this.#clock.now()
    const unlogged = this.#budget.spend(nowMs)
    if (unlogged < 0) return
    const line = this.#lineOf(request, nowMs - request.startedMs)
    if (unlogged > 0) line.unlogged = unlogged
    this.#logger.warn(line, request.isShed ? 'request turned away' : MESSAGES[ABORTED])
  }

  #isOn(level) {
    const logger = this.#logger
    return typeof logger.isLevelEnabled !== 'function' || logger.isLevelEnabled(level)
  }

  #lineOf(request, durationMs) {
    const { req, res, status } = request
    return {
      req: this.#fields.ofRequest(req),
      res: this.#fields.ofResponse(res, status),
      responseTime: rounded(durationMs),
      route: undefined,
      queueMs: undefined,
      unlogged: undefined,
      ...this.#traceOf(),
    }
  }
}

const rounded = (ms) => Math.round(ms * 1000) / 1000

module.exports = { AccessLog }
