'use strict'
// How this process leaves: every instance in it drains, then it exits with a code that says how that went. One for the
// process, however many instances and copies of this package there are, so that the first that is done does not take the
// process from under the others.
//
// Nest's shutdown hooks and terminus take their listeners off when they are done, and send the process the same signal again,
// for Node to end it where nobody else listens. That is no impatience: what others are answering would be cut.

const cluster = require('node:cluster')
const { once } = require('node:events')
const { constants } = require('node:os')
const { systemClock } = require('../clock')
const { watcher } = require('../environment/watcher')

const SIGNALS = ['SIGTERM', 'SIGINT']
/** What nodemon restarts by; elsewhere others have uses for it, such as a heap snapshot. */
const NODEMON_SIGNAL = 'SIGUSR2'
/** npm and systemd pass a signal on to a process that has got it from elsewhere already. */
const SAME_SIGNAL_MS = 50
/** nodemon lists all processes before it passes one on. */
const SAME_UNDER_WATCHER_MS = 500
/** A primary that hangs is not waited for. */
const DISCONNECT_MS = 1000
const HAND_BACK_MS = 100
const FAILURE = 1

const kDeparture = Symbol.for('spillway.departure.1')

class Departure {
  #drains = new Set()
  /** Those of whom signals are to be heard. */
  #hearing = new Set()
  #signals = SIGNALS
  #isLeaving = false
  #exitCode = 0
  #toldMs = Number.NEGATIVE_INFINITY
  /** How many heard a signal, the last time it came. */
  #heard = new Map()
  #onSignal = (signal) => {
    const isSentOn = process.listenerCount(signal) < this.#heard.get(signal)
    // Who hears it once is gone by then.
    systemClock.afterTurn(() => this.#heard.set(signal, process.listenerCount(signal)))
    if (!isSentOn) this.told(signal)
  }

  /** @param {(reason: string, cause: string) => Promise<{ cut: number }>} drain what is done before the process leaves */
  join(drain) {
    this.#drains.add(drain)
  }

  part(drain) {
    this.#drains.delete(drain)
    if (!this.#hearing.delete(drain) || this.#hearing.size > 0 || this.#isLeaving) return
    for (const signal of this.#signals) process.off(signal, this.#onSignal)
  }

  hearSignals(drain) {
    if (this.#hearing.size === 0) {
      this.#signals = watcher() === 'nodemon' ? [...SIGNALS, NODEMON_SIGNAL] : SIGNALS
      for (const signal of this.#signals) process.on(signal, this.#onSignal)
    }
    this.#hearing.add(drain)
  }

  /** Somebody wants the process to go: the first time it leaves, unless it does already, the second time it is gone. */
  told(reason) {
    const nowMs = systemClock.now()
    if (this.#toldMs === Number.NEGATIVE_INFINITY) {
      this.#toldMs = nowMs
      this.leave(0, reason, { sayGoodbye: disconnect })
    } else if (nowMs - this.#toldMs > (watcher() === '' ? SAME_SIGNAL_MS : SAME_UNDER_WATCHER_MS)) {
      process.exit(reason in constants.signals ? 128 + constants.signals[reason] : FAILURE)
    }
  }

  /** Our primary wants it to go; to hear it again, or a signal besides, is no impatience. */
  asked(reason, cause) {
    this.#toldMs = Number.POSITIVE_INFINITY
    this.leave(0, reason, { sayGoodbye: disconnect, cause })
  }

  /**
   * Drains every instance and exits: with 1 where a request was cut, else with the code given.
   *
   * @param {number} exitCode counts where it leaves already, too: what nobody caught is a failure then as well
   * @param {string} reason
   * @param {{ sayGoodbye?: () => unknown, cause?: string }} how `sayGoodbye` before the exit; `cause`: the signal, where the
   *   reason is another
   */
  async leave(exitCode, reason, { sayGoodbye = handBack, cause = reason } = {}) {
    this.#exitCode ||= exitCode
    if (this.#isLeaving) return
    this.#isLeaving = true
    const drains = await Promise.allSettled([...this.#drains].map((drain) => drain(reason, cause)))
    const isWhole = drains.every((drain) => drain.status === 'fulfilled' && drain.value.cut === 0)
    await sayGoodbye()
    process.exit(isWhole ? this.#exitCode : FAILURE)
  }
}

/** A worker that was told to go takes leave of its primary, which then does not take it for one that has crashed. */
async function disconnect() {
  const { worker } = /** @type {any} */ (cluster)
  if (worker === undefined || !worker.isConnected()) return
  // A primary that has died in this turn still seems to be there: what cannot be told to it comes as errors of the worker.
  worker.on('error', () => {})
  const gone = once(worker, 'disconnect').catch(() => {})
  worker.disconnect()
  await Promise.race([
    gone,
    new Promise((resolve) => systemClock.wait(DISCONNECT_MS, () => resolve(undefined))),
  ])
}

/** Time to hand back the connections that the primary handed over before it heard that nobody listens here any more. */
async function handBack() {
  const { worker } = /** @type {any} */ (cluster)
  if (worker?.isConnected())
    await new Promise((resolve) => systemClock.wait(HAND_BACK_MS, () => resolve(undefined)))
}

/** @returns {Departure} */
const departureOfProcess = () => /** @type {any} */ ((process[kDeparture] ??= new Departure()))

module.exports = { departureOfProcess }
