'use strict'
// A growing table of numbers in one Float64Array, with a row for each series. One array, so that a scrape copies all
// series at once, at one instant; doubles, so that no counter wraps.

const FIRST_ROWS = 16

class Rows {
  #width
  #length = 0
  /** Read `values[row * width + column]`; the array is replaced when the table grows. */
  values

  /** @param {number} width */
  constructor(width) {
    this.#width = width
    this.values = new Float64Array(width * FIRST_ROWS)
  }

  add() {
    const row = this.#length++
    if (this.#length * this.#width > this.values.length) {
      const grown = new Float64Array(this.values.length * 2)
      grown.set(this.values)
      this.values = grown
    }
    return row
  }

  /** @param {Float64Array} [spare] an unused older copy, overwritten and returned if it has the right length */
  copy(spare) {
    const length = this.#length * this.#width
    if (spare?.length !== length) return this.values.slice(0, length)
    spare.set(this.values.subarray(0, length))
    return spare
  }
}

exports.Rows = Rows
