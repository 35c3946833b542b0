'use strict'
// Makes costly answers one after the other, each after the rest of the pause before: see features/profiles/pause-rest.js. A client waits for a
// short rest, and is refused in a long one. An answer is never older than its request. Requests for the same that wait share one.

/** @import { PauseRest, RestRefusal } from '../profiles/pause-rest' */

/** A client does not wait for longer. */
const MOST_WAIT_MS = 1000

/** @template Value @typedef {{ value: Value } | { refusal: RestRefusal }} Made */

class Rested {
  #clock
  #rest
  /** Ends when the one before is made. @type {Promise<unknown>} */
  #last = Promise.resolve()
  /** Those that nobody has begun to make. @type {Map<string, Promise<unknown>>} */
  #waiting = new Map()

  /**
   * @param {Pick<import('../../core/clock').Clock, 'after'>} clock
   * @param {PauseRest} rest
   */
  constructor(clock, rest) {
    this.#clock = clock
    this.#rest = rest
  }

  /**
   * @template Value
   * @param {string} key of what is asked
   * @param {() => Value} make
   * @returns {Promise<Made<Value>>}
   */
  take(key, make) {
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) return /** @type {Promise<Made<Value>>} */ (waiting)
    const made = this.#last.then(() => this.#make(key, make))
    this.#waiting.set(key, made)
    this.#last = made.catch(() => {})
    return made
  }

  /** @template Value @param {string} key @param {() => Value} make @returns {Promise<Made<Value>>} */
  async #make(key, make) {
    try {
      const { leftMs, refusal } = this.#rest
      if (refusal !== undefined) {
        if (leftMs > MOST_WAIT_MS) return { refusal }
        await new Promise((resolve) => this.#clock.after(Math.ceil(leftMs), () => resolve(undefined)))
      }
    } finally {
      this.#waiting.delete(key)
    }
    return { value: this.#rest.pausing(make) }
  }
}

exports.Rested = Rested
