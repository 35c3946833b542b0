'use strict'
// Calls the user's functions `classify`, `key` and `shortage`. Features use `callForNumber` for functions of
// the user that return a number. No error of such a function reaches the gate. An error, a promise or a
// value of the wrong type is reported, and the default is used.

const { SAMPLE_MS } = require('./measurements/loop-turns')
const { NORMAL, priorityIndex } = require('./decision')

/**
 * @import { IncomingHttpHeaders } from 'node:http'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { RequestRecord } from '../request/request-record'
 * @import { ShedFunction } from '../../../index.js'
 * @import { ShedOptions } from './admission'
 */

class UserHooks {
  /** Whether `classify` is given: without it every request is `normal`. */
  classifies = false
  /** The last value of `shortage()`, from 0 to 1; 0 without one. */
  shortage = 0
  #shortageMs = 0
  /**
   * The function made from `classify: { header, ... }`.
   *
   * @type {((headers: IncomingHttpHeaders) => number) | undefined}
   */
  #classByHeaders
  /** @type {ShedOptions | undefined} */
  #options
  #internalErrors

  /** @param {InternalErrors} internalErrors */
  constructor(internalErrors) {
    this.#internalErrors = internalErrors
  }

  /** @param {ShedOptions} options */
  update(options) {
    this.#options = options
    const { classify } = options
    this.classifies = classify !== undefined
    this.#classByHeaders =
      typeof classify === 'object' ? require('./class-presets').classesBy(classify) : undefined
    if (options.shortage === undefined) this.shortage = 0
  }

  /**
   * @param {import('../../../index.js').Request} req
   * @returns {number} an index into PRIORITIES; `normal` for any value that is not a class
   */
  classOf(req) {
    if (this.#classByHeaders !== undefined) return this.#classByHeaders(req.headers)
    const classify = /** @type {ShedFunction<unknown>} */ (
      /** @type {ShedOptions} */ (this.#options).classify
    )
    return (
      this.#call('shed.classify', () => {
        const name = classify(req)
        return (
          priorityIndex(name) ??
          this.#reportInvalid(
            'shed.classify',
            name,
            `it returned '${String(name)}', which is not a class of requests (critical, high, normal, low, bypass)`
          )
        )
      }) ?? NORMAL
    )
  }

  /**
   * The key whose share a request counts against; undefined if the option is not given.
   * @param {RequestRecord} request
   * @param {import('../../../index.js').LimitOptions['key']} [ofLimit] the option `key` of `limit()`, which
   *   replaces `shed.key`
   * @param {import('koa').Context} [ctx] the context of Koa, which the `key` of `limit()` gets
   */
  keyOf({ req }, ofLimit, ctx) {
    const key = ofLimit ?? /** @type {ShedOptions} */ (this.#options).key
    if (key === undefined) return undefined
    const option = ofLimit === undefined ? 'shed.key' : 'limit.key'
    const name = this.#call(option, () => key(req, ctx))
    if (typeof name === 'string') return name
    if (name !== undefined && name !== null)
      this.#reportInvalid(option, name, `it returned ${typeof name}, not a string`)
    return ''
  }

  /** @param {number} nowMs */
  onTurn(nowMs) {
    const { shortage } = /** @type {ShedOptions} */ (this.#options)
    if (shortage === undefined || nowMs - this.#shortageMs < SAMPLE_MS) return
    this.#shortageMs = nowMs
    this.shortage = Math.min(
      1,
      Math.max(0, callForNumber(this.#internalErrors, 'shed.shortage', shortage) ?? 0)
    )
  }

  /** @template T @param {string} option @param {() => T} callback */
  #call(option, callback) {
    return call(this.#internalErrors, option, callback)
  }

  /** @param {string} option @param {unknown} value @param {string} message */
  #reportInvalid(option, value, message) {
    return reportInvalid(this.#internalErrors, option, value, message)
  }
}

/**
 * @param {InternalErrors} internalErrors @param {string} option @param {() => unknown} callback
 * @returns {number | undefined} undefined if the callback does not return a number
 */
function callForNumber(internalErrors, option, callback) {
  const value = call(internalErrors, option, callback)
  if (typeof value === 'number') return Number.isNaN(value) ? undefined : value
  // `undefined` and `null` are not reported: the function may read a header that is missing.
  if (value !== undefined && value !== null)
    reportInvalid(internalErrors, option, value, `it returned ${typeof value}, not a number`)
  return undefined
}

/** @template T @param {InternalErrors} internalErrors @param {string} option @param {() => T} callback */
function call(internalErrors, option, callback) {
  try {
    return callback()
  } catch (error) {
    internalErrors.report(option, error)
    return undefined
  }
}

/**
 * @param {InternalErrors} internalErrors
 * @param {string} option
 * @param {unknown} value
 * @param {string} message
 * @returns {undefined}
 */
function reportInvalid(internalErrors, option, value, message) {
  internalErrors.report(option, new Error(message))
  // The rejection of a promise would end the process.
  internalErrors.catchRejection(option, value)
}

exports.UserHooks = UserHooks
exports.callForNumber = callForNumber
