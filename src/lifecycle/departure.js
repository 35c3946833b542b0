'use strict'
// How this process leaves: every instance in it drains, then it exits with a code that says how that went. One for the
// process, whatever number of instances or of copies of this package there are, so that the first that is done does
// not take the process from under the others.

const { constants } = require('node:os')

const SIGNALS = ['SIGTERM', 'SIGINT']
/** npm passes a Ctrl-C on to a process that the terminal has told of it already. */
const SAME_SIGNAL_MS = 50
/** By message, for PM2's `shutdown_with_message` and for Windows, which has no SIGTERM. */
const SHUTDOWN = 'shutdown'
const FAILURE = 1

const kDeparture = Symbol.for('spillway.departure.1')

class Departure {
  #clock
  /** What drains: by instance. */
  #drains = new Set()
  /** The instances that asked to leave by signals. */
  #listeners = new Set()
  /** Servers that listen and whose process may be told by message. */
  #isLeaving = false
  #toldMs = Number.NEGATIVE_INFINITY
  #onSignal = (signal) => this.#told(signal, 128 + (constants.signals[signal] ?? 0))
  #onMessage = (message) => {
    if (message === SHUTDOWN) this.#told(SHUTDOWN, FAILURE)
  }

  constructor(clock) {
    this.#clock = clock
  }

  /** @param {(reason: string) => Promise<{ cut: number }>} drain what is to be done before the process may leave */
  join(drain) {
    this.#drains.add(drain)
  }

  part(drain) {
    this.#drains.delete(drain)
    this.stopListening(drain)
  }

  /** Drains every instance, and exits: with 1 where something was cut, and else with the code given. */
  async leave(exitCode, reason) {
    if (this.#isLeaving) return
    this.#isLeaving = true
    const outcomes = await Promise.allSettled([...this.#drains].map((drain) => drain(reason)))
    const isClean = outcomes.every((outcome) => outcome.status === 'fulfilled' && outcome.value.cut === 0)
    process.exit(isClean ? exitCode : FAILURE)
  }

  listen(drain) {
    if (this.#listeners.size === 0) {
      for (const signal of SIGNALS) process.on(signal, this.#onSignal)
      if (process.send !== undefined) process.on('message', this.#onMessage)
    }
    this.#listeners.add(drain)
  }

  stopListening(drain) {
    if (!this.#listeners.delete(drain) || this.#listeners.size > 0 || this.#isLeaving) return
    for (const signal of SIGNALS) process.off(signal, this.#onSignal)
    process.off('message', this.#onMessage)
  }

  #told(reason, impatientCode) {
    const nowMs = this.#clock.now()
    if (!this.#isLeaving) {
      this.#toldMs = nowMs
      this.leave(0, reason)
    } else if (nowMs - this.#toldMs > SAME_SIGNAL_MS) process.exit(impatientCode)
  }
}

/** @returns {Departure} */
function departureOf(clock) {
  return /** @type {any} */ ((process)[kDeparture] ??= new Departure(clock))
}

module.exports = { departureOf }
