'use strict'
// What async contexts hold in place of a request. A connection in a pool, or a timer, keeps the context in which it was made for as
// long as it lives. So the context lets go of the request when that has ended, and keeps its route.

const { METHODS } = require('./methods')

class RequestReference {
  /** Undefined once the request has ended. @type {any} */
  request
  #method = ''
  /** @type {string | undefined} */
  #route

  /** @param {any} request */
  constructor(request) {
    this.request = request
  }

  get method() {
    return this.request === undefined ? this.#method : METHODS[this.request.method]
  }

  /** @returns {string | undefined} undefined where no route has the request yet, or it was never recorded */
  get route() {
    const { request } = this
    return request === undefined ? this.#route : (request.recorder.describe(request).route ?? undefined)
  }

  /** @param {{ route: string } | undefined} series where the request was recorded */
  end(series) {
    this.#method = this.method
    this.#route = series?.route ?? this.route
    this.request = undefined
  }
}

module.exports = { RequestReference }
