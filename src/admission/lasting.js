'use strict'
// Requests that have been running for long: long polls, reports, calls that hang. They do not wait for the loop or a pool as
// those do that are held to a limit, and hold no slot of it: with a thousand long polls in flight an overload beside them had
// let in one request in 100 ms until they ended. They are counted in two generations of which the older becomes the lasting,
// so that it costs an addition a request, and no list.

const LEAST_MS = 1000

class Lasting {
  count = 0
  #younger = 0
  #youngerSinceMs
  #older = 0
  #olderSinceMs

  constructor(nowMs) {
    this.#youngerSinceMs = this.#olderSinceMs = nowMs
  }

  // Hot path: once a request.
  noteAdmit() {
    this.#younger++
  }

  noteEnd(admittedMs) {
    if (admittedMs >= this.#youngerSinceMs) this.#younger--
    else if (admittedMs >= this.#olderSinceMs) this.#older--
    else this.count--
  }

  /** @param {number} ms what makes one of them, at least: it may be twice as long */
  noteTurn(nowMs, ms) {
    if (nowMs - this.#youngerSinceMs < Math.max(LEAST_MS, ms)) return
    this.count += this.#older
    this.#older = this.#younger
    this.#younger = 0
    this.#olderSinceMs = this.#youngerSinceMs
    this.#youngerSinceMs = nowMs
  }
}

module.exports = { Lasting }
