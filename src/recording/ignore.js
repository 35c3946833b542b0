'use strict'
// Decides which requests are left out of the metrics, of the log and of shedding: by path, by pattern, or by a function.
// Each request is matched once, when it is counted. A function that throws, or returns a promise, ignores nothing.

const { pathnameOf } = require('../routing/url-path')

const METRICS = 1
const LOG = 2
const SHED = 4
const BITS = { metrics: METRICS, log: LOG, shed: SHED }
const PLACE = 'ignore'

class Ignore {
  /** @type {Map<string, number>} */
  #paths = new Map()
  /** @type {{ pattern: RegExp, bits: number }[]} */
  #patterns = []
  /** @type {{ ask: (req: any) => unknown, bits: number }[]} */
  #functions = []
  #faults

  /** @param {any} rules as the option `ignore` has them @param {any} faults */
  constructor(rules, faults) {
    this.#faults = faults
    for (const [rule, bits] of bitsByRule(rules)) {
      if (typeof rule === 'string') this.#paths.set(rule, bits)
      else if (typeof rule === 'function') this.#functions.push({ ask: rule, bits })
      else this.#patterns.push({ pattern: stateless(rule), bits })
    }
  }

  // Hot path where the option is given.
  /** @returns {number} a bit for each part the request is left out of */
  of(req) {
    const url = req.originalUrl ?? req.url
    const path = typeof url === 'string' ? pathnameOf(url) : ''
    let found = this.#paths.get(path) ?? 0
    for (const { pattern, bits } of this.#patterns) if (pattern.test(path)) found |= bits
    for (const { ask, bits } of this.#functions) if (this.#says(ask, req)) found |= bits
    return found
  }

  #says(ask, req) {
    try {
      const answer = ask(req)
      if (!this.#faults.heed(PLACE, answer)) return Boolean(answer)
      this.#faults.report(PLACE, new Error('it returned a promise, which is not awaited'))
    } catch (error) {
      this.#faults.report(PLACE, error)
    }
    return false
  }
}

/** A rule given for several parts is matched once. @returns {Map<any, number>} */
function bitsByRule(rules) {
  const isForAll = typeof rules === 'string' || typeof rules === 'function' || !isByPart(rules)
  const byPart = isForAll ? { metrics: rules, log: rules, shed: rules } : rules
  const found = new Map()
  for (const [part, bit] of Object.entries(BITS)) {
    for (const rule of [byPart[part] ?? []].flat()) found.set(rule, (found.get(rule) ?? 0) | bit)
  }
  return found
}

const isByPart = (rules) => !Array.isArray(rules) && typeof rules.exec !== 'function'

/** With the flag `g` or `y` a pattern would start where it last matched. */
const stateless = ({ source, flags }) => new RegExp(source, flags.replace(/[gy]/g, ''))

module.exports = { Ignore, LOG, METRICS, SHED }
