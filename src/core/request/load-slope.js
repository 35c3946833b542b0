'use strict'
// Does a route get slower with the number of requests in flight? Behind a full pool a request waits for those
// before it, so that its duration grows in proportion. Behind a slow dependency each takes as long as any
// other. The two look the same in every mean. A regression of duration on the requests that were in flight at
// its start tells them apart. Slices of some seconds are each centred on their own means. Otherwise a
// dependency that becomes slow, and fills the process with requests, would be taken for a pool.

/** How much of the earlier slices counts when a slice ends: half of a slice is forgotten after two more. */
const KEPT = 0.7

class LoadSlope {
  #count = 0
  #others = 0
  #ms = 0
  #squares = 0
  #products = 0
  #msSquares = 0
  #kept = { count: 0, others: 0, ms: 0, squares: 0, products: 0, msSquares: 0 }

  // Hot path: once a request, eight additions and multiplications.
  /** @param {number} others @param {number} durationMs */
  record(others, durationMs) {
    this.#count++
    this.#others += others
    this.#ms += durationMs
    this.#squares += others * others
    this.#products += others * durationMs
    this.#msSquares += durationMs * durationMs
  }

  endSlice() {
    const count = this.#count
    if (count === 0 && this.#kept.count === 0) return
    const kept = this.#kept
    const perCount = count === 0 ? 0 : 1 / count
    kept.count = kept.count * KEPT + count
    kept.others = kept.others * KEPT + this.#others
    kept.ms = kept.ms * KEPT + this.#ms
    kept.squares = kept.squares * KEPT + this.#squares - this.#others ** 2 * perCount
    kept.products = kept.products * KEPT + this.#products - this.#others * this.#ms * perCount
    kept.msSquares = kept.msSquares * KEPT + this.#msSquares - this.#ms ** 2 * perCount
    if (kept.count < 1)
      Object.assign(kept, { count: 0, others: 0, ms: 0, squares: 0, products: 0, msSquares: 0 })
    this.#count = this.#others = this.#ms = this.#squares = this.#products = this.#msSquares = 0
  }

  /**
   * Slices that have ended. `elasticity`: by what share the duration grows where those in flight grow by a
   * share: 1 is in proportion, 0 not at all. `correlation`: how well that describes the requests, from -1 to
   * 1.
   */
  sample() {
    const { count, others, ms, squares, products, msSquares } = this.#kept
    if (!(squares > 0 && msSquares > 0 && ms > 0)) return { count, elasticity: 0, correlation: 0 }
    return {
      count,
      elasticity: ((products / squares) * others) / ms,
      correlation: products / Math.sqrt(squares * msSquares),
    }
  }
}

exports.LoadSlope = LoadSlope
