'use strict'
// Where users are: the distance between two places, and users by the cell of a map that they are in, so that
// only a few have to be looked at.

const RADIUS_METRES = 6_371_000
const CELL_DEGREES = 0.05
const METRES_PER_DEGREE = 111_195
const radians = (degrees) => (degrees * Math.PI) / 180

/** Returns the distance by the haversine formula. */
function metresBetween(a, b) {
  const north = Math.sin(radians(b.latitude - a.latitude) / 2) ** 2
  const east = Math.sin(radians(b.longitude - a.longitude) / 2) ** 2
  const share = north + Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * east
  return 2 * RADIUS_METRES * Math.asin(Math.sqrt(share))
}

const cellOf = (degrees) => Math.floor(degrees / CELL_DEGREES)

class UserGrid {
  /** @type {Map<string, any[]>} */
  #cells = new Map()

  constructor(users) {
    for (const user of users) {
      const key = `${cellOf(user.longitude)}:${cellOf(user.latitude)}`
      const cell = this.#cells.get(key)
      if (cell === undefined) this.#cells.set(key, [user])
      else cell.push(user)
    }
  }

  /** Returns everybody who may be within this number of metres, and some who are not. */
  around({ longitude, latitude }, metres) {
    const high = metres / METRES_PER_DEGREE
    const wide = high / Math.cos(radians(latitude))
    const found = []
    for (let x = cellOf(longitude - wide); x <= cellOf(longitude + wide); x++)
      for (let y = cellOf(latitude - high); y <= cellOf(latitude + high); y++)
        found.push(...(this.#cells.get(`${x}:${y}`) ?? []))
    return found
  }
}

module.exports = { metresBetween, UserGrid }
