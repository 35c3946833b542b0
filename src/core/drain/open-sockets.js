'use strict'
// A set of the sockets, or HTTP/2 sessions, that are open now. It adds no listener to them: Node removes its own listeners
// before `connect` or `upgrade` hands a socket over, and some protocols count the listeners that remain.
// So the set holds sockets weakly, skips destroyed sockets, and removes them whenever its size has doubled.

/** A set of this size or less is not swept. */
const SMALL = 64

/** @template {{ readonly destroyed: boolean }} Open a socket or a session */
class OpenSockets {
  /** @type {Set<WeakRef<Open>>} */
  #refs = new Set()
  /** @type {WeakSet<Open>} */
  #known = new WeakSet()
  #sweepAbove = SMALL

  get size() {
    let size = 0
    for (const _ of this) size++
    return size
  }

  *[Symbol.iterator]() {
    for (const ref of this.#refs) {
      const socket = ref.deref()
      if (socket === undefined || socket.destroyed) this.#refs.delete(ref)
      else yield socket
    }
  }

  /** @param {Open} socket */
  add(socket) {
    // The client of a server's first known request may have disconnected already.
    if (socket.destroyed || this.#known.has(socket)) return
    this.#known.add(socket)
    this.#refs.add(new WeakRef(socket))
    // Reading `size` sweeps.
    if (this.#refs.size > this.#sweepAbove) this.#sweepAbove = Math.max(SMALL, 2 * this.size)
  }

  release() {
    this.#refs.clear()
    this.#known = new WeakSet()
  }
}

exports.OpenSockets = OpenSockets
