'use strict'
// One line an error, in pino's shape: what failed, where, for which request, in which trace. A flood of one kind hides no
// other: each has a budget of its own.

const { LineBudget } = require('../recording/line-budget')

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
   * @param {InstanceType<typeof import('./failure').Failure>} failure
   * @param {{ event?: string, req?: any, route?: string | undefined, trace?: object | undefined }} where
   */
  write(failure, { event = 'error', req, route, trace }) {
    const budget = this.#budgetOf(`${event} ${failure.status} ${failure.type}`)
    const unlogged = budget.spend(this.#clock.now())
    if (unlogged < 0) return
    const { status } = failure
    const fields = {
      err: failure.describe(),
      event,
      status,
      route,
      ...trace,
      ...(unlogged > 0 && { unlogged }),
      ...(req !== undefined && { req: this.#fields.ofRequest(req) }),
    }
    const what = req === undefined ? event : `${req.method} ${route} failed with ${status}`
    const level = status >= 500 ? 'error' : 'warn'
    this.#faults.guard('logger', () => this.#logger[level](fields, `spillway: ${what}`))
  }

  #budgetOf(kind) {
    let budget = this.#budgets.get(kind)
    if (budget !== undefined) return budget
    if (this.#budgets.size >= MOST_KINDS && kind !== OTHER_KINDS) return this.#budgetOf(OTHER_KINDS)
    budget = new LineBudget(this.#clock.now())
    this.#budgets.set(kind, budget)
    return budget
  }
}

module.exports = { ErrorLog }
