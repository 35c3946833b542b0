'use strict'
// An event loop in simulated time: arrivals, burns and waits are numbers, so a run of seconds takes
// milliseconds and repeats exactly. Phases as in Node: timers, poll, check, with the ticks of a callback
// behind it. The loop idles when nothing is due.

const { EventHeap } = require('./heap')

/** What a turn costs by itself. */
const TURN_MS = 0.001

class SimulatedLoop {
  nowMs = 0
  idleTotalMs = 0
  #timers = new EventHeap()
  #arrivals = new EventHeap()
  #connects = new EventHeap()
  #outside = new EventHeap()
  #checks = []
  #ticks = []
  #turnedMs = 0
  #turnedIdleMs = 0

  clock = {
    isFrozen: false,
    now: () => this.nowMs,
    idleMs: () => this.idleTotalMs,
    cpuMs: () => this.nowMs - this.idleTotalMs,
    wallMs: () => this.nowMs,
    afterTurn: (callback) => void this.#checks.push(callback),
    // As Node's timers: never sooner than in a millisecond.
    after: (delayMs, callback) => this.at(this.nowMs + Math.max(1, delayMs), callback),
    cancel: (timer) => {
      timer.callback = undefined
    },
    onTurn: () => undefined,
    cancelTurn: () => undefined,
  }

  /** A timer, run in the first turn that begins after it is due. */
  at(atMs, callback) {
    return this.#timers.push(atMs, callback)
  }

  /** Something that comes over the network, read in the first poll phase after that time. */
  arrive(atMs, callback) {
    this.#arrivals.push(atMs, callback)
  }

  /** A client that connects. One is accepted in each poll phase, before anything is read in it. */
  connect(atMs, callback) {
    this.#connects.push(atMs, callback)
  }

  /** An event of another process, which takes place at `atMs` even while this loop is busy. */
  outside(atMs, callback) {
    this.#outside.push(atMs, callback)
  }

  /** Runs whatever other processes have done by now. */
  catchUp() {
    while (this.#outside.nextMs <= this.nowMs) this.#outside.pop().callback()
  }

  /** As `process.nextTick` or an await of what is there already: run behind the current callback. */
  tick(callback) {
    this.#ticks.push(callback)
  }

  /** What a handler does with the loop. */
  burn(ms) {
    this.nowMs += ms
  }

  /** Runs until `endMs`, with `onTurn` as the turn clock calls it: first in each check phase. */
  run(endMs, onTurn) {
    while (this.nowMs < endMs) {
      const timed = this.#runDue(this.#timers, this.nowMs)
      this.catchUp()
      const polledMs = this.nowMs
      const worked = timed + this.#accept() + this.#runDue(this.#arrivals, polledMs)
      this.nowMs += TURN_MS
      const idledMs = this.idleTotalMs - this.#turnedIdleMs
      const busyMs = this.nowMs - this.#turnedMs - idledMs
      this.#turnedMs = this.nowMs
      this.#turnedIdleMs = this.idleTotalMs
      const checks = this.#checks
      this.#checks = []
      onTurn(busyMs, this.nowMs, this.idleTotalMs)
      for (const callback of checks) this.#call(callback)
      if (worked === 0 && this.#checks.length === 0) this.#sleep(endMs)
    }
  }

  /** @param {number} dueMs when the phase began */
  #runDue(events, dueMs) {
    let count = 0
    while (events.nextMs <= dueMs) {
      this.#call(events.pop().callback)
      count++
    }
    return count
  }

  #accept() {
    if (this.#connects.nextMs > this.nowMs) return 0
    this.#call(this.#connects.pop().callback)
    return 1
  }

  #call(callback) {
    callback?.()
    while (this.#ticks.length > 0) this.#ticks.shift()()
  }

  #sleep(endMs) {
    const networkMs = Math.min(this.#arrivals.nextMs, this.#connects.nextMs, this.#outside.nextMs)
    const wakeMs = Math.min(endMs, networkMs, this.#timers.nextMs)
    if (wakeMs <= this.nowMs) return
    this.idleTotalMs += wakeMs - this.nowMs
    this.nowMs = wakeMs
  }
}

module.exports = { SimulatedLoop }
