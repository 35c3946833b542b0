'use strict'
// Connections that undici opens, by host. Its channels do not say which call waits for a connection. So a
// connection is attributed to the call that waited while it opened. If several open at once they may be
// swapped, but the sums of the host stay right. No channel reports the end of a look-up, but a
// PerformanceObserver does. From the first connection on, each `dns.lookup` of the process makes a
// PerformanceEntry. A `lookup` function of the user makes none.

const { isIP } = require('node:net')
const { PerformanceObserver } = require('node:perf_hooks')
const { Opening } = require('./opening')

/** The largest number of hosts that are followed. A new host replaces the one that was called first. */
const MAX_HOSTS = 200

/**
 * @typedef {{ hostname: string }} ConnectParams
 * @typedef {object} HostOpenings
 * @property {Opening[]} pending
 * @property {number} begunMs when the last opening began
 * @property {Opening | undefined} last the opening that ended last, until a call takes it
 * @property {boolean} tellsLookups false once a connection has opened without an entry for its look-up
 */

class UndiciOpenings {
  #clock
  #onError
  /** @type {Map<string, HostOpenings>} */
  #hosts = new Map()
  /** @type {PerformanceObserver | undefined} */
  #lookups

  /** @param {import('../../core/clock').Clock} clock @param {(error: unknown) => void} onError */
  constructor(clock, onError) {
    this.#clock = clock
    this.#onError = onError
  }

  close() {
    this.#lookups?.disconnect()
  }

  /** @param {ConnectParams} params */
  begin({ hostname }) {
    this.#lookups ??= this.#observeLookups()
    const host = this.#at(hostname)
    const hasName = host.tellsLookups && isIP(hostname) === 0
    host.begunMs = this.#clock.now()
    host.pending.push(new Opening(host.begunMs, hasName))
  }

  /** @param {ConnectParams} params @param {boolean} isOpen false if it failed */
  end({ hostname }, isOpen) {
    const host = this.#at(hostname)
    const opening = host.pending.shift()
    if (opening === undefined) return
    opening.end(this.#clock.now(), isOpen)
    if (isOpen && Number.isNaN(opening.lookedUpMs)) host.tellsLookups = false
    host.last = opening
  }

  /**
   * Takes the connection that has opened, or failed, for a call that has waited since `sinceMs`.
   *
   * @param {string} host
   * @param {number} sinceMs
   */
  take(host, sinceMs) {
    const found = this.#hosts.get(host)
    if (found?.last === undefined || found.last.endMs < sinceMs) return undefined
    const { last } = found
    found.last = undefined
    return last
  }

  /**
   * The same for a call that ends without having been sent. A pending connection counts too.
   *
   * @param {string} host
   * @param {number} sinceMs
   */
  takeUnsent(host, sinceMs) {
    return this.take(host, sinceMs) ?? this.#hosts.get(host)?.pending[0]
  }

  /**
   * Whether a connection began to open since a call was made. The call may then wait for this connection, and
   * not for other calls.
   *
   * @param {string} host
   * @param {number} sinceMs
   */
  hasBegunSince(host, sinceMs) {
    const found = this.#hosts.get(host)
    return found !== undefined && found.begunMs >= sinceMs
  }

  /** @param {string} name @param {number} durationMs */
  onLookup(name, durationMs) {
    const nowMs = this.#clock.now()
    for (const opening of this.#hosts.get(keyOf(name))?.pending ?? []) {
      // When the look-up would have ended if it had begun with the connection. A look-up that began earlier
      // gives a time in the future, and is ignored.
      const atMs = opening.beganMs + durationMs
      if (Number.isNaN(opening.lookedUpMs) && atMs <= nowMs) opening.lookedUpMs = atMs
    }
  }

  /** @param {string} hostname */
  #at(hostname) {
    const key = keyOf(hostname)
    let found = this.#hosts.get(key)
    if (found !== undefined) return found
    if (this.#hosts.size >= MAX_HOSTS)
      this.#hosts.delete(/** @type {string} */ (this.#hosts.keys().next().value))
    found = { pending: [], begunMs: Number.NEGATIVE_INFINITY, last: undefined, tellsLookups: true }
    this.#hosts.set(key, found)
    return found
  }

  #observeLookups() {
    const observer = new PerformanceObserver((list) => {
      try {
        for (const entry of list.getEntries()) {
          const { detail } = /** @type {{ detail?: { hostname?: string } }} */ (entry)
          const hostname = detail?.hostname
          if (entry.name === 'lookup' && hostname !== undefined) this.onLookup(hostname, entry.duration)
        }
      } catch (error) {
        this.#onError(error)
      }
    })
    observer.observe({ type: 'dns' })
    return observer
  }
}

/**
 * Returns the name as in a URL, because undici removes the brackets of an IPv6 address.
 *
 * @param {string} hostname
 */
const keyOf = (hostname) => (hostname.includes(':') ? `[${hostname}]` : hostname.toLowerCase())

exports.UndiciOpenings = UndiciOpenings
