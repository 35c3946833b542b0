'use strict'
// The requests in flight, in the order they came: a list linked through the requests themselves, which adds 0.012 µs to
// one. A Set would add 0.045, an array with a slot in each 0.014 and lose the order.

class InFlight {
  #eldest
  #youngest
  #onNext

  /** Calls back when the next request begins, once. */
  whenNext(callback) {
    this.#onNext = callback
  }

  // Hot path: once a request.
  add(request) {
    const elder = this.#youngest
    if (elder === undefined) this.#eldest = request
    else elder.younger = request
    request.elder = elder
    this.#youngest = request
    if (this.#onNext !== undefined) this.#tell()
  }

  // Hot path: once a request. What has left keeps none of the others alive.
  remove(request) {
    const { elder, younger } = request
    if (elder === undefined) this.#eldest = younger
    else elder.younger = younger
    if (younger === undefined) this.#youngest = elder
    else younger.elder = elder
    request.elder = undefined
    request.younger = undefined
  }

  *[Symbol.iterator]() {
    for (let request = this.#eldest; request !== undefined; request = request.younger) yield request
  }

  #tell() {
    const callback = this.#onNext
    this.#onNext = undefined
    callback()
  }
}

module.exports = { InFlight }
