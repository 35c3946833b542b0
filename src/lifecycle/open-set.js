'use strict'
// What is open now: sockets, or sessions, each kept until its `close`. One listener for all of them: a closure for each
// would be paid for by every connection.

class OpenSet {
  #open = new Set()
  #forget

  constructor() {
    const open = this.#open
    /** @this {any} */
    this.#forget = function forget() {
      open.delete(this)
    }
  }

  get size() {
    return this.#open.size
  }

  [Symbol.iterator]() {
    return this.#open.values()
  }

  add(each) {
    // What has closed already tells so no more: a server met by a request whose client had gone was waited for, by a drain, for
    // all of its timeout.
    if (each.destroyed || this.#open.has(each)) return
    this.#open.add(each)
    each.on('close', this.#forget)
  }

  release() {
    for (const each of this.#open) each.off('close', this.#forget)
    this.#open.clear()
  }
}

module.exports = { OpenSet }
