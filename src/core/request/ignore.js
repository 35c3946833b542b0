'use strict'
// Which requests the option `ignore` leaves out of the metrics, the log and shedding: by path, pattern or
// function. Each request is matched once, when it is counted. A function that throws or returns a promise
// ignores nothing. A function gets Node's request. In an app that begins with the middleware, a function gets
// Express's request, except for upgrades (core/http/early-entry.js).

const { compile, isFilter } = require('../options/path-filter')

/**
 * @import { IncomingMessage } from 'node:http'
 * @import { IgnoreOptions, IgnoreRule, IgnoreRules } from '../../../index.js'
 * @import { InternalErrors } from '../errors/internal-errors'
 * @typedef {{ matches: (req: IncomingMessage) => boolean, bits: number }} Filter
 */

const IGNORE_METRICS = 1
const IGNORE_LOG = 2
const IGNORE_SHED = 4
const BITS = { metrics: IGNORE_METRICS, log: IGNORE_LOG, shed: IGNORE_SHED }
const PLACE = 'ignore'

class Ignore {
  #filters
  #internalErrors
  /** Whether a function of the user is called. */
  callsFunctions

  /**
   * @param {IgnoreRules | IgnoreOptions} rules
   * @param {InternalErrors} internalErrors
   */
  constructor(rules, internalErrors) {
    this.#internalErrors = internalErrors
    this.#filters = filtersOf(rules)
    this.callsFunctions = [...bitsByRule(rules).keys()].some((rule) => typeof rule === 'function')
  }

  // Hot path if the option is set.
  /** @param {IncomingMessage} req @returns {number} a bit for each part the request is left out of */
  of(req) {
    let found = 0
    for (const { matches, bits } of this.#filters) if (this.#isMatch(matches, req)) found |= bits
    return found
  }

  /** @param {Filter['matches']} matches @param {IncomingMessage} req */
  #isMatch(matches, req) {
    try {
      return matches(req)
    } catch (error) {
      this.#internalErrors.report(PLACE, error)
      return false
    }
  }
}

/**
 * Merges the paths and patterns of the same parts into one filter. Each function has a separate filter,
 * because it may throw.
 *
 * @param {IgnoreRules | IgnoreOptions} rules
 */
function filtersOf(rules) {
  /** @type {Map<number, IgnoreRule[]>} */
  const ofBits = new Map()
  /** @type {Filter[]} */
  const filters = []
  for (const [rule, bits] of bitsByRule(rules)) {
    if (typeof rule === 'function') filters.push({ matches: compile(rule), bits })
    else ofBits.set(bits, [...(ofBits.get(bits) ?? []), rule])
  }
  for (const [bits, list] of ofBits) filters.push({ matches: compile(list), bits })
  return filters
}

/**
 * A rule that is given for several parts is matched once.
 * @param {IgnoreRules | IgnoreOptions} rules
 */
function bitsByRule(rules) {
  const byPart = /** @type {Record<string, IgnoreRules | undefined>} */ (
    isFilter(rules) ? { metrics: rules, log: rules, shed: rules } : rules
  )
  /** @type {Map<IgnoreRule, number>} */
  const found = new Map()
  for (const [part, bit] of Object.entries(BITS)) {
    for (const rule of [byPart[part] ?? []].flat()) found.set(rule, (found.get(rule) ?? 0) | bit)
  }
  return found
}

exports.Ignore = Ignore
exports.IGNORE_LOG = IGNORE_LOG
exports.IGNORE_METRICS = IGNORE_METRICS
exports.IGNORE_SHED = IGNORE_SHED
