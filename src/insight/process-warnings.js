'use strict'
// Counts the warnings of the process by name, such as MaxListenersExceededWarning. Node prints them as before: a listener for
// `warning` changes nothing.

const { maskText } = require('../redaction/text')

const MAX_NAMES = 30
const MAX_RECENT = 10
const MAX_MESSAGE = 300
const OTHER = '_OTHER'
const NAME = /^[A-Za-z_$][\w$]{0,63}$/

class ProcessWarnings {
  #isOn
  #clock
  #counts = new Map()
  /** The last warnings, one per name and message. @type {Map<string, { name: string, message: string, count: number, lastAt: string }>} */
  #recent = new Map()

  /** @param {{ clock: import('../clock').Clock, isOn: boolean }} parts */
  constructor({ clock, isOn }) {
    this.#clock = clock
    this.#isOn = isOn
  }

  start() {
    if (this.#isOn) process.on('warning', this.#onWarning)
  }

  close() {
    process.off('warning', this.#onWarning)
  }

  /** @returns {[name: string, count: number][]} */
  sample() {
    return [...this.#counts]
  }

  /** The latest first. @returns {import('../../index.js').WarningsSnapshot} */
  list() {
    return { counts: Object.fromEntries(this.#counts), recent: [...this.#recent.values()].reverse() }
  }

  // A user may emit any value as a warning, and a getter of it may throw.
  #onWarning = (warning) => {
    try {
      const name = this.#nameOf(warning?.name)
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
      this.#keep(name, maskText(String(warning?.message ?? '').slice(0, MAX_MESSAGE)))
    } catch {
      // The warning has no readable name or message.
    }
  }

  #nameOf(name) {
    if (typeof name !== 'string' || !NAME.test(name)) return OTHER
    return this.#counts.has(name) || this.#counts.size < MAX_NAMES ? name : OTHER
  }

  #keep(name, message) {
    const key = `${name} ${message}`
    const count = (this.#recent.get(key)?.count ?? 0) + 1
    this.#recent.delete(key)
    this.#recent.set(key, { name, message, count, lastAt: new Date(this.#clock.wallMs()).toISOString() })
    const [oldest] = this.#recent.keys()
    if (this.#recent.size > MAX_RECENT) this.#recent.delete(oldest)
  }
}

module.exports = { ProcessWarnings }
