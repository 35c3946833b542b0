'use strict'
// One dependency that is asked whether it is there. However many probes come, one question is under way at a time, and
// its answer is kept for a while: a database that is short of breath is not asked by every balancer at once.

const PASSED = 'ok'
const FAILED = 'failed'
const TIMED_OUT = 'timed out'

class HealthCheck {
  #ask
  #clock
  #timeoutMs
  #keepMs
  #report
  #verdict = PASSED
  #keptUntilMs = Number.NEGATIVE_INFINITY
  /** Settles with the verdict of the question under way. */
  #pending
  /** A question that timed out may still be under way. */
  #isAsking = false

  /**
   * @param {(given: { signal: AbortSignal }) => unknown} ask
   * @param {{ timeout: number, cache: number }} options in milliseconds
   * @param {{ clock: any, report: (verdict: string, error: unknown) => void }} parts told when the verdict changes
   */
  constructor(ask, { timeout, cache }, { clock, report }) {
    this.#ask = ask
    this.#clock = clock
    this.#timeoutMs = timeout
    this.#keepMs = cache
    this.#report = report
  }

  /** Until when its verdict is kept. */
  get keptUntilMs() {
    return this.#keptUntilMs
  }

  /** @returns {Promise<string>} never rejected */
  async verdict() {
    if (this.#pending !== undefined) return this.#pending
    if (this.#isAsking || this.#clock.now() < this.#keptUntilMs) return this.#verdict
    this.#isAsking = true
    this.#pending = this.#question()
    return this.#pending
  }

  #question() {
    const controller = new AbortController()
    let isSettled = false
    return new Promise((resolve) => {
      const settle = (verdict, error) => {
        if (isSettled) return
        isSettled = true
        // The signal of a question that was answered is never aborted: whoever listens to it would cancel something else.
        this.#clock.cancel(timer)
        this.#pending = undefined
        this.#keptUntilMs = this.#clock.now() + this.#keepMs
        if (verdict !== this.#verdict) this.#report(verdict, error)
        this.#verdict = verdict
        resolve(verdict)
      }
      const timer = this.#clock.after(this.#timeoutMs, () => {
        controller.abort()
        settle(TIMED_OUT)
      })
      new Promise((answer) => answer(this.#ask({ signal: controller.signal })))
        .then((value) => settle(value === false ? FAILED : PASSED))
        .catch((error) => settle(FAILED, error))
        .finally(() => (this.#isAsking = false))
    })
  }
}

module.exports = { HealthCheck, PASSED }
