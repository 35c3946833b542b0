'use strict'
// The labels that the user's functions give a request, as indexes of the values known so far. Each label takes so many
// values; any later one is folded into one, and counted. So whatever the functions return, the memory is bounded.
// A function that throws, or returns what is no value, gives none: an empty label.

const LONGEST_VALUE = 256
const OTHER = 0
const NONE = 1

class RequestLabel {
  name
  /** How many requests had a value that is not shown. */
  folded = 0
  #ask
  #texts
  #indexes
  #most
  #faults

  /** @param {{ name: string, ask: Function, other: string, most: number, faults: any }} parts */
  constructor({ name, ask, other, most, faults }) {
    this.name = name
    this.#ask = ask
    this.#texts = [other, '']
    this.#indexes = new Map(this.#texts.map((text, index) => [text, index]))
    this.#most = most + this.#texts.length
    this.#faults = faults
  }

  /** @returns {number} the index of its value */
  indexOf(req, res) {
    const value = this.#valueOf(req, res)
    return this.#indexes.get(value) ?? this.#admit(value)
  }

  textOf(index) {
    return this.#texts[index]
  }

  #valueOf(req, res) {
    try {
      const value = this.#ask(req, res)
      if (typeof value === 'string') return value.slice(0, LONGEST_VALUE)
      if (typeof value === 'number' || typeof value === 'boolean') return String(value)
      if (value === undefined || value === null) return ''
      this.#faults.heed('metrics.labels', value)
      this.#faults.report(
        'metrics.labels',
        new Error(`'${this.name}' returned ${typeof value}, and not a string`)
      )
    } catch (error) {
      this.#faults.report('metrics.labels', error)
    }
    return ''
  }

  #admit(value) {
    // A copy: what was cut out of a longer text would keep all of that. Half a surrogate pair becomes U+FFFD.
    const text = Buffer.from(value).toString()
    const known = this.#indexes.get(text)
    if (known !== undefined) return known
    if (this.#texts.length >= this.#most) {
      this.folded++
      return OTHER
    }
    this.#indexes.set(text, this.#texts.length)
    return this.#texts.push(text) - 1
  }
}

module.exports = { NONE, OTHER, RequestLabel }
