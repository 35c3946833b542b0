'use strict'
// One label of `metrics.labels`: a function of the user's returns its value, stored as an index among the
// known values. A label takes a fixed number of values. Later values are folded into one and counted, so
// memory is bounded. A function that throws, or does not return a printable value, gives the empty value.

/**
 * @import { RoutedRequest, RoutedResponse } from '../route/route-state'
 * @import { InternalErrors } from '../errors/internal-errors'
 */

const MAX_LENGTH = 256
const PRINTABLE = ['number', 'boolean', 'bigint']
/** The indexes of the value that later values are folded into, and of the empty value. */
const OTHER = 0
const NONE = 1

class RequestLabel {
  name
  /** How many requests had a value that was folded. */
  folded = 0
  #valueFor
  #texts
  #indexes
  #maxTexts
  #internalErrors

  /**
   * @param {{ name: string, valueFor: import('../../../index.js').RequestLabel, other: string,
   *   maxValues: number, internalErrors: InternalErrors }} deps
   */
  constructor({ name, valueFor, other, maxValues, internalErrors }) {
    this.name = name
    this.#valueFor = valueFor
    this.#texts = [other, '']
    this.#indexes = new Map(this.#texts.map((text, index) => [text, index]))
    this.#maxTexts = maxValues + this.#texts.length
    this.#internalErrors = internalErrors
  }

  /**
   * @param {RoutedRequest} req
   * @param {RoutedResponse} res
   * @returns {number} the index of the request's value
   */
  indexOf(req, res) {
    const value = this.#valueOf(req, res)
    return this.#indexes.get(value) ?? this.#add(value)
  }

  /** @param {number} index */
  textOf(index) {
    return this.#texts[index]
  }

  /** @param {RoutedRequest} req @param {RoutedResponse} res */
  #valueOf(req, res) {
    try {
      const value = this.#valueFor(req, res)
      if (typeof value === 'string') return value.slice(0, MAX_LENGTH)
      if (PRINTABLE.includes(typeof value)) return String(value)
      if (value === undefined || value === null) return ''
      this.#internalErrors.catchRejection('metrics.labels', value)
      this.#internalErrors.report(
        'metrics.labels',
        new Error(`'${this.name}' returned ${typeof value} instead of a string`)
      )
    } catch (error) {
      this.#internalErrors.report('metrics.labels', error)
    }
    return ''
  }

  /** @param {string} value */
  #add(value) {
    // A copy, because a slice keeps its whole source string alive. Half a surrogate pair becomes U+FFFD.
    const text = Buffer.from(value).toString()
    const known = this.#indexes.get(text)
    if (known !== undefined) return known
    if (this.#texts.length >= this.#maxTexts) {
      this.folded++
      return OTHER
    }
    this.#indexes.set(text, this.#texts.length)
    return this.#texts.push(text) - 1
  }
}

exports.NONE = NONE
exports.OTHER = OTHER
exports.RequestLabel = RequestLabel
