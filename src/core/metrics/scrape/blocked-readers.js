'use strict'
// The scrape readers whose connection takes no more data, the one blocked longest first. Each reader holds a
// connection and a part of a rendering, and a client that does not read may open any number of connections.
// If more than 64 readers are blocked, those blocked for a second are disconnected. Up to 64, only the
// timeouts of each reader apply.

/** @typedef {{ disconnect(): void }} Reader */

const MAX_BLOCKED = 64
/** Any client that reads takes a piece within this time. */
const BLOCKED_MS = 1000

class BlockedReaders {
  #clock
  /** When each reader was blocked. @type {Map<Reader, number>} */
  #since = new Map()
  #isScheduled = false

  /** @param {import('../../clock').Clock} clock while time stands still, no reader is disconnected */
  constructor(clock) {
    this.#clock = clock
  }

  /** @param {Reader} reader */
  add(reader) {
    this.#since.set(reader, this.#clock.now())
    if (this.#since.size > MAX_BLOCKED) this.#scheduleCheck()
  }

  /** @param {Reader} reader */
  delete(reader) {
    this.#since.delete(reader)
  }

  #scheduleCheck() {
    if (this.#isScheduled || this.#clock.isFrozen) return
    this.#isScheduled = true
    this.#clock.after(BLOCKED_MS, () => {
      this.#isScheduled = false
      this.#disconnectOldest()
      if (this.#since.size > MAX_BLOCKED) this.#scheduleCheck()
    })
  }

  #disconnectOldest() {
    const nowMs = this.#clock.now()
    let excess = this.#since.size - MAX_BLOCKED
    for (const [reader, sinceMs] of this.#since) {
      if (excess-- <= 0 || nowMs - sinceMs < BLOCKED_MS) return
      this.#since.delete(reader)
      reader.disconnect()
    }
  }
}

exports.BlockedReaders = BlockedReaders
