'use strict'
// What went wrong inside this package or in a callback it was given: counted by place, logged once a place, never
// thrown. A listener of ours that throws would otherwise take the process down from inside an `emit`.

const { describeError } = require('../redaction/error-description')

class Faults {
  #counts = new Map()
  #logger

  constructor(logger) {
    this.#logger = logger
  }

  report(place, error) {
    const count = (this.#counts.get(place) ?? 0) + 1
    this.#counts.set(place, count)
    if (count > 1) return
    try {
      const returned = this.#logger.error(
        { err: describeError(error), place },
        // Quoted: a place such as `ignore` is a verb without quotes.
        `spillway: caught an error in \`${place}\`. Further errors there are counted, not logged.`
      )
      returned?.then?.(undefined, () => {})
    } catch {
      // A logger that throws has nowhere left to be reported but the count.
    }
  }

  /** Runs what may throw. */
  guard(place, callback) {
    try {
      this.heed(place, callback())
    } catch (error) {
      this.report(place, error)
    }
  }

  /**
   * What a callback returned may be a promise, whose rejection would end the process. It may throw when it is asked: never from here.
   * @returns {boolean} whether it is one
   */
  heed(place, returned) {
    const onError = (error) => this.report(place, error)
    try {
      if (typeof returned?.then !== 'function') return false
      // A `then` of another's may be an async function.
      Promise.resolve(returned.then(undefined, onError)).then(undefined, onError)
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

module.exports = { Faults }
