'use strict'
// The events of an instance or of a cluster's primary. Each event writes a log line and calls its listeners. An error or
// rejection of a logger or listener is counted, and ends nothing. An unknown event throws, because a typo would never fire.

const { EventEmitter, captureRejectionSymbol } = require('node:events')
const { withRounded } = require('./durations')
const { SpillwayError } = require('./errors')

class Events {
  #levels
  #faults
  #logger
  // Every open stream may listen to `draining`, so that more than ten listeners are no leak.
  #emitter = new EventEmitter({ captureRejections: true }).setMaxListeners(0)

  /**
   * @param {Readonly<Record<string, 'info' | 'warn' | 'error'>>} levels the events, each with the level of its log line
   * @param {{ faults: InstanceType<typeof import('./requests/internal-errors').InternalErrors>, logger: any }} parts
   */
  constructor(levels, { faults, logger }) {
    this.#levels = levels
    this.#faults = faults
    this.#logger = logger
    this.#emitter[captureRejectionSymbol] = (error, event) => faults.report(`on ${String(event)}`, error)
  }

  on(event, listener) {
    this.#requireKnown(event)
    this.#emitter.on(event, listener)
  }

  off(event, listener) {
    this.#requireKnown(event)
    this.#emitter.off(event, listener)
  }

  emit(event, details) {
    const level = this.#levels[event]
    const fields = { event, ...withRounded(details) }
    this.#faults.guard('logger', () => this.#logger[level](fields, `spillway: ${event}`))
    this.emitWithoutLine(event, details)
  }

  /** For an event whose line is written elsewhere. */
  emitWithoutLine(event, details) {
    this.#faults.guard(`on ${event}`, () => this.#emitter.emit(event, details))
  }

  #requireKnown(event) {
    if (Object.hasOwn(this.#levels, event)) return
    throw new SpillwayError(
      'ERR_SPILLWAY_UNKNOWN_EVENT',
      `There is no event '${String(event)}'. There are: ${Object.keys(this.#levels).join(', ')}.`
    )
  }
}

module.exports = { Events }
