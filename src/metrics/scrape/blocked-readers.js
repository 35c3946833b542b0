'use strict'
// The readers of scrapes that have not taken yet what they were given, the one blocked for longest first. Each holds a
// connection and a part of a rendering, and whoever scrapes without reading may come with any number of them. So past a
// number, those blocked for a second are cut off; fewer are left to their own deadlines.

const MOST = 64
/** Who reads at all has taken a piece by then. */
const BLOCKED_MS = 1000

class BlockedReaders {
  #clock
  /** @type {Map<{ cut(): void }, number>} since when */
  #since = new Map()
  #isLooking = false

  /** @param {any} clock where time stands nobody is cut off for another */
  constructor(clock) {
    this.#clock = clock
  }

  add(reader) {
    this.#since.set(reader, this.#clock.now())
    if (this.#since.size > MOST) this.#lookLater()
  }

  delete(reader) {
    this.#since.delete(reader)
  }

  #lookLater() {
    if (this.#isLooking || this.#clock.stands) return
    this.#isLooking = true
    this.#clock.after(BLOCKED_MS, () => {
      this.#isLooking = false
      this.#cutOldest()
      if (this.#since.size > MOST) this.#lookLater()
    })
  }

  #cutOldest() {
    const nowMs = this.#clock.now()
    let excess = this.#since.size - MOST
    for (const [reader, sinceMs] of this.#since) {
      if (excess-- <= 0 || nowMs - sinceMs < BLOCKED_MS) return
      this.#since.delete(reader)
      reader.cut()
    }
  }
}

module.exports = { BlockedReaders }
