'use strict'
// Counts the warnings of the process by name, such as MaxListenersExceededWarning, with the place in the
// application that caused the last warnings. Node prints warnings as before: a listener for `warning` changes
// nothing.

const { maskText } = require('../redaction/text')
const { placeInStack } = require('../stack-frames')

const MAX_NAMES = 30
const MAX_RECENT = 10
const MAX_MESSAGE = 300
const OTHER = '_OTHER'
const NAME = /^[A-Za-z_$][\w$]{0,63}$/

/** @typedef {{ name?: unknown, message?: unknown, stack?: unknown } | null | undefined} Warning */

/**
 * All instances share one listener, because Node warns of a leak if there are more than ten.
 *
 * @type {Set<ProcessWarnings>}
 */
const listening = new Set()

/** @param {Warning} warning */
function tellAll(warning) {
  for (const each of listening) each.onWarning(warning)
}

class ProcessWarnings {
  #isOn
  #clock
  /** @type {Map<string, number>} */
  #counts = new Map()
  /**
   * The last warnings, one per name and message.
   *
   * @type {Map<string, import('../../../index.js').WarningsSnapshot['recent'][number]>}
   */
  #recent = new Map()

  /** @param {{ clock: import('../clock').Clock, isOn: boolean }} deps */
  constructor({ clock, isOn }) {
    this.#clock = clock
    this.#isOn = isOn
  }

  start() {
    if (!this.#isOn) return
    if (listening.size === 0) process.on('warning', tellAll)
    listening.add(this)
  }

  close() {
    if (listening.delete(this) && listening.size === 0) process.off('warning', tellAll)
  }

  /** @returns {[name: string, count: number][]} */
  sample() {
    return [...this.#counts]
  }

  /** The latest first. @returns {import('../../../index.js').WarningsSnapshot} */
  list() {
    return { counts: Object.fromEntries(this.#counts), recent: [...this.#recent.values()].reverse() }
  }

  // A user may emit any value as a warning, and a getter of it may throw.
  /** @param {Warning} warning */
  onWarning(warning) {
    try {
      const name = this.#nameOf(warning?.name)
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
      this.#keep(name, maskText(String(warning?.message ?? '').slice(0, MAX_MESSAGE)), warning)
    } catch {
      // The warning has no readable name or message.
    }
  }

  /** @param {unknown} name */
  #nameOf(name) {
    if (typeof name !== 'string' || !NAME.test(name)) return OTHER
    return this.#counts.has(name) || this.#counts.size < MAX_NAMES ? name : OTHER
  }

  /** @param {string} name @param {string} message @param {Warning} warning */
  #keep(name, message, warning) {
    const key = `${name} ${message}`
    const known = this.#recent.get(key)
    const { count = 0 } = known ?? {}
    // Stacks are slow to write, so only the stack of the first warning is read.
    const at = known === undefined ? placeInStack(warning?.stack) : known.at
    const lastAt = new Date(this.#clock.wallMs()).toISOString()
    this.#recent.delete(key)
    this.#recent.set(key, { name, message, at, count: count + 1, lastAt })
    const [oldest] = this.#recent.keys()
    if (this.#recent.size > MAX_RECENT) this.#recent.delete(oldest)
  }
}

exports.ProcessWarnings = ProcessWarnings
