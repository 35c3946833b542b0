'use strict'
// Any other pool, by figures that the user gives: numbers or functions, read at each scrape.

const NAMES = ['size', 'idle', 'waiting']

class GivenFigures {
  isTimed = false
  #given

  constructor(given) {
    this.#given = given
  }

  #read(name) {
    const value = this.#given[name]
    const number = Number(typeof value === 'function' ? value.call(this.#given) : value)
    return Number.isFinite(number) ? number : 0
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

/** What is missing in an object that has some of the figures, for the message of an error; else undefined. */
function missingIn(given) {
  const missing = NAMES.filter((name) => !isFigure(given[name]))
  return missing.length < NAMES.length ? missing.join(' and ') : undefined
}

const isFigure = (value) => typeof value === 'number' || typeof value === 'function'

module.exports = {
  kind: 'given',
  accepts: 'an object { size, idle, waiting, max? } of numbers or functions',
  find: (given) => (NAMES.every((name) => isFigure(given[name])) ? given : undefined),
  Adapter: GivenFigures,
  missingIn,
}
