'use strict'
// What an instance, or a primary, tells its user while it runs: a line in the log, and an event for whoever listens. A logger
// or a listener that throws, or rejects, is counted and ends nothing. To listen for an unknown event is refused: a typo
// would wait for ever.

const { EventEmitter, captureRejectionSymbol } = require('node:events')
const { withRounded } = require('./durations')
const { SpillwayError } = require('./errors')

class Events {
  #levels
  #faults
  #logger
  // Each stream may listen to `draining`: more than ten listeners are no leak.
  #emitter = new EventEmitter({ captureRejections: true }).setMaxListeners(0)

  /**
   * @param {Readonly<Record<string, 'info' | 'warn' | 'error'>>} levels of the line of each event
   * @param {{ faults: any, logger: any }} parts
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

  tell(event, details) {
    const level = this.#levels[event]
    const fields = { event, ...withRounded(details) }
    this.#faults.guard('logger', () => this.#logger[level](fields, `spillway: ${event}`))
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
