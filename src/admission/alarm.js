'use strict'
// Wakes the gate where nothing else might: all slots are held by requests that wait for something, or it is too soon for
// one more. One timer, for the earliest time asked for.

class Alarm {
  #clock
  #onRing
  #timer
  #atMs = 0

  constructor(clock, onRing) {
    this.#clock = clock
    this.#onRing = onRing
  }

  set(delayMs, nowMs) {
    const atMs = nowMs + delayMs
    if (this.#timer !== undefined) {
      if (this.#atMs <= atMs) return
      this.#clock.cancel(this.#timer)
    }
    this.#atMs = atMs
    this.#timer = this.#clock.after(delayMs, () => {
      this.#timer = undefined
      this.#onRing()
    })
  }
}

module.exports = { Alarm }
