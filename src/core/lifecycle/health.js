'use strict'
// Answers the two probes of an orchestrator. `/livez` succeeds while the event loop runs, also under load and
// with failed dependencies, because a restart fixes neither. `/readyz` succeeds when traffic may come. It
// fails while the instance starts, is degraded, drains or is closed, while the process is short of something
// (`health.maxPressure`), and while a check fails. A check asks a dependency of the application.

const { SpillwayError } = require('../errors/errors')

/**
 * @import { Clock } from '../clock'
 *
 * @typedef {{ status: string, reason?: string, checks?: Readonly<Record<string, string>> }} HealthBody
 * @typedef {{ readonly status: number, readonly body: Readonly<HealthBody> }} HealthAnswer
 * @typedef {ConstructorParameters<typeof HealthCheck>[0]} Check
 */

/** Verdicts of a check. */
const CHECK_OK = 'ok'
const CHECK_FAILED = 'failed'
const CHECK_TIMED_OUT = 'timed out'

/** @type {HealthAnswer} */
const OK = Object.freeze({ status: 200, body: Object.freeze({ status: 'ok' }) })
/** @param {string} reason @param {Partial<HealthBody>} [rest] @returns {HealthAnswer} */
const unavailable = (reason, rest) => ({ status: 503, body: { status: 'unavailable', reason, ...rest } })

/** @param {unknown} name @param {unknown} check */
const notACheck = (name, check) =>
  new SpillwayError(
    'ERR_SPILLWAY_MISUSE',
    `health.check() takes a name and a function: got ${typeof name} and ${typeof check}. ` +
      "Write spillway.health.check('database', () => pool.query('select 1'))."
  )

/** @param {string} name */
const nameIsTaken = (name) =>
  new SpillwayError(
    'ERR_SPILLWAY_CHECK_TAKEN',
    `There is already a health check '${name}'. Give the new check another name.`
  )

/** The answer while another process gets the traffic for a time. @type {HealthAnswer} */
const AWAY = Object.freeze(unavailable('pressure'))

class Health {
  /** @type {Map<string, HealthCheck>} */
  #checks = new Map()
  #clock
  #onCheckChange
  /** Why traffic may not come, whatever the checks say. @type {string | undefined} */
  #reason
  /**
   * The last answer of the checks. It is valid while the verdict of each check is cached.
   *
   * @type {HealthAnswer | undefined}
   */
  #answer
  #answerUntilMs = Number.NEGATIVE_INFINITY
  #start = (_ = undefined) => {}
  #isAway = false
  /** Settles when traffic may come for the first time. @type {Promise<void>} */
  started

