'use strict'
// Measures whether a route gets slower with the number of requests in flight. Behind a full pool a request
// waits for the requests before it, so its duration grows in proportion to their number. Behind a slow
// dependency, each request takes as long as any other. Means cannot tell the two apart. A regression can: of
// duration on the number of requests in flight when the request began. It is computed over slices of some
// seconds, and each slice is centred on its own means. Otherwise a dependency that becomes slow, and so fills
// the process with requests, would look like a full pool.
//
// The duration of an aborted request is only a lower bound: the timeout of its client. Such requests are not
// in the regression, because they all take equally long. A slice with such requests replaces less of the
// earlier slices: while nobody is answered, the last known slope stays.

/**
 * The weight that earlier slices keep when a slice ends. After two more slices, a slice has half of its
 * weight.
 */
const KEPT = 0.7

class LoadSlope {
  #count = 0
  #others = 0
  #ms = 0
  #squares = 0
  #products = 0
  #msSquares = 0
  #unanswered = 0
  #kept = { count: 0, others: 0, ms: 0, squares: 0, products: 0, msSquares: 0 }

  // Hot path, once a request (bench/overhead). Eight additions and multiplications.
  /** @param {number} others @param {number} durationMs */
  record(others, durationMs) {
    this.#count++
    this.#others += others
    this.#ms += durationMs
    this.#squares += others * others
    this.#products += others * durationMs
    this.#msSquares += durationMs * durationMs
  }

  /**
   * Counts a request that ended before its answer. If it was shorter than the mean, it says nothing about the
   * duration: its client only cancelled it.
   *
   * @param {number} durationMs
   */
  recordUnanswered(durationMs) {
    const { count, ms } = this.#kept
    if (durationMs * count >= ms) this.#unanswered++
  }

  endSlice() {
    const count = this.#count
    const unanswered = this.#unanswered
    this.#unanswered = 0
    if (count === 0 && this.#kept.count === 0) return
    const kept = this.#kept
    const perCount = count === 0 ? 0 : 1 / count
    const weight = count + unanswered === 0 ? KEPT : KEPT ** (count / (count + unanswered))
    kept.count = kept.count * weight + count
    kept.others = kept.others * weight + this.#others
    kept.ms = kept.ms * weight + this.#ms
    kept.squares = kept.squares * weight + this.#squares - this.#others ** 2 * perCount
    kept.products = kept.products * weight + this.#products - this.#others * this.#ms * perCount
    kept.msSquares = kept.msSquares * weight + this.#msSquares - this.#ms ** 2 * perCount
    if (kept.count < 1)
      Object.assign(kept, { count: 0, others: 0, ms: 0, squares: 0, products: 0, msSquares: 0 })
    this.#count = this.#others = this.#ms = this.#squares = this.#products = this.#msSquares = 0
  }

  /**
   * Figures of the slices that have ended. `elasticity`: relative growth of the duration, divided by relative
   * growth of the requests in flight. 1: the duration grows in proportion. 0: the duration does not grow.
   * `correlation`: how well `elasticity` describes the requests, from -1 to 1.
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
