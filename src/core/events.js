'use strict'
// The events of an instance or of a cluster's primary. Each event writes a log line and calls its listeners.
// An error or rejection of a logger or listener is counted, and ends nothing. `on` throws for an unknown
// event, because the listener of a mistyped event would never be called.

const { withRounded } = require('./readable')
const { SpillwayError } = require('./errors/errors')

/**
 * @import { Logger } from '../../index.js'
 * @import { EventLine, EventLines } from './log/event-lines'
 * @import { InternalErrors } from './errors/internal-errors'
 */

/** @param {string} event @param {unknown} given */
const notAListener = (event, given) =>
  new SpillwayError(
    'ERR_SPILLWAY_MISUSE',
    `A listener of '${event}' must be a function: got ${given === null ? 'null' : typeof given}.`
  )

/** @typedef {(details: never) => void} Listener gets the details of the event */

class Events {
  #lines
  #internalErrors
  #logger
  /** @type {Map<string, Listener[]>} */
  #listeners = new Map()

  /**
   * @param {EventLines} lines the events, each with the level and sentence of its log line
   * @param {{ internalErrors: InternalErrors, logger: Logger }} deps `logger` has `info`
   */
  constructor(lines, { internalErrors, logger }) {
    this.#lines = lines
    this.#internalErrors = internalErrors
    this.#logger = /** @type {Required<Logger>} */ (logger)
  }

  /** @param {string} event @param {Listener} listener */
  on(event, listener) {
    this.#requireKnown(event)
    if (typeof listener !== 'function') throw notAListener(event, listener)
    this.#listeners.set(event, [...this.#listenersOf(event), listener])
  }

  /** @param {string} event @param {Listener} listener */
  off(event, listener) {
    this.#requireKnown(event)
    const listeners = [...this.#listenersOf(event)]
    const at = listeners.lastIndexOf(listener)
    if (at !== -1) listeners.splice(at, 1)
    this.#listeners.set(event, listeners)
  }

  /** @param {string} event @param {object} details */
  emit(event, details) {
    const { level, sentence } = /** @type {EventLine} */ (this.#lines[event])
    const fields = { event, ...withRounded(details) }
    this.#internalErrors.guard('logger', () =>
      this.#logger[level](fields, `spillway: ${sentence(/** @type {never} */ (details))}`)
    )
    this.emitWithoutLine(event, details)
  }

  /**
   * Only calls the listeners, for an event whose line is written elsewhere.
   *
   * @param {string} event
   * @param {object} details
   */
  emitWithoutLine(event, details) {
    for (const listener of this.#listenersOf(event))
      this.#internalErrors.guard(`on ${event}`, () => listener(/** @type {never} */ (details)))
  }

  /** @param {string} event */
  #listenersOf(event) {
    return this.#listeners.get(event) ?? []
  }

  /** @param {string} event */
  #requireKnown(event) {
    if (Object.hasOwn(this.#lines, event)) return
    throw new SpillwayError(
      'ERR_SPILLWAY_UNKNOWN_EVENT',
      `Unknown event '${String(event)}'. Known events: ${Object.keys(this.#lines).join(', ')}.`
    )
  }
}

exports.Events = Events