  /**
   * @param {{ isManual: boolean, clock: Clock, onCheckChange: (name: string, verdict: string,
   *   error: unknown) => void }} deps `onCheckChange` is called when a verdict changes
   */
  constructor({ isManual, clock, onCheckChange }) {
    this.#clock = clock
    this.#onCheckChange = onCheckChange
    this.#reason = isManual ? 'starting' : undefined
    this.started = isManual ? new Promise((resolve) => (this.#start = resolve)) : Promise.resolve()
  }

  /** @param {string} name @param {Check} check @param {{ timeout: number, cache: number }} options */
  addCheck(name, check, options) {
    if (typeof name !== 'string' || name === '' || typeof check !== 'function') throw notACheck(name, check)
    if (this.#checks.has(name)) throw nameIsTaken(name)
    /** @param {string} verdict @param {unknown} error */
    const onChange = (verdict, error) => this.#onCheckChange(name, verdict, error)
    this.#answerUntilMs = Number.NEGATIVE_INFINITY
    this.#checks.set(name, new HealthCheck(check, options, { clock: this.#clock, onChange }))
  }

  markReady() {
    if (this.#reason === 'starting') this.#reason = undefined
    this.#start()
  }

  /** The process works, but another process is to replace it. */
  degrade() {
    this.#reason ??= 'degraded'
  }

  /** @param {boolean} isAway */
  setAway(isAway) {
    this.#isAway = isAway
  }

  markDraining() {
    if (this.#reason !== 'closed') this.#reason = 'draining'
  }

  close() {
    this.#reason = 'closed'
  }

  live() {
    return OK
  }

  /** @returns {HealthAnswer | Promise<HealthAnswer>} */
  ready() {
    if (this.#reason !== undefined) return unavailable(this.#reason)
    if (this.#isAway) return AWAY
    if (this.#checks.size === 0) return OK
    return this.#clock.now() < this.#answerUntilMs
      ? /** @type {HealthAnswer} */ (this.#answer)
      : this.#runAll()
  }

  async #runAll() {
    const run = [...this.#checks]
    const verdicts = await Promise.all(run.map(([, check]) => check.check()))
    // A drain may have begun meanwhile.
    if (this.#reason !== undefined) return unavailable(this.#reason)
    if (this.#isAway) return AWAY
    const checks = Object.fromEntries(run.map(([name], index) => [name, verdicts[index]]))
    this.#answer = verdicts.every((verdict) => verdict === CHECK_OK)
      ? { status: 200, body: { status: 'ok', checks } }
      : unavailable('check', { checks })
    const areAll = run.length === this.#checks.size
    if (areAll) this.#answerUntilMs = Math.min(...run.map(([, check]) => check.cachedUntilMs))
    return this.#answer
  }
}

/**
 * The check of one dependency. At most one run is in progress, and its verdict is cached. Otherwise a slow
 * database would get queries from all load balancers at once.
 */
class HealthCheck {
  #check
  #clock
  #timeoutMs
  #cacheMs
  #onChange
  /** @type {string} */
  #verdict = CHECK_OK
  #cachedUntilMs = Number.NEGATIVE_INFINITY
  /** Settles with the verdict of the run in progress. @type {Promise<string> | undefined} */
  #pending
  /** Whether the function of the last run is still busy. It may be busy even after its timeout. */
  #isRunning = false

  /**
   * @param {(given: { signal: AbortSignal }) => unknown} check
   * @param {{ timeout: number, cache: number }} options in milliseconds
   * @param {{ clock: Clock, onChange: (verdict: string, error: unknown) => void }} deps `onChange` is called
   *   when the verdict changes
   */
  constructor(check, { timeout, cache }, { clock, onChange }) {
    this.#check = check
    this.#clock = clock
    this.#timeoutMs = timeout
    this.#cacheMs = cache
    this.#onChange = onChange
  }

  get cachedUntilMs() {
    return this.#cachedUntilMs
  }

  /** Runs the check, unless its last verdict is still valid. @returns {Promise<string>} never rejected */
  async check() {
    if (this.#pending !== undefined) return this.#pending
    if (this.#isRunning || this.#clock.now() < this.#cachedUntilMs) return this.#verdict
    this.#isRunning = true
    this.#pending = this.#run()
    return this.#pending
  }

  /** @returns {Promise<string>} */
  #run() {
    const controller = new AbortController()
    let isSettled = false
    return new Promise((resolve) => {
      /** @param {string} verdict @param {unknown} [error] */
      const settle = (verdict, error) => {
        if (isSettled) return
        isSettled = true
        // The signal is not aborted once the run has ended. A check may have passed its signal to other work,
        // which the abort would cancel.
        this.#clock.cancel(timer)
        this.#pending = undefined
        this.#cachedUntilMs = this.#clock.now() + this.#cacheMs
        if (verdict !== this.#verdict) this.#onChange(verdict, error)
        this.#verdict = verdict
        resolve(verdict)
      }
      const timer = this.#clock.after(this.#timeoutMs, () => {
        controller.abort()
        settle(CHECK_TIMED_OUT)
      })
      new Promise((answer) => answer(this.#check({ signal: controller.signal })))
        .then((value) => settle(value === false ? CHECK_FAILED : CHECK_OK))
        .catch((error) => settle(CHECK_FAILED, error))
        .finally(() => (this.#isRunning = false))
    })
  }
}

exports.CHECK_OK = CHECK_OK
exports.Health = Health
