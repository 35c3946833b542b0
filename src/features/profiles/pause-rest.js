'use strict'
// Profiles, heap snapshots and reports block the event loop on demand. After each pause comes a rest of
// nineteen times its length. So these pauses take at most a twentieth of the time.

const REST = 19

/** @typedef {{ status: number, text: string, headers: Record<string, string> }} RestRefusal */

class PauseRest {
  #clock
  #onPause
  #onBegin
  #dueMs = Number.NEGATIVE_INFINITY

  /**
   * @param {Pick<import('../../core/clock').Clock, 'now'>} clock
   * @param {(ms: number) => void} [onPause] called after a pause, with its length
   * @param {() => void} [onBegin] called before a pause
   */
  constructor(clock, onPause = () => {}, onBegin = () => {}) {
    this.#clock = clock
    this.#onBegin = onBegin
    this.#onPause = onPause
  }

  /**
   * Runs work that blocks the loop. The rests of several pauses add up.
   *
   * @template Value
   * @param {() => Value} work
   * @returns {Value}
   */
  pausing(work) {
    const beganMs = this.#clock.now()
    this.#onBegin()
    try {
      return work()
    } finally {
      const nowMs = this.#clock.now()
      this.#dueMs = Math.max(this.#dueMs, nowMs) + REST * (nowMs - beganMs)
      this.#onPause(nowMs - beganMs)
    }
  }

  /** Milliseconds until the next pause may begin. */
  get leftMs() {
    return Math.max(0, this.#dueMs - this.#clock.now())
  }

  /** @returns {RestRefusal | undefined} undefined if a pause may begin now */
  get refusal() {
    const { leftMs } = this
    if (leftMs === 0) return undefined
    const seconds = Math.ceil(leftMs / 1000)
    return {
      status: 429,
      text: `The event loop was just paused for a profile, snapshot or report. The next pause may begin after ${REST} times the length of this one. Ask again in ${seconds} s.`,
      headers: { 'Retry-After': String(seconds) },
    }
  }
}

exports.PauseRest = PauseRest
