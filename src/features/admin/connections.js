'use strict'
// Decides which connections the admin server keeps. A connection is a stranger until one of its requests is
// authorized. Strangers must never keep out a client with the token, so they are limited:
// - A stranger has 1.5 seconds to send its request head and to get its response. After a stall of the loop,
//   Spillway first reads what the stranger has sent meanwhile.
// - The strangers of one address get at most three quarters of the connections.
// - If all connections are in use, a new connection replaces a stranger: the oldest one of the address that
//   has the most strangers.
// - If all connections are authorized, a new connection replaces the one that has been idle longest. An
//   authorized connection with a request in progress is never replaced.
// - Without a token every client is authorized at once.

const { isAnswering } = require('../../core/servers/connections')

/** @import { Socket } from 'node:net' */

const STRANGER_MS = 1500
const SHARE_OF_ADDRESS = 0.75

class AdminConnections {
  /** Time limit of a stranger, in milliseconds. */
  strangerMs
  #clock
  #max
  #maxPerAddress
  /** @type {Set<Socket>} */
  #authorized = new Set()
  /** @type {Map<Socket, { address: string, timer: NodeJS.Timeout }>} */
  #strangers = new Map()
  /** The strangers of each address, the oldest first. @type {Map<string, Set<Socket>>} */
  #byAddress = new Map()

  /** @param {{ clock: import('../../core/clock').Clock, max: number, timeoutMs: number }} limits */
  constructor({ clock, max, timeoutMs }) {
    this.#clock = clock
    this.#max = max
    this.#maxPerAddress = Math.max(1, Math.floor(max * SHARE_OF_ADDRESS))
    this.strangerMs = Math.min(timeoutMs, STRANGER_MS)
  }

  /** Adds a new connection, or destroys it if no other connection can be replaced. @param {Socket} socket */
  add(socket) {
    const { remoteAddress: address = '' } = socket
    const ofAddress = this.#byAddress.get(address)
    if (ofAddress !== undefined && ofAddress.size >= this.#maxPerAddress) this.#destroyOldest(ofAddress)
    else if (this.#isFull) this.#destroyOldest(this.#strangers.size > 0 ? this.#largest() : this.#idle())
    if (this.#isFull) return void socket.destroy()
    const timer = this.#clock.after(this.strangerMs, () =>
      this.#clock.afterTurn(() => {
        if (this.#strangers.has(socket)) socket.destroy()
      })
    )
    this.#strangers.set(socket, { address, timer })
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? new Set()).add(socket))
    socket.once('close', () => this.#forget(socket))
  }

  /**
   * Lifts the limits of a stranger, and makes the connection the last to be replaced.
   *
   * @param {Socket} socket of an authorized request
   */
  authorize(socket) {
    if (!this.#strangers.has(socket) && !this.#authorized.has(socket)) return
    this.#forget(socket)
    this.#authorized.add(socket)
  }

  get #isFull() {
    return this.#authorized.size + this.#strangers.size >= this.#max
  }

  /** Returns the strangers of the address that has the most strangers. @returns {Set<Socket>} */
  #largest() {
    /** @type {Set<Socket>} */
    let largest = new Set()
    for (const each of this.#byAddress.values()) if (each.size > largest.size) largest = each
    return largest
  }

  /**
   * Returns the authorized connections that have no request, the longest idle one first.
   *
   * @returns {Set<Socket>}
   */
  #idle() {
    return new Set(
      [...this.#authorized].filter(
        (socket) => !isAnswering(/** @type {Parameters<typeof isAnswering>[0]} */ (socket))
      )
    )
  }

  /**
   * Forgets the socket at once: its `close` event comes too late for the new connection.
   *
   * @param {Set<Socket>} sockets the oldest first
   */
  #destroyOldest(sockets) {
    const [oldest] = sockets
    if (oldest === undefined) return
    this.#forget(oldest)
    oldest.destroy()
  }

  /** @param {Socket} socket */
  #forget(socket) {
    this.#authorized.delete(socket)
    const stranger = this.#strangers.get(socket)
    if (stranger === undefined) return
    this.#clock.cancel(stranger.timer)
    this.#strangers.delete(socket)
    const ofAddress = this.#byAddress.get(stranger.address)
    ofAddress?.delete(socket)
    if (ofAddress?.size === 0) this.#byAddress.delete(stranger.address)
  }
}

exports.AdminConnections = AdminConnections
