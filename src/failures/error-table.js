'use strict'
// Errors by route, status and type. Routes are bounded by their own table, but a status and a type are whatever an error
// says: past a thousand combinations, route and type are folded.

const MOST_ROWS = 1000
const OTHER_TYPE = '_OTHER'

class ErrorTable {
  #rows = new Map()
  #otherRoute

  /** @param {string} otherRoute the route of what is folded */
  constructor(otherRoute) {
    this.#otherRoute = otherRoute
  }

  /**
   * @param {string} route
   * @param {{ status: number, type: string }} failure
   */
  count(route, { status, type }) {
    const row = this.#rows.get(keyOf(route, status, type)) ?? this.#open(route, status, type)
    row.count++
  }

  #open(route, status, type) {
    const isFolded = this.#rows.size >= MOST_ROWS
    const row = {
      route: isFolded ? this.#otherRoute : route,
      status,
      type: isFolded ? OTHER_TYPE : type,
      count: 0,
    }
    const key = keyOf(row.route, status, row.type)
    if (isFolded && this.#rows.has(key)) return this.#rows.get(key)
    this.#rows.set(key, row)
    return row
  }

  /** @returns {{ row: any, count: number }[]} in the order first seen; a row stays the same object */
  sample() {
    return Array.from(this.#rows.values(), (row) => ({ row, count: row.count }))
  }
}

const keyOf = (route, status, type) => `${status} ${type} ${route}`

module.exports = { ErrorTable }
