'use strict'
// Observes uncaught errors without changing what Node does with them. `uncaughtExceptionMonitor` reports
// exceptions, and the rejections that Node is about to throw. A listener for `unhandledRejection` keeps Node
// from throwing them. So this file adds that listener only while a listener of the user exists, or where Node
// never throws rejections. If an `exit` listener throws, Node ends the process with the exit code already
// chosen. So nothing is caught while the process exits. There is one `ProcessEvents` per process, shared by
// all instances and copies of this package. Otherwise each would mistake the listeners of the others for
// listeners of the user.

const EVENT = 'unhandledRejection'
/**
 * The number in the symbol is raised when the methods change, because copies of this package call each
 * other's methods.
 */
const kProcessEvents = Symbol.for('spillway.process-events.1')

/**
 * @typedef {'uncaughtException' | 'unhandledRejection'} Origin
 * @typedef {{ onError: (error: unknown, origin: Origin, willExit: boolean) => void,
 *   exit?: ((origin: Origin) => void) | undefined }} Observer `willExit`: whether `exit` is called next
 */

class ProcessEvents {
  /** @type {Set<Observer>} */
  #observers = new Set()
  #mode = rejectionMode()

  /**
   * @param {Observer} observer if it has `exit`, Node does not end the process after an uncaught exception,
   *   so `exit` must end it
   */
  add(observer) {
    if (this.#observers.size === 0) this.#install()
    this.#observers.add(observer)
    this.#updateCatching()
  }

  /** @param {Observer} observer */
  remove(observer) {
    if (!this.#observers.delete(observer)) return
    this.#updateCatching()
    if (this.#observers.size > 0) return
    process.off('uncaughtExceptionMonitor', this.#onUncaught)
    process.off('newListener', this.#onNewListener)
    process.off('removeListener', this.#onRemoveListener)
    process.off(EVENT, this.#onRejection)
  }

  #install() {
    process.on('uncaughtExceptionMonitor', this.#onUncaught)
    // In this mode Node throws rejections as uncaught exceptions at once.
    if (this.#mode === 'strict') return
    if (this.#mode === 'warn' || this.#mode === 'none') process.on(EVENT, this.#onRejection)
    else {
      if (process.listenerCount(EVENT) > 0) process.on(EVENT, this.#onRejection)
      process.on('newListener', this.#onNewListener)
      process.on('removeListener', this.#onRemoveListener)
    }
  }

  /**
   * Listens for `uncaughtException` only if an observer wants to exit: with a listener Node does not end the
   * process.
   */
  #updateCatching() {
    this.#stopCatching()
    if ([...this.#observers].every(({ exit }) => exit === undefined)) return
    process.on('uncaughtException', this.#onCaught)
    process.prependListener('exit', this.#stopCatching)
  }

  #stopCatching = () => {
    process.off('uncaughtException', this.#onCaught)
    process.off('exit', this.#stopCatching)
  }

  #onUncaught = (/** @type {unknown} */ error, /** @type {Origin} */ origin) => {
    for (const observer of this.#observers) observer.onError(error, origin, true)
  }

  /**
   * Called for a rejection that does not end the process, because of a listener of the user or Node's mode.
   */
  #onRejection = (/** @type {unknown} */ error) => {
    for (const observer of this.#observers) observer.onError(error, EVENT, false)
  }

  #onCaught = (/** @type {unknown} */ _error, /** @type {Origin} */ origin) => {
    for (const observer of this.#observers) observer.exit?.(origin)
  }

  #onNewListener = (/** @type {string | symbol} */ event, /** @type {unknown} */ listener) => {
    if (event !== EVENT || listener === this.#onRejection) return
    if (!process.listeners(EVENT).includes(this.#onRejection)) process.on(EVENT, this.#onRejection)
  }

  #onRemoveListener = (/** @type {string | symbol} */ event) => {
    if (event !== EVENT) return
    if (process.listeners(EVENT).every((each) => each === this.#onRejection))
      process.off(EVENT, this.#onRejection)
  }
}

/**
 * @returns {string | undefined} the value of `--unhandled-rejections`. The command line overrides
 *   NODE_OPTIONS
 */
function rejectionMode() {
  const given = [process.env.NODE_OPTIONS ?? '', ...process.execArgv].join(' ')
  return [...given.matchAll(/--unhandled[-_]rejections[= ](\S+)/g)].at(-1)?.[1]
}

// biome-ignore format: it would move the cast
const eventsOfProcess = () => (/** @type {{ [kProcessEvents]?: ProcessEvents }} */ (process)[kProcessEvents] ??= new ProcessEvents())

module.exports = { eventsOfProcess }
