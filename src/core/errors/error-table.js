'use strict'
// Counts errors in bounded tables. `ErrorTable` has the errors of requests, and `ClientErrors` the data that
// was not a valid request.

const { placeInStack } = require('../stack-frames')

const MAX_ROWS = 1000
const OTHER_TYPE = '_OTHER'
/** Each of up to a thousand rows keeps a message of at most this length. */
const LONGEST_MESSAGE = 300

/**
 * Node, llhttp and OpenSSL have about a hundred codes. The bound protects against codes that other software
 * makes up.
 */
const MAX_CODES = 100
const OTHER_CODE = '(other)'
const UNKNOWN_CODE = '(unknown)'
/** A client that resets its connection is not counted, because it has only disconnected. */
const HAS_LEFT = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

/** @import { Clock } from '../clock' */

/**
 * @typedef {{ route: string, status: number, type: string, count: number, lastAtMs: number, method: string |
 *   null, message: string | null, place: string | null }} ErrorRow lastAtMs, method: of the last error;
 *   message, place: of the last error whose stack was read
 */

/**
 * Errors of requests by route, status and type. The route table bounds the routes. Status and type come from
 * the error and are unbounded. After a thousand combinations, new ones count under the overflow route and the
 * type `_OTHER`.
 */
class ErrorTable {
  /** @type {Map<string, ErrorRow>} */
  #rows = new Map()
  #otherRoute
  #clock

  /**
   * @param {string} otherRoute the route of the combinations beyond the limit
   * @param {Pick<Clock, 'wallMs'>} clock
   */
  constructor(otherRoute, clock) {
    this.#otherRoute = otherRoute
    this.#clock = clock
  }

  /**
   * @param {{ route: string, method?: string | undefined }} where
   * @param {{ status: number, type: string, message?: string, stack?: string | undefined,
   *   isDescribed?: boolean }} failure
   */
  count({ route, method = undefined }, failure) {
    const { status, type } = failure
    const row = this.#rows.get(keyOf(route, status, type)) ?? this.#open(route, status, type)
    row.count++
    row.lastAtMs = this.#clock.wallMs()
    row.method = method ?? null
    // Stacks are slow to write. So only the first error is described here, and errors that the log has
    // described already.
    if (row.count > 1 && !failure.isDescribed) return
    row.place = placeInStack(failure.stack)
    row.message = failure.message?.slice(0, LONGEST_MESSAGE) || null
  }

  /** @param {string} route @param {number} status @param {string} type */
  #open(route, status, type) {
    const isFull = this.#rows.size >= MAX_ROWS
    const row = {
      route: isFull ? this.#otherRoute : route,
      status,
      type: isFull ? OTHER_TYPE : type,
      count: 0,
      lastAtMs: 0,
      method: null,
      message: null,
      place: null,
    }
    const key = keyOf(row.route, status, row.type)
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    this.#rows.set(key, row)
    return row
  }

  /**
   * @returns {{ row: ErrorRow, count: number }[]} in the order of first occurrence; a row stays the same
   *   object
   */
  sample() {
    return Array.from(this.#rows.values(), (row) => ({ row, count: row.count }))
  }
}

/** @param {string} route @param {number} status @param {string} type */
const keyOf = (route, status, type) => `${status} ${type} ${route}`

/**
 * The `clientError` events of servers by error code. Node emits one if the data on a connection is not a
 * valid request.
 */
class ClientErrors {
  /** @type {Map<string, number>} */
  #counts = new Map()

  /** @param {{ code?: unknown } | undefined} error */
  record(error) {
    const code = typeof error?.code === 'string' ? error.code : UNKNOWN_CODE
    if (HAS_LEFT.has(code)) return
    const name = this.#counts.has(code) || this.#counts.size < MAX_CODES ? code : OTHER_CODE
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** @returns {[code: string, count: number][]} */
  list() {
    return [...this.#counts]
  }
}

exports.ClientErrors = ClientErrors
exports.ErrorTable = ErrorTable
