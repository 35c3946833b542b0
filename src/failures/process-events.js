'use strict'
// The errors nobody caught, heard without changing what Node does of them. For uncaught exceptions there is an event for
// just that, which also tells of rejections that Node is about to raise. A listener for `unhandledRejection` keeps Node from
// raising them: so ours is there only while a listener of the user's does so already, or where Node never raises them.
// One for the process, however many instances and copies of this package there are: they would take each other's
// listeners for the user's.

const EVENT = 'unhandledRejection'
const kProcessEvents = Symbol.for('spillway.process-events.1')

/** @typedef {{ note: (error: unknown, origin: string) => void, leave?: ((origin: string) => void) | undefined }} Observer */

class ProcessEvents {
  /** @type {Set<Observer>} */
  #observers = new Set()
  #mode = rejectionMode()

  /** @param {Observer} observer where it has `leave`, Node does not end the process: that is for `leave` to do */
  add(observer) {
    if (this.#observers.size === 0) this.#install()
    this.#observers.add(observer)
    this.#catch()
  }

  remove(observer) {
    if (!this.#observers.delete(observer)) return
    this.#catch()
    if (this.#observers.size > 0) return
    process.off('uncaughtExceptionMonitor', this.#onUncaught)
    process.off('newListener', this.#onNewListener)
    process.off('removeListener', this.#onRemoveListener)
    process.off(EVENT, this.#onRejection)
  }

  #install() {
    process.on('uncaughtExceptionMonitor', this.#onUncaught)
    // Node has told of it as an uncaught exception already.
    if (this.#mode === 'strict') return
    if (this.#mode === 'warn' || this.#mode === 'none') process.on(EVENT, this.#onRejection)
    else {
      if (process.listenerCount(EVENT) > 0) process.on(EVENT, this.#onRejection)
      process.on('newListener', this.#onNewListener)
      process.on('removeListener', this.#onRemoveListener)
    }
  }

  /** Only where somebody asked for it: from then on Node does not end the process. */
  #catch() {
    process.off('uncaughtException', this.#onCaught)
    if ([...this.#observers].some(({ leave }) => leave !== undefined))
      process.on('uncaughtException', this.#onCaught)
  }

  #onUncaught = (error, origin) => {
    for (const observer of this.#observers) observer.note(error, origin)
  }

  #onRejection = (error) => this.#onUncaught(error, EVENT)

  #onCaught = (_error, origin) => {
    for (const observer of this.#observers) observer.leave?.(origin)
  }

  #onNewListener = (event, listener) => {
    if (event !== EVENT || listener === this.#onRejection) return
    if (!process.listeners(EVENT).includes(this.#onRejection)) process.on(EVENT, this.#onRejection)
  }

  #onRemoveListener = (event) => {
    if (event !== EVENT) return
    if (process.listeners(EVENT).every((each) => each === this.#onRejection))
      process.off(EVENT, this.#onRejection)
  }
}

/** @returns {string | undefined} of `--unhandled-rejections`, of which the command line has the last word */
function rejectionMode() {
  const given = [process.env.NODE_OPTIONS ?? '', ...process.execArgv].join(' ')
  return [...given.matchAll(/--unhandled[-_]rejections[= ](\S+)/g)].at(-1)?.[1]
}

/** @returns {ProcessEvents} */
const eventsOfProcess = () => /** @type {any} */ ((process[kProcessEvents] ??= new ProcessEvents()))

module.exports = { eventsOfProcess }
