'use strict'
// Decides which requests are left out of the metrics, of the log and of shedding: by path, by pattern, or by a function.
// Each request is matched once, when it is counted. A function that throws, or returns a promise, ignores nothing.

const { compile, isFilter } = require('../options/path-filter')

const METRICS = 1
const LOG = 2
const SHED = 4
const BITS = { metrics: METRICS, log: LOG, shed: SHED }
const PLACE = 'ignore'

class Ignore {
  /** @type {{ names: (req: any) => boolean, bits: number }[]} */
  #filters
  #faults

  /** @param {any} rules as the option `ignore` has them @param {any} faults */
  constructor(rules, faults) {
    this.#faults = faults
    this.#filters = filtersOf(rules)
  }

  // Hot path where the option is given.
  /** @returns {number} a bit for each part the request is left out of */
  of(req) {
    let found = 0
    for (const { names, bits } of this.#filters) if (this.#holds(names, req)) found |= bits
    return found
  }

  #holds(names, req) {
    try {
      return names(req)
    } catch (error) {
      this.#faults.report(PLACE, error)
      return false
    }
  }
}

/** One for the paths and patterns that are left out of the same parts, and one for each function: it may throw. */
function filtersOf(rules) {
  const ofBits = new Map()
  const filters = []
  for (const [rule, bits] of bitsByRule(rules)) {
    if (typeof rule === 'function') filters.push({ names: compile(rule), bits })
    else ofBits.set(bits, [...(ofBits.get(bits) ?? []), rule])
  }
  for (const [bits, list] of ofBits) filters.push({ names: compile(list), bits })
  return filters
}

/** A rule given for several parts is matched once. @returns {Map<any, number>} */
function bitsByRule(rules) {
  const byPart = isFilter(rules) ? { metrics: rules, log: rules, shed: rules } : rules
  const found = new Map()
  for (const [part, bit] of Object.entries(BITS)) {
    for (const rule of [byPart[part] ?? []].flat()) found.set(rule, (found.get(rule) ?? 0) | bit)
  }
  return found
}

module.exports = { Ignore, LOG, METRICS, SHED }
