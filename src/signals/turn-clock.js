'use strict'
// Calls its listeners once a loop turn, by an unref'd immediate. That neither wakes a sleeping loop nor keeps it spinning,
// and misses no stall, as a timer would. A turn is busy for the time since the last check phase, without idling.

class TurnClock {
  #clock
  #listeners = []
  #immediate
  #lastMs = 0
  #lastIdleMs = 0
  #tick = () => this.#onTurn()

  constructor(clock) {
    this.#clock = clock
  }

  /** @param {(busyMs: number, nowMs: number, idleMs: number) => void} listener called once a turn */
  onTurn(listener) {
    this.#listeners.push(listener)
  }

  start() {
    this.#lastMs = this.#clock.now()
    this.#lastIdleMs = this.#clock.idleMs()
    this.#immediate = this.#clock.onTurn(this.#tick)
  }

  close() {
    this.#clock.cancelTurn(this.#immediate)
    this.#listeners.length = 0
  }

  // Hot path: once a loop turn. Allocates nothing but the immediate.
  #onTurn() {
    const nowMs = this.#clock.now()
    const idleMs = this.#clock.idleMs()
    const busyMs = nowMs - this.#lastMs - (idleMs - this.#lastIdleMs)
    this.#lastMs = nowMs
    this.#lastIdleMs = idleMs
    this.#immediate = this.#clock.onTurn(this.#tick)
    for (let i = 0; i < this.#listeners.length; i++) this.#listeners[i](busyMs, nowMs, idleMs)
  }
}

module.exports = { TurnClock }
