'use strict'
// Any other pool, with figures that the user gives: numbers, or functions that return numbers. The figures
// are read at each scrape, and ten times a second while the loop is active. The reader cannot wait, so a
// promise counts as 0 and is reported as an internal error.

const { numberOf } = require('../pool-values')

/**
 * @import { PoolFigures } from '../../../../index.js'
 * @import { PoolRecord } from '../pool-record'
 */

const NAMES = ['size', 'idle', 'waiting']

class GivenFigures {
  isTimed = false
  #given
  #internalErrors
  #isReported = false

  /** @param {PoolFigures} given @param {PoolRecord} record */
  constructor(given, { internalErrors }) {
    this.#given = given
    this.#internalErrors = internalErrors
  }

  /** @param {keyof PoolFigures} name */
  #read(name) {
    const value = this.#given[name]
    const figure = typeof value === 'function' ? value.call(this.#given) : value
    return this.#internalErrors.catchRejection('pools', figure) ? this.#onPromise(name) : numberOf(figure)
  }

  /** @param {string} name */
  #onPromise(name) {
    if (!this.#isReported)
      this.#internalErrors.report(
        'pools',
        new TypeError(`\`${name}\` of a pool is a promise: a number is needed`)
      )
    this.#isReported = true
    return 0
  }

  get max() {
    return this.#given.max === undefined ? 0 : this.#read('max')
  }

  get waiting() {
    return this.#read('waiting')
  }

  figures() {
    const idle = this.#read('idle')
    return { used: this.#read('size') - idle, idle, waiting: this.waiting, max: this.max }
  }

  close() {}
}

/**
 * Names the figures that an object lacks, for an error message. Returns undefined for an object with none of
 * the figures.
 *
 * @param {Record<string, unknown>} given
 */
function missingIn(given) {
  const missing = NAMES.filter((name) => !isFigure(given[name]))
  return missing.length < NAMES.length ? missing.join(' and ') : undefined
}

/** @param {unknown} value */
const isFigure = (value) => typeof value === 'number' || typeof value === 'function'

module.exports = {
  kind: /** @type {const} */ ('given'),
  accepts: 'an object { size, idle, waiting, max? } of numbers or functions',
  /** @param {Record<string, unknown>} given */
  find: (given) => (NAMES.every((name) => isFigure(given[name])) ? given : undefined),
  Adapter: GivenFigures,
  missingIn,
}
