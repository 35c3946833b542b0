'use strict'
// An event loop in simulated time: arrivals, burns and waits are numbers, so that what the gate does under any load is
// exact, repeatable and takes milliseconds. Phases as in Node: what was awaited, poll (arrivals), check (what asked
// for another turn, the turn clock); it idles when nothing is due.

class SimulatedLoop {
  nowMs = 0
  idleTotalMs = 0
  #timers = []
  #checks = []
  #lastTurn = { nowMs: 0, idleMs: 0 }

  clock = {
    now: () => this.nowMs,
    idleMs: () => this.idleTotalMs,
    wallMs: () => this.nowMs,
    afterTurn: (callback) => this.#checks.push(callback),
    after: (delayMs, callback) => this.at(this.nowMs + delayMs, callback),
    cancel: (timer) => {
      this.#timers = this.#timers.filter((each) => each !== timer)
    },
    onTurn: () => undefined,
    cancelTurn: () => undefined,
  }

  at(atMs, callback) {
    const timer = { atMs, callback }
    this.#timers.push(timer)
    return timer
  }

  /** What a handler does with the loop. */
  burn(ms) {
    this.nowMs += ms
  }

  /** Runs arrivals, in order of time, with `onTurn` in each check phase, until `endMs`. */
  run(arrivals, endMs, onTurn) {
    let next = 0
    while (this.nowMs < endMs) {
      let worked = false
      const dueMs = this.nowMs
      const due = this.#timers.filter(({ atMs }) => atMs <= dueMs)
      this.#timers = this.#timers.filter(({ atMs }) => atMs > dueMs)
      for (const { callback } of due) callback()
      // Poll hands out what had come when it began; what comes meanwhile is the next turn's.
      const polledMs = this.nowMs
      while (next < arrivals.length && arrivals[next].atMs <= polledMs) {
        arrivals[next++].arrive()
        worked = true
      }
      const checks = this.#checks
      this.#checks = []
      for (const callback of checks) callback()
      this.nowMs += 0.001
      const idleMs = this.idleTotalMs
      const busyMs = this.nowMs - this.#lastTurn.nowMs - (idleMs - this.#lastTurn.idleMs)
      // What listeners do counts to the next turn, as it does to the real turn clock.
      this.#lastTurn = { nowMs: this.nowMs, idleMs }
      onTurn(busyMs, this.nowMs, idleMs)
      if (worked || due.length > 0 || this.#checks.length > 0) continue
      const wakeMs = Math.min(endMs, arrivals[next]?.atMs ?? endMs, ...this.#timers.map(({ atMs }) => atMs))
      if (wakeMs > this.nowMs) {
        this.idleTotalMs += wakeMs - this.nowMs
        this.nowMs = wakeMs
      }
    }
  }
}

module.exports = { SimulatedLoop }
