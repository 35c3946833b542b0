'use strict'
// Makes costly answers one after the other, with a rest after each: they take a twentieth of the time, however many ask.
// An answer is never older than its request. Requests for the same that wait share one.

/** So many times what the last one took. */
const REST = 19
/** A client does not wait for longer, whatever a busy machine made of the last one. */
const MOST_REST_MS = 1000

class Rested {
  #clock
  #dueMs = Number.NEGATIVE_INFINITY
  /** Ends when the one before is made. @type {Promise<unknown>} */
  #last = Promise.resolve()
  /** Those that nobody has begun to make. @type {Map<string, Promise<any>>} */
  #waiting = new Map()

  /** @param {Pick<import('../clock').Clock, 'now' | 'after'>} clock */
  constructor(clock) {
    this.#clock = clock
  }

  /**
   * @template Value
   * @param {string} key of what is asked
   * @param {() => Value} make
   * @returns {Promise<Value>}
   */
  take(key, make) {
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) return waiting
    const made = this.#last.then(() => this.#rest()).then(() => this.#make(key, make))
    this.#waiting.set(key, made)
    this.#last = made.catch(() => {})
    return made
  }

  #rest() {
    const delayMs = this.#dueMs - this.#clock.now()
    if (delayMs <= 0) return undefined
    return new Promise((resolve) => this.#clock.after(Math.ceil(delayMs), () => resolve(undefined)))
  }

  #make(key, make) {
    this.#waiting.delete(key)
    const beganMs = this.#clock.now()
    try {
      return make()
    } finally {
      const nowMs = this.#clock.now()
      this.#dueMs = nowMs + Math.min(MOST_REST_MS, REST * (nowMs - beganMs))
    }
  }
}

module.exports = { Rested }
