'use strict'
// Two answers for an orchestrator. Alive: the loop turns, whatever the load and whatever it depends on, for a restart
// mends neither. Ready: traffic may come; not while starting, degraded, draining or closed, nor while a check fails.

const { SpillwayError } = require('../errors')
const { HealthCheck, PASSED } = require('./health-check')

const OK = Object.freeze({ status: 200, body: Object.freeze({ status: 'ok' }) })
const unavailable = (reason, rest) => ({ status: 503, body: { status: 'unavailable', reason, ...rest } })

const notACheck = (name, ask) =>
  new SpillwayError(
    'ERR_SPILLWAY_MISUSE',
    `health.check() takes a name and a function: got ${typeof name} and ${typeof ask}. ` +
      "Write spillway.health.check('database', () => pool.query('select 1'))."
  )

const taken = (name) =>
  new SpillwayError(
    'ERR_SPILLWAY_CHECK_TAKEN',
    `There is a health check '${name}' already. Give this one a name of its own.`
  )

class Health {
  #checks = new Map()
  #clock
  #report
  /** Why traffic may not come, whatever the checks say. */
  #reason
  /** The last answer of the checks, for as long as the verdict of each is kept. */
  #answer
  #answerUntilMs = Number.NEGATIVE_INFINITY
  #start = (_ = undefined) => {}
  /** Settles when traffic may come for the first time. */
  started

  /**
   * @param {{ isManual: boolean, clock: any, report: (name: string, verdict: string, error: unknown) => void }} parts
   *   `report` is told when the verdict of a check changes
   */
  constructor({ isManual, clock, report }) {
    this.#clock = clock
    this.#report = report
    this.#reason = isManual ? 'starting' : undefined
    this.started = isManual ? new Promise((resolve) => (this.#start = resolve)) : Promise.resolve()
  }

  addCheck(name, ask, options) {
    if (typeof name !== 'string' || name === '' || typeof ask !== 'function') throw notACheck(name, ask)
    if (this.#checks.has(name)) throw taken(name)
    const report = (verdict, error) => this.#report(name, verdict, error)
    this.#answerUntilMs = Number.NEGATIVE_INFINITY
    this.#checks.set(name, new HealthCheck(ask, options, { clock: this.#clock, report }))
  }

  markReady() {
    if (this.#reason === 'starting') this.#reason = undefined
    this.#start()
  }

  /** It works, but is to be replaced. */
  degrade() {
    this.#reason ??= 'degraded'
  }

  drain() {
    if (this.#reason !== 'closed') this.#reason = 'draining'
  }

  close() {
    this.#reason = 'closed'
  }

  live() {
    return OK
  }

  ready() {
    if (this.#reason !== undefined) return unavailable(this.#reason)
    if (this.#checks.size === 0) return OK
    return this.#clock.now() < this.#answerUntilMs ? this.#answer : this.#askAll()
  }

  async #askAll() {
    const asked = [...this.#checks]
    const verdicts = await Promise.all(asked.map(([, check]) => check.verdict()))
    // It may have begun to drain meanwhile.
    if (this.#reason !== undefined) return unavailable(this.#reason)
    const checks = Object.fromEntries(asked.map(([name], index) => [name, verdicts[index]]))
    this.#answer = verdicts.every((verdict) => verdict === PASSED)
      ? { status: 200, body: { status: 'ok', checks } }
      : unavailable('check', { checks })
    const areAll = asked.length === this.#checks.size
    if (areAll) this.#answerUntilMs = Math.min(...asked.map(([, check]) => check.keptUntilMs))
    return this.#answer
  }
}

module.exports = { Health }
