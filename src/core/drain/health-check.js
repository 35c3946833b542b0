'use strict'
// Runs the check of one dependency. At most one run is in progress, and its verdict is cached. Otherwise a
// slow database would get queries from all load balancers at once.

const PASSED = 'ok'
const FAILED = 'failed'
const TIMED_OUT = 'timed out'

/** @import { Clock } from '../clock' */

class HealthCheck {
  #check
  #clock
  #timeoutMs
  #cacheMs
  #onChange
  /** @type {string} */
  #verdict = PASSED
  #cachedUntilMs = Number.NEGATIVE_INFINITY
  /** Settles with the verdict of the run in progress. @type {Promise<string> | undefined} */
  #pending
  /** Whether the function of the last run is still busy. It may be busy even after its timeout. */
  #isRunning = false

  /**
   * @param {(given: { signal: AbortSignal }) => unknown} check
   * @param {{ timeout: number, cache: number }} options in milliseconds
   * @param {{ clock: Clock, onChange: (verdict: string, error: unknown) => void }} parts `onChange` is called
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

  /** @returns {Promise<string>} never rejected */
  async verdict() {
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
        settle(TIMED_OUT)
      })
      new Promise((answer) => answer(this.#check({ signal: controller.signal })))
        .then((value) => settle(value === false ? FAILED : PASSED))
        .catch((error) => settle(FAILED, error))
        .finally(() => (this.#isRunning = false))
    })
  }
}

exports.HealthCheck = HealthCheck
exports.PASSED = PASSED
