'use strict'
// The errors this package throws at its user. Match on `code`: it is stable, the sentence is not.
// Every message says what is wrong, what was given and what to do.

class SpillwayError extends Error {
  /**
   * @param {import('../index.js').ErrorCode} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

Object.defineProperty(SpillwayError.prototype, 'name', { value: 'SpillwayError' })

module.exports = { SpillwayError }
