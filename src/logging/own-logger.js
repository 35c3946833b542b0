'use strict'
// A pino of our own, for an application that gives none, or options alone: made when the first line is written, since a
// script that only loads the application writes none. If its file fails it is given up, and the next line makes another.
//
// Without options it is silent under a test runner, where its lines would stand between results, and written for a person
// on a terminal.
//
// A line of the access log is an object already. Without options it is written by one `JSON.stringify`: the same line as
// pino's own way makes, which is prepared for every option there is (2.0 µs of a line's 2.7 on Node 24).

const os = require('node:os')
const { isTested } = require('../environment/deployment')
const { SpillwayError } = require('../errors')
const { LogDestination } = require('./log-destination')
const { prettyFormat } = require('./pretty-lines')

const SILENT = { isLevelEnabled: () => false, info() {}, warn() {}, error() {} }

class OwnLogger {
  #options
  #parts
  #childOf
  #current

  /**
   * @param {object | undefined} options for pino
   * @param {{ clock: any, onError: (error: Error) => void }} parts told when it cannot write
   * @param {(logger: any) => any} childOf
   */
  constructor(options, { clock, onError }, childOf) {
    this.#options = options
    this.#childOf = childOf
    this.#parts = {
      clock,
      onError: (error) => {
        this.#current = undefined
        onError(error)
      },
    }
  }

  isLevelEnabled(level) {
    return this.#pino.isLevelEnabled(level)
  }

  info(fields, message) {
    this.#pino.info(fields, message)
  }

  warn(fields, message) {
    this.#pino.warn(fields, message)
  }

  error(fields, message) {
    this.#pino.error(fields, message)
  }

  /** @param {string} level any of pino's */
  log(level, fields, message) {
    this.#pino[level](fields, message)
  }

  // Hot path where there is an access log: bench/access-log.js.
  /** @param {string} level any of pino's @param {any} line which is given its message */
  write(level, line, message) {
    const { pino, destination, values, bindings } = (this.#current ??= this.#make())
    if (bindings === undefined) return pino[level](line, message)
    line.msg = message
    destination.lastLevel = values[level]
    const wallMs = this.#parts.clock.wallMs()
    destination.write(
      `{"level":${values[level]},"time":${wallMs},${bindings},${JSON.stringify(line).slice(1)}\n`
    )
  }

  get #pino() {
    return (this.#current ??= this.#make()).pino
  }

  #make() {
    const options = this.#options
    if (options === undefined && isTested()) return { pino: SILENT }
    const pino = require('pino')
    try {
      if (options?.transport !== undefined)
        return { pino: this.#childOf(pino({ name: 'spillway', ...options })) }
      const format = options === undefined ? prettyFormat() : undefined
      const destination = new LogDestination(pino, { ...this.#parts, format })
      const made = this.#childOf(pino({ name: 'spillway', ...options }, destination))
      if (options !== undefined) return { pino: made }
      // What pino says of the process it leaves out of `bindings()`.
      const bindings = { pid: process.pid, hostname: os.hostname(), ...made.bindings() }
      return {
        pino: made,
        destination,
        values: pino.levels.values,
        bindings: JSON.stringify(bindings).slice(1, -1),
      }
    } catch (error) {
      const { message } = /** @type {Error} */ (error)
      throw new SpillwayError(
        'ERR_SPILLWAY_OPTION_VALUE',
        `\`logger\` must be an object of options that pino takes: it says '${message}'.`
      )
    }
  }
}

module.exports = { OwnLogger, SILENT }
