'use strict'
// A clock advanced by hand, with the interface of src/core/clock.js: what depends on time is tested without
// waiting. Time passes busy unless told it was idle. Turns happen only when `turn()` is called.

class FakeClock {
  #nowMs
  #idleMs = 0
  #wallMs = Date.UTC(2026, 0, 1)
  #scheduled = new Set()

  constructor(nowMs = 1000) {
    this.#nowMs = nowMs
  }

  now = () => this.#nowMs
  idleMs = () => this.#idleMs
  cpuMs = () => this.#nowMs - this.#idleMs
  wallMs = () => this.#wallMs
  afterTurn = (callback) => this.#schedule(callback)
  onTurn = (callback) => this.#schedule(callback)
  cancelTurn = (entry) => this.#scheduled.delete(entry)
  /** No timer fires. */
  after = () => ({})
  cancel = () => {}

  /** How many callbacks wait for the turn to end. */
  get scheduled() {
    return this.#scheduled.size
  }

  /** The loop works. */
  advance(ms) {
    this.#nowMs += ms
    this.#wallMs += ms
  }

  /** The loop waits for events. */
  idle(ms) {
    this.#idleMs += ms
    this.advance(ms)
  }

  /** The check phase: what was scheduled before it runs, what that schedules waits for the next. */
  turn() {
    const due = [...this.#scheduled]
    for (const entry of due) {
      if (this.#scheduled.delete(entry)) entry.callback()
    }
  }

  #schedule(callback) {
    const entry = { callback }
    this.#scheduled.add(entry)
    return entry
  }
}

module.exports = { FakeClock }
