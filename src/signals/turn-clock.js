'use strict'
// The loop's own clock: one unref'd immediate per loop turn. It spins no idle loop, wakes no sleeping one, and sees
// every turn, so no stall is lost (a timer-based sampler sees one late tick per stall, and 100 wake-ups a second
// when nothing happens). A turn is busy for the time since the last check phase less what the loop waited.

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

  // Hot path: runs once a loop turn. No allocation but the immediate itself.
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
