'use strict'
// The functions of the user's that shape the access log: `fields`, `level` and `ignore`. None of them can throw into it: an
// error, a promise or a value of the wrong kind is counted and reported once, and the line is what it would be without.

const { compile } = require('../options/path-filter')
const { OwnLogger } = require('./own-logger')

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']
const SILENT = 'silent'
/** Keys that a logger writes by itself: a second one in the line would win. */
const OF_LOGGER = ['level', 'time', 'pid', 'hostname', 'component']

const isPlainObject = (value) =>
  typeof value === 'object' && value !== null && typeof value.then !== 'function'

function withoutLoggers(given) {
  const fields = { ...given }
  for (const key of OF_LOGGER) delete fields[key]
  return fields
}

class AccessHooks {
  #fields
  #level
  #ignores
  #faults
  #logger

  /**
   * @param {import('../../index.js').AccessLogOptions} options
   * @param {{ faults: any, logger: any }} parts
   */
  constructor({ fields, level, ignore }, { faults, logger }) {
    this.#fields = fields
    this.#level = level
    this.#ignores = ignore === undefined ? undefined : compile(ignore)
    this.#faults = faults
    this.#logger = logger
  }

  get hasFields() {
    return this.#fields !== undefined
  }

  /** @returns {boolean} whether the request has no line */
  ignores({ req }) {
    const ignores = this.#ignores
    return ignores !== undefined && this.#ask('log.access.ignore', () => ignores(req)) === true
  }

  /** @returns {string} `silent` for no line */
  levelOf({ req, res }, usual) {
    const level = this.#level
    if (level === undefined) return usual
    const name = this.#ask('log.access.level', () => level(req, res))
    if (name === undefined || name === SILENT) return name ?? usual
    if (LEVELS.includes(name) && this.#hasLevel(name)) return name
    const what =
      typeof name === 'string' ? `'${name}' is no level of this logger` : `it returned ${typeof name}`
    this.#complain('log.access.level', name, `${what}; the line has its usual level`)
    return usual
  }

  #hasLevel(name) {
    return this.#logger instanceof OwnLogger || typeof this.#logger[name] === 'function'
  }

  /** @returns {object | null | undefined} */
  fieldsOf({ req, res }) {
    const fields = this.#fields
    if (fields === undefined) return undefined
    return this.#ask('log.access.fields', () => {
      const given = fields(req, res)
      if (given === undefined || given === null) return given
      if (isPlainObject(given)) return withoutLoggers(given)
      const what = typeof given === 'object' ? 'a promise' : typeof given
      this.#complain('log.access.fields', given, `it returned ${what}, and not an object`)
      return undefined
    })
  }

  #ask(place, callback) {
    try {
      return callback()
    } catch (error) {
      this.#faults.report(place, error)
      return undefined
    }
  }

  #complain(place, value, message) {
    this.#faults.report(place, new Error(message))
    // A promise would reject unseen.
    this.#faults.heed(place, value)
  }
}

module.exports = { AccessHooks }
