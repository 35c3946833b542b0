'use strict'
// Counts the warnings of the process by name, such as MaxListenersExceededWarning, with the place in the
// application that caused the last warnings. Node prints warnings as before: a listener for `warning` changes
// nothing.

const { getEventListeners } = require('node:events')
const { maskText } = require('../redaction/text')
const { placeInStack } = require('../stack-frames')

const MAX_NAMES = 30
const MAX_RECENT = 10
const MAX_MESSAGE = 300
const OTHER = '_OTHER'
const NAME = /^[A-Za-z_$][\w$]{0,63}$/

/**
 * @typedef {{ name?: unknown, message?: unknown, stack?: unknown, emitter?: object, target?: object,
 *   type?: string | symbol } | null | undefined} Warning Node gives `emitter`, or `target`, and `type` to the
 *   warning of too many listeners
 * @typedef {{ ref: WeakRef<object>, type: string | symbol }} Source whose listeners are too many
 * @typedef {import('../../../index.js').WarningsSnapshot['recent'][number]} Recent
 */

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
   * @type {Map<string, { recent: Recent, source: Source | undefined }>}
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
    const recent = [...this.#recent.values()].reverse()
    return {
      counts: Object.fromEntries(this.#counts),
      recent: recent.map((each) => ({ ...each.recent, ...listenersOf(each.source) })),
    }
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
    const known = this.#recent.get(key)?.recent
    const { count = 0 } = known ?? {}
    // Stacks are slow to write, so only the stack of the first warning is read.
    const at = known === undefined ? placeInStack(warning?.stack) : known.at
    const lastAt = new Date(this.#clock.wallMs()).toISOString()
    this.#recent.delete(key)
    const recent = { name, message, at, count: count + 1, lastAt }
    this.#recent.set(key, { recent, source: sourceOf(warning) })
    const [oldest] = this.#recent.keys()
    if (this.#recent.size > MAX_RECENT) this.#recent.delete(oldest)
  }
}

/** @param {Warning} warning @returns {Source | undefined} */
function sourceOf(warning) {
  const emitter = warning?.emitter ?? warning?.target
  const type = warning?.type
  return emitter === undefined || type === undefined ? undefined : { ref: new WeakRef(emitter), type }
}

/**
 * How many listeners there are by now. Node warns once for each emitter and event, at eleven listeners.
 *
 * @param {Source | undefined} source
 * @returns {{ listeners?: number }}
 */
function listenersOf(source) {
  const emitter = /** @type {EventTarget | undefined} */ (source?.ref.deref())
  if (source === undefined || emitter === undefined) return {}
  try {
    return { listeners: getEventListeners(emitter, /** @type {string} */ (source.type)).length }
  } catch {
    // A user may emit a warning with any value as its emitter.
    return {}
  }
}

exports.ProcessWarnings = ProcessWarnings
