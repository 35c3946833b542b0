'use strict'
// One line an error, in pino's shape: what failed, where, for which request, in which trace. A flood of one kind hides no
// other: each has a budget of its own.

const { LogRateLimit } = require('../logging/log-rate-limit')

/** Kinds past this share one budget. */
const MOST_KINDS = 200
const OTHER_KINDS = '_OTHER'

class ErrorLog {
  #logger
  #clock
  #faults
  #fields
  #budgets = new Map()

  constructor({ logger, clock, faults, fields }) {
    this.#logger = logger
    this.#clock = clock
    this.#faults = faults
    this.#fields = fields
  }

  /**
   * An error that ended a request.
   *
   * @param {InstanceType<typeof import('./failure').Failure>} failure
   * @param {{ req: any, route?: string | undefined, trace?: object | undefined }} where
   */
  write(failure, { req, route, trace }) {
    const { status } = failure
    const message = `${req.method} ${route} failed with ${status}`
    this.#write(status >= 500 ? 'error' : 'warn', failure, {
      event: 'error',
      status,
      route,
      trace,
      req,
      message,
    })
  }

  /**
   * An error that nobody caught.
   *
   * @param {InstanceType<typeof import('./failure').Failure>} failure
   * @param {{ event: string, req?: any, route?: string | undefined, status?: number | undefined }} where `status` of the
   *   answer that the request gets for it, if any
   */
  writeUncaught(failure, { event, req, route, status }) {
    const message = req === undefined ? event : `${event} in ${req.method} ${route}`
    this.#write('error', failure, { event, status, route, req, message })
  }

  /** @param {{ event: string, status: number | undefined, route: string | undefined, trace?: object | undefined, req: any, message: string }} where */
  #write(level, failure, where) {
    const { event, status, route, trace, req, message } = where
    const budget = this.#budgetOf(`${event} ${status} ${failure.type}`)
    const unlogged = budget.take(this.#clock.now())
    if (unlogged < 0) return
    this.#faults.guard('logger', () => {
      const fields = {
        err: failure.describe(),
        event,
        ...(status !== undefined && { status }),
        ...(route !== undefined && { route }),
        ...trace,
        ...(unlogged > 0 && { unlogged }),
        ...(req !== undefined && { req: this.#fields.ofRequest(req) }),
      }
      this.#logger[level](fields, `spillway: ${message}`)
    })
  }

  #budgetOf(kind) {
    let budget = this.#budgets.get(kind)
    if (budget !== undefined) return budget
    if (this.#budgets.size >= MOST_KINDS && kind !== OTHER_KINDS) return this.#budgetOf(OTHER_KINDS)
    budget = new LogRateLimit(this.#clock.now())
    this.#budgets.set(kind, budget)
    return budget
  }
}

module.exports = { ErrorLog }
