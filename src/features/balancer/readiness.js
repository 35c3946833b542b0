'use strict'
// Lets `/readyz` say 503 while the pressure is high, so that a balancer spares this process for a while. The
// process leaves after five seconds at `health.maxPressure`, and comes back at a pressure that is 0.2 lower.
// In a fleet only one process may be away at a time: the others take over its work, and must not all be away.
// The process always comes back after a minute, and then stays for at least a minute.

/**
 * @import { Clock } from '../../core/clock'
 * @import { Health } from '../../core/lifecycle/health'
 */

const LEAVE_AFTER_MS = 5000
const HYSTERESIS = 0.2
const MIN_AWAY_MS = 5000
const MAX_AWAY_MS = 60_000
const REST_MS = 60_000
const LOOK_MS = 500

class Readiness {
  #clock
  #maxPressure
  #pressure
  #health
  #info
  #token
  /** Time since which the pressure has been high. @type {number | undefined} */
  #highMs
  #awayMs = 0
  #isAway = false
  #isAsking = false
  #restsUntilMs = Number.NEGATIVE_INFINITY
  /** @type {NodeJS.Timeout | undefined} */
  #timer
  #isClosed = false

  /**
   * @param {{ clock: Clock, maxPressure: number, health: Pick<Health, 'setAway'>,
   *   pressure: { readonly ratio: number, onSample: (listener: (ratio: number) => void) => void },
   *   info: (fields: object, message: string) => void, token: { take: () => Promise<boolean>,
   *   giveBack: () => void } }} deps
   *   `token`: the right to be away, which one member of the fleet has at a time
   */
  constructor({ clock, maxPressure, pressure, health, info, token }) {
    this.#clock = clock
    this.#maxPressure = maxPressure
    this.#pressure = pressure
    this.#health = health
    this.#info = info
    this.#token = token
    pressure.onSample((ratio) => this.#onSample(ratio))
  }

  /** @param {number} ratio */
  #onSample(ratio) {
    if (this.#isAway || this.#isAsking) return
    const nowMs = this.#clock.now()
    if (ratio < this.#maxPressure || nowMs < this.#restsUntilMs) this.#highMs = undefined
    else if (this.#highMs === undefined) this.#highMs = nowMs
    else if (nowMs - this.#highMs >= LEAVE_AFTER_MS) this.#askToLeave()
  }

  async #askToLeave() {
    this.#isAsking = true
    const isOurs = await this.#token.take()
    this.#isAsking = false
    // The process asks again only after another five seconds of high pressure, and not ten times a second.
    this.#highMs = undefined
    if (isOurs && this.#isClosed) this.#token.giveBack()
    else if (isOurs) this.#leave()
  }

  #leave() {
    this.#isAway = true
    this.#awayMs = this.#clock.now()
    this.#health.setAway(true)
    const pressure = this.#pressure.ratio
    this.#info(
      { event: 'unready', pressure, maxPressure: this.#maxPressure },
      `spillway: /readyz says 503, because the pressure is ${pressure.toFixed(2)}`
    )
    this.#lookLater()
  }

  #lookLater() {
    this.#timer = this.#clock.after(LOOK_MS, () => {
      const awayMs = this.#clock.now() - this.#awayMs
      const isLow = this.#pressure.ratio <= Math.max(0, this.#maxPressure - HYSTERESIS)
      if (awayMs >= MAX_AWAY_MS || (isLow && awayMs >= MIN_AWAY_MS)) this.#comeBack(awayMs)
      else this.#lookLater()
    })
  }

  /** @param {number} awayMs */
  #comeBack(awayMs) {
    this.#isAway = false
    if (awayMs >= MAX_AWAY_MS) this.#restsUntilMs = this.#clock.now() + REST_MS
    this.#health.setAway(false)
    this.#token.giveBack()
    const pressure = this.#pressure.ratio
    this.#info(
      { event: 'readyAgain', pressure, awayMs: Math.round(awayMs) },
      `spillway: /readyz says 200 again, after ${Math.round(awayMs / 1000)} s`
    )
  }

  close() {
    this.#isClosed = true
    if (this.#timer !== undefined) this.#clock.cancel(this.#timer)
    if (this.#isAway) this.#token.giveBack()
  }
}

exports.Readiness = Readiness
