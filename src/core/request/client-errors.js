'use strict'
// Counts the `clientError` events of servers by error code. Node emits one if the data on a connection is not
// a valid request. A client that resets its connection is not counted, because it has only disconnected.
// Node, llhttp and OpenSSL have about a hundred codes. The bound protects against codes that other software
// makes up.

const MAX_CODES = 100
const OTHER = '(other)'
const UNKNOWN = '(unknown)'
const HAS_LEFT = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

class ClientErrors {
  /** @type {Map<string, number>} */
  #counts = new Map()

  /** @param {{ code?: unknown } | undefined} error */
  record(error) {
    const code = typeof error?.code === 'string' ? error.code : UNKNOWN
    if (HAS_LEFT.has(code)) return
    const name = this.#counts.has(code) || this.#counts.size < MAX_CODES ? code : OTHER
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** @returns {[code: string, count: number][]} */
  list() {
    return [...this.#counts]
  }
}

exports.ClientErrors = ClientErrors
