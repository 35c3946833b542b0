'use strict'
// What is open now: sockets, or sessions, each kept until its `close`, with one number beside it.

class OpenSet {
  #sinceMs = new Map()
  #forget

  constructor() {
    const sinceMs = this.#sinceMs
    /** @this {any} one listener for all: a closure a connection would be paid for by every connection */
    this.#forget = function forget() {
      sinceMs.delete(this)
    }
  }

  get size() {
    return this.#sinceMs.size
  }

  [Symbol.iterator]() {
    return this.#sinceMs.keys()
  }

  add(open) {
    if (this.#sinceMs.has(open)) return
    this.#sinceMs.set(open, undefined)
    open.on('close', this.#forget)
  }

  release() {
    for (const open of this.#sinceMs.keys()) open.off('close', this.#forget)
    this.#sinceMs.clear()
  }
}

module.exports = { OpenSet }
