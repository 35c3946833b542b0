'use strict'
// Errors inside this package and inside callbacks of the user: counted by place, logged once per place, never
// thrown. An error thrown from a listener inside an `emit` would end the process.

const { describeError } = require('../redaction/error-description')

/** @typedef {{ then?: PromiseLike<unknown>['then'] } | null | undefined} MaybePromise */

class InternalErrors {
  /** @type {Map<string, number>} */
  #counts = new Map()
  #logger

  /** @param {Pick<import('../../../index.js').Logger, 'error'>} logger */
  constructor(logger) {
    this.#logger = logger
  }

  /** @param {string} place @param {unknown} error */
  report(place, error) {
    const count = (this.#counts.get(place) ?? 0) + 1
    this.#counts.set(place, count)
    if (count > 1) return
    try {
      const returned = /** @type {MaybePromise} */ (
        this.#logger.error(
          { err: describeError(error), place },
          // Quoted: a place such as `ignore` reads as a verb without quotes.
          `spillway: caught an error in \`${place}\`. Further errors there are counted, not logged.`
        )
      )
      returned?.then?.(undefined, () => {})
    } catch {
      // The logger itself throws: only the count can report that.
    }
  }

  /**
   * Runs a callback that may throw, or return a promise that rejects.
   *
   * @param {string} place
   * @param {() => unknown} callback
   */
  guard(place, callback) {
    try {
      this.catchRejection(place, callback())
    } catch (error) {
      this.report(place, error)
    }
  }

  /**
   * Reports the rejection of a promise that a callback returned: an unhandled rejection would end the
   * process.
   * @param {string} place
   * @param {unknown} returned
   * @returns {boolean} whether the callback returned a promise
   */
  catchRejection(place, returned) {
    /** @param {unknown} error */
    const onError = (error) => this.report(place, error)
    try {
      // The getter of `then` may throw.
      if (typeof (/** @type {MaybePromise} */ (returned)?.then) !== 'function') return false
      // A custom `then` may be an async function whose own promise rejects.
      Promise.resolve(/** @type {PromiseLike<unknown>} */ (returned).then(undefined, onError)).then(
        undefined,
        onError
      )
    } catch (error) {
      onError(error)
    }
    return true
  }

  /** @returns {[place: string, count: number][]} */
  list() {
    return [...this.#counts]
  }
}

exports.InternalErrors = InternalErrors
