'use strict'
// Outgoing calls by host, and for each host by the route that asked. The number of hosts, of routes of a host and of routes in all
// is bounded: calls past a bound are counted under the name of the overflow.

const { ADVISED_BOUNDS, Buckets } = require('../histograms/buckets')
const { METHODS } = require('../requests/methods')
const { MinuteSums } = require('./minute-sums')

const MAX_HOSTS = 50
const MAX_ROUTES_OF_HOST = 50
const MAX_ROUTES = 500

class Host {
  sums = new MinuteSums()
  /** The row of each method in the histogram, once a call has ended. @type {(number | undefined)[]} */
  rows = []
  /** @type {Map<string, { method: string, route: string | null, sums: InstanceType<typeof MinuteSums> }>} */
  routes = new Map()

  constructor(name) {
    this.name = name
  }
}

class OutgoingTable {
  #buckets = new Buckets(ADVISED_BOUNDS)
  /** @type {Map<string, Host>} */
  #hosts = new Map()
  #overflow
  #routes = 0
  #folded = 0

  /** @param {string} overflow the name of the host and the route that count calls past the bounds */
  constructor(overflow) {
    this.#overflow = overflow
  }

  /** The host of a call that begins. @param {string} name @returns {Host} */
  find(name) {
    const found = this.#hosts.get(name)
    if (found !== undefined) return found
    if (this.#hosts.size >= MAX_HOSTS && name !== this.#overflow) {
      this.#folded++
      return this.find(this.#overflow)
    }
    const host = new Host(name)
    this.#hosts.set(name, host)
    return host
  }

  /**
   * @param {Host} host
   * @param {{ method: number, asker: { method: string, route: string | null } | undefined, durationMs: number, isError: boolean,
   *   isShown: boolean, nowMs: number }} call `method`: the index among METHODS; `asker`: the route that asked, if known;
   *   `isShown`: whether metrics show the call
   */
  record(host, { method, asker, durationMs, isError, isShown, nowMs }) {
    host.sums.record(durationMs, isError, nowMs)
    this.#routeOf(host, asker).sums.record(durationMs, isError, nowMs)
    if (!isShown) return
    const row = (host.rows[method] ??= this.#buckets.add())
    this.#buckets.record(row, durationMs / 1000)
  }

  #routeOf(host, asker) {
    const key = asker === undefined ? '' : `${asker.method} ${asker.route}`
    const found = host.routes.get(key)
    if (found !== undefined) return found
    const { method = '', route = null } = asker ?? {}
    const isFull = host.routes.size >= MAX_ROUTES_OF_HOST || this.#routes >= MAX_ROUTES
    if (isFull && key !== '' && route !== this.#overflow)
      return this.#routeOf(host, { method: '', route: this.#overflow })
    const added = { method, route, sums: new MinuteSums() }
    host.routes.set(key, added)
    this.#routes++
    return added
  }

  /** For metrics. @param {Float64Array} [spare] */
  sample(spare) {
    const series = [...this.#hosts.values()].flatMap((host) =>
      Object.entries(host.rows).map(([method, row]) => ({ host: host.name, method: METHODS[method], row }))
    )
    return { series, values: this.#buckets.copy(spare) }
  }

  /** For snapshots: the host that took the most time in the last minute first. */
  list(nowMs) {
    const hosts = [...this.#hosts.values()].map(({ name, sums, routes }) => ({
      host: name,
      ...spansOf(sums, nowMs),
      routes: byTime(
        [...routes.values()].map(({ method, route, sums: own }) => ({
          method: method === '' ? null : method,
          route,
          ...spansOf(own, nowMs),
        }))
      ),
    }))
    return { hosts: byTime(hosts), folded: this.#folded }
  }
}

/** @param {InstanceType<typeof MinuteSums>} sums */
const spansOf = (sums, nowMs) => ({ lastMinute: sums.lastMinute(nowMs), sinceStart: sums.sinceStart() })

const byTime = (entries) =>
  entries.sort(
    (a, b) => b.lastMinute.totalMs - a.lastMinute.totalMs || b.sinceStart.totalMs - a.sinceStart.totalMs || 0
  )

module.exports = { OutgoingTable }
