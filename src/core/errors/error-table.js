'use strict'
// Counts errors by route, status and type. The route table bounds the routes. Status and type come from the error and are
// unbounded: after a thousand combinations, new ones are counted under the overflow route and the type `_OTHER`.

const { placeInStack } = require('../stack-frames')

const MOST_ROWS = 1000
const OTHER_TYPE = '_OTHER'

/**
 * @typedef {{ route: string, status: number, type: string, count: number, place: string | null }} ErrorRow `place`: where the last of
 *   them was thrown, as far as stacks were read
 */

class ErrorTable {
  /** @type {Map<string, ErrorRow>} */
  #rows = new Map()
  #otherRoute

  /** @param {string} otherRoute the route of the combinations beyond the limit */
  constructor(otherRoute) {
    this.#otherRoute = otherRoute
  }

  /**
   * @param {string} route
   * @param {{ status: number, type: string, stack?: string | undefined, isDescribed?: boolean }} failure
   */
  count(route, failure) {
    const { status, type } = failure
    const row = this.#rows.get(keyOf(route, status, type)) ?? this.#open(route, status, type)
    row.count++
    // Stacks are slow to write: that of the first, and those that the log has written.
    if (row.count === 1 || failure.isDescribed) row.place = placeInStack(failure.stack)
  }

  /** @param {string} route @param {number} status @param {string} type */
  #open(route, status, type) {
    const isFull = this.#rows.size >= MOST_ROWS
    const row = {
      route: isFull ? this.#otherRoute : route,
      status,
      type: isFull ? OTHER_TYPE : type,
      count: 0,
      place: null,
    }
    const key = keyOf(row.route, status, row.type)
    const known = this.#rows.get(key)
    if (known !== undefined) return known
    this.#rows.set(key, row)
    return row
  }

  /** @returns {{ row: ErrorRow, count: number }[]} in the order of first occurrence; a row stays the same object */
  sample() {
    return Array.from(this.#rows.values(), (row) => ({ row, count: row.count }))
  }
}

/** @param {string} route @param {number} status @param {string} type */
const keyOf = (route, status, type) => `${status} ${type} ${route}`

exports.ErrorTable = ErrorTable
