'use strict'
// Calls the user's functions that shape the access log: `fields`, `level` and `ignore`. A function may throw,
// or return a promise or a value of the wrong type. Every mistake is counted, and the first is logged. The
// line is then written as if the function were not set.

const { compile } = require('../options/path-filter')
const { OwnLogger } = require('./own-logger')

/**
 * @import { AccessLogLevel, AccessLogOptions } from '../../../index.js'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { RequestRecord } from '../request/request-record'
 * @import { Level, Log } from './logger'
 */

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']
const SILENT = 'silent'
/**
 * Keys that the logger writes itself. If a line had one of these keys twice, the user's value would override
 * the logger's.
 */
const LOGGER_KEYS = ['level', 'time', 'pid', 'hostname', 'component']

/** @param {{ then?: unknown } | null} value */
const isPlainObject = (value) =>
  typeof value === 'object' && value !== null && typeof value.then !== 'function'

/** @param {object} given */
function withoutLoggerKeys(given) {
  /** @type {Record<string, unknown>} */
  const fields = { ...given }
  for (const key of LOGGER_KEYS) delete fields[key]
  return fields
}

class AccessHooks {
  #fields
  #level
  #ignores
  #internalErrors
  #logger

  /**
   * @param {AccessLogOptions} options
   * @param {{ internalErrors: InternalErrors, logger: Log }} deps
   */
  constructor({ fields, level, ignore }, { internalErrors, logger }) {
    this.#fields = fields
    this.#level = level
    this.#ignores = ignore === undefined ? undefined : compile(ignore)
    this.#internalErrors = internalErrors
    this.#logger = logger
  }

  get hasFields() {
    return this.#fields !== undefined
  }

  /** @param {RequestRecord} request @returns {boolean} whether the request gets no line */
  ignores({ req, res }) {
    const ignores = this.#ignores
    return ignores !== undefined && this.#call('log.access.ignore', () => ignores(req, res)) === true
  }

  /**
   * @param {RequestRecord} request
   * @param {Level} usual the level without a `level` function
   * @returns {AccessLogLevel} `silent` for no line
   */
  levelOf({ req, res }, usual) {
    const level = this.#level
    if (level === undefined) return usual
    const name = this.#call('log.access.level', () => level(req, res))
    if (name === undefined || name === SILENT) return name ?? usual
    if (LEVELS.includes(name) && this.#hasLevel(name)) return name
    const mistake =
      typeof name === 'string' ? `'${name}' is not a level of this logger` : `it returned ${typeof name}`
    this.#reportResult('log.access.level', name, `${mistake}; the line keeps its usual level`)
    return usual
  }

  /** @param {Level} name */
  #hasLevel(name) {
    return this.#logger instanceof OwnLogger || typeof this.#logger[name] === 'function'
  }

  /** @param {RequestRecord} request @returns {object | null | undefined} */
  fieldsOf({ req, res }) {
    const fields = this.#fields
    if (fields === undefined) return undefined
    return this.#call('log.access.fields', () => {
      const given = fields(req, res)
      if (given === undefined || given === null) return given
      if (isPlainObject(given)) return withoutLoggerKeys(given)
      const type = typeof given === 'object' ? 'a promise' : typeof given
      this.#reportResult('log.access.fields', given, `it must return an object, but returned ${type}`)
      return undefined
    })
  }

  /**
   * @template Result
   * @param {string} place
   * @param {() => Result} callback
   */
  #call(place, callback) {
    try {
      return callback()
    } catch (error) {
      this.#internalErrors.report(place, error)
      return undefined
    }
  }

  /** @param {string} place @param {unknown} value @param {string} message */
  #reportResult(place, value, message) {
    this.#internalErrors.report(place, new Error(message))
    // If the value is a promise, its rejection must be handled.
    this.#internalErrors.catchRejection(place, value)
  }
}

exports.AccessHooks = AccessHooks
