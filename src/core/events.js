'use strict'
// The events of an instance or of a cluster's primary. Each event writes a log line and calls its listeners. An error or
// rejection of a logger or listener is counted, and ends nothing. An unknown event throws, because a typo would never fire.

const { withRounded } = require('./durations')
const { SpillwayError } = require('./errors/errors')

/** @import { InternalErrors } from './request/internal-errors' */

const notAListener = (event, given) =>
  new SpillwayError(
    'ERR_SPILLWAY_MISUSE',
    `A listener of '${event}' is a function: got ${given === null ? 'null' : typeof given}.`
  )

/** @typedef {import('./log/event-lines').EventLine} EventLine */
/** @typedef {import('./log/event-lines').EventLines} EventLines */

class Events {
  #lines
  #internalErrors
  #logger
  /** @type {Map<string, Function[]>} */
  #listeners = new Map()

  /**
   * @param {EventLines} lines the events, each with the level and sentence of its log line
   * @param {{ internalErrors: InternalErrors, logger: any }} parts
   */
  constructor(lines, { internalErrors, logger }) {
    this.#lines = lines
    this.#internalErrors = internalErrors
    this.#logger = logger
  }

  on(event, listener) {
    this.#requireKnown(event)
    if (typeof listener !== 'function') throw notAListener(event, listener)
    this.#listeners.set(event, [...this.#listenersOf(event), listener])
  }

  off(event, listener) {
    this.#requireKnown(event)
    const listeners = [...this.#listenersOf(event)]
    const at = listeners.lastIndexOf(listener)
    if (at !== -1) listeners.splice(at, 1)
    this.#listeners.set(event, listeners)
  }

  emit(event, details) {
    const { level, sentence } = /** @type {EventLine} */ (this.#lines[event])
    const fields = { event, ...withRounded(details) }
    this.#internalErrors.guard('logger', () => this.#logger[level](fields, `spillway: ${sentence(details)}`))
    this.emitWithoutLine(event, details)
  }

  /** For an event whose line is written elsewhere. */
  emitWithoutLine(event, details) {
    for (const listener of this.#listenersOf(event))
      this.#internalErrors.guard(`on ${event}`, () => listener(details))
  }

  #listenersOf(event) {
    return this.#listeners.get(event) ?? []
  }

  #requireKnown(event) {
    if (Object.hasOwn(this.#lines, event)) return
    throw new SpillwayError(
      'ERR_SPILLWAY_UNKNOWN_EVENT',
      `There is no event '${String(event)}'. There are: ${Object.keys(this.#lines).join(', ')}.`
    )
  }
}

exports.Events = Events
