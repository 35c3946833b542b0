'use strict'
// What came that was no request: `clientError` of a server, by the error's code. The codes are Node's, llhttp's and
// OpenSSL's, some hundred in all; the bound is for what else may put one on an error.

const MOST_CODES = 100
const OTHER = '(other)'
const UNKNOWN = '(unknown)'

class ClientErrors {
  #counts = new Map()

  note(error) {
    const code = typeof error?.code === 'string' ? error.code : UNKNOWN
    const name = this.#counts.has(code) || this.#counts.size < MOST_CODES ? code : OTHER
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** @returns {[code: string, count: number][]} */
  list() {
    return [...this.#counts]
  }
}

module.exports = { ClientErrors }
