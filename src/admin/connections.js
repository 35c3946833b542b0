'use strict'
// The connections of the admin server: which are kept, and for how long. One is a stranger's until a request on it has been let
// in. Strangers keep nobody with the token out, however many they are and however slowly they send:
// - a stranger has a second and a half for its head and its answer;
// - strangers of one address have three quarters of the places;
// - where no place is free, a newcomer takes that of a stranger: of the address with the most of them, the oldest.

const STRANGER_MS = 1500
const SHARE_OF_ADDRESS = 0.75

class AdminConnections {
  /** How long a stranger has. */
  strangerMs
  #clock
  #most
  #mostOfAddress
  #known = new Set()
  /** Each with its address, and the timer that ends it. @type {Map<any, { address: string, timer: any }>} */
  #strangers = new Map()
  /** Those of each address, the oldest first. @type {Map<string, Set<any>>} */
  #byAddress = new Map()

  /** @param {{ clock: any, most: number, timeoutMs: number }} limits */
  constructor({ clock, most, timeoutMs }) {
    this.#clock = clock
    this.#most = most
    this.#mostOfAddress = Math.max(1, Math.floor(most * SHARE_OF_ADDRESS))
    this.strangerMs = Math.min(timeoutMs, STRANGER_MS)
  }

  /** Takes a new connection, or cuts it where all places are those of clients that were let in. */
  add(socket) {
    const { remoteAddress: address = '' } = socket
    const ofAddress = this.#byAddress.get(address)
    if (ofAddress !== undefined && ofAddress.size >= this.#mostOfAddress) this.#cutOldest(ofAddress)
    else if (this.#isFull) this.#cutOldest(this.#largest())
    if (this.#isFull) return void socket.destroy()
    const timer = this.#clock.after(this.strangerMs, () => socket.destroy())
    this.#strangers.set(socket, { address, timer })
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? new Set()).add(socket))
    socket.once('close', () => this.#forget(socket))
  }

  /** A request on this connection was let in. */
  letIn(socket) {
    if (!this.#strangers.has(socket)) return
    this.#forget(socket)
    this.#known.add(socket)
  }

  get #isFull() {
    return this.#known.size + this.#strangers.size >= this.#most
  }

  /** The strangers of the address that has the most. */
  #largest() {
    let largest = new Set()
    for (const each of this.#byAddress.values()) if (each.size > largest.size) largest = each
    return largest
  }

  /** Its place is free at once, and not when it tells of its end. @param {Set<any>} strangers */
  #cutOldest(strangers) {
    const [oldest] = strangers
    if (oldest === undefined) return
    this.#forget(oldest)
    oldest.destroy()
  }

  #forget(socket) {
    this.#known.delete(socket)
    const stranger = this.#strangers.get(socket)
    if (stranger === undefined) return
    this.#clock.cancel(stranger.timer)
    this.#strangers.delete(socket)
    const ofAddress = this.#byAddress.get(stranger.address)
    ofAddress?.delete(socket)
    if (ofAddress?.size === 0) this.#byAddress.delete(stranger.address)
  }
}

module.exports = { AdminConnections }
