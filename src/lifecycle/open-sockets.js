'use strict'
// What is open now: sockets, or sessions. Nothing of ours is put on them, no listener either: Node hands a socket over by
// `connect` or `upgrade` with all of its own listeners taken off, and some protocols count what is left.
// So each is held weakly until it is destroyed, and the set is looked over whenever it has doubled.

/** A set no larger than this is not looked over. */
const FEW = 64

class OpenSet {
  /** @type {Set<WeakRef<any>>} */
  #refs = new Set()
  #known = new WeakSet()
  #most = FEW

  get size() {
    let size = 0
    for (const _ of this) size++
    return size
  }

  *[Symbol.iterator]() {
    for (const ref of this.#refs) {
      const each = ref.deref()
      if (each === undefined || each.destroyed) this.#refs.delete(ref)
      else yield each
    }
  }

  add(each) {
    // One that is destroyed already, as a server met by a request whose client had disconnected has them, is open no more.
    if (each.destroyed || this.#known.has(each)) return
    this.#known.add(each)
    this.#refs.add(new WeakRef(each))
    if (this.#refs.size > this.#most) this.#most = Math.max(FEW, 2 * this.size)
  }

  release() {
    this.#refs.clear()
    this.#known = new WeakSet()
  }
}

module.exports = { OpenSet }
