'use strict'
// One label whose value a function of the user's returns, as an index among the values known so far. A label takes a fixed
// number of values; later ones are folded into one and counted. So the memory is bounded, whatever the function returns.
// A function that throws, or returns something else than a value, gives the empty value.

const LONGEST_VALUE = 256
const PRINTABLE = ['number', 'boolean', 'bigint']
/** The indexes of what stands for the rest, and of no value. */
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
      if (PRINTABLE.includes(typeof value)) return String(value)
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
