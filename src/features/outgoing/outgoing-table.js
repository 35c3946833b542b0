'use strict'
// Outgoing calls by host, and for each host by the route that asked. The number of hosts, of routes of a host
// and of routes in all is bounded. Clients may choose hosts (webhooks, proxies), so a full table replaces its
// least used host by a new one that answered. The new host inherits the weight (the algorithm
// "space-saving"), so that each host with over a fiftieth of the calls is kept. Other calls past a bound are
// counted under the name of the overflow.

const { ADVISED_BOUNDS, Buckets } = require('../../core/histogram/buckets')
const { METHODS } = require('../../core/request/methods')
const { MinuteSums } = require('../../core/histogram/minute-sums')

const MAX_HOSTS = 50
const MAX_ROUTES_OF_HOST = 50
const MAX_ROUTES = 500
/** A client may choose the port of a host, and a host the statuses of its answers. */
const MAX_ROWS_OF_HOST = 50

/**
 * @typedef {{ method: string, route: string | null }} Asker the route that asked
 * @typedef {{ method: number, port: string, status: number, errorType: string }} CallLabels `method`: the
 *   index among METHODS; `port`, `errorType`: may be empty; `status`: 0 without an answer
 * @typedef {CallLabels & { row: number }} Row of the histogram
 * @typedef {object} CallParts parts of the time of calls; the rest is the wait for a connection of a pool,
 *   and sending and reading bodies
 * @property {number} connections opened for the calls
 * @property {number} lookupMs the look-up of the name (DNS)
 * @property {number} connectMs TCP and TLS
 * @property {number} firstByteMs from the whole request to the head of the response
 * @typedef {Asker & { sums: MinuteSums, parts: CallParts, awaited: number, awaitedMs: number }} HostRoute
 *   `awaited`: calls that ended before their request did;
 *   `awaitedMs`: the time while such a request had a call under way, at least
 */

class Host {
  sums = new MinuteSums()
  /** Of calls with a new connection. */
  lookups = new MinuteSums()
  connects = new MinuteSums()
  firstBytes = new MinuteSums()
  /** The rows of the histogram, by the labels of the calls that have ended. @type {Map<string, Row>} */
  rows = new Map()
  /** @type {Map<string, HostRoute>} */
  routes = new Map()
  /** The answered calls, and the weight of the host that it replaced. */
  weight

  /** @param {string} name @param {number} weight */
  constructor(name, weight) {
    this.name = name
    this.weight = weight
  }
}

class OutgoingTable {
  #buckets = new Buckets(ADVISED_BOUNDS)
  /** @type {Map<string, Host>} */
  #hosts = new Map()
  #overflow
  #routes = 0
  #folded = 0
  /** Rows of hosts that were replaced. @type {number[]} */
  #freeRows = []

  /** @param {string} overflow the name of the host and the route that count calls past the bounds */
  constructor(overflow) {
    this.#overflow = overflow
  }

  /**
   * @param {string} name of the host
   * @param {CallLabels & { asker: Asker | undefined, durationMs: number, isAnswered: boolean,
   *   isError: boolean, isShown: boolean, nowMs: number, awaitedMs: number, parts: CallParts }} call
   *   `asker`: the route that asked, if known; `isShown`: whether metrics show the call;
   *   `awaitedMs`: what the call adds to the sum, or -1 if its request has ended
   */
  record(name, call) {
    const { asker, durationMs, isAnswered, isError, isShown, nowMs, awaitedMs, parts } = call
    const host = this.#hosts.get(name) ?? this.#add(name, isAnswered)
    if (isAnswered) host.weight++
    host.sums.record(durationMs, isError, nowMs)
    host.firstBytes.record(parts.firstByteMs, isError, nowMs)
    const route = this.#routeOf(host, asker)
    route.sums.record(durationMs, isError, nowMs)
    route.parts.firstByteMs += parts.firstByteMs
    if (parts.connections > 0) {
      host.lookups.record(parts.lookupMs, isError, nowMs)
      host.connects.record(parts.connectMs, isError, nowMs)
      route.parts.connections++
      route.parts.lookupMs += parts.lookupMs
      route.parts.connectMs += parts.connectMs
    }
    if (awaitedMs >= 0) {
      route.awaited++
      route.awaitedMs += awaitedMs
    }
    if (isShown) this.#buckets.record(this.#rowOf(host, call), durationMs / 1000)
  }

  /** @param {Pick<Host, 'rows'>} host @param {CallLabels} labels @returns {number} */
  #rowOf({ rows }, { method, port, status, errorType }) {
    const key = `${method} ${port} ${status} ${errorType}`
    const found = rows.get(key)
    if (found !== undefined) return found.row
    const isFolded = rows.size >= MAX_ROWS_OF_HOST && (port !== '' || status !== 0 || errorType !== '')
    if (isFolded) return this.#rowOf({ rows }, { method, port: '', status: 0, errorType: '' })
    const row = this.#freeRows.pop() ?? this.#buckets.add()
    rows.set(key, { method, port, status, errorType, row })
    return row
  }

  /** @param {string} name @param {boolean} isAnswered @returns {Host} */
  #add(name, isAnswered) {
    if (this.#hosts.size < MAX_HOSTS) return this.#insert(name, 0)
    if (isAnswered) return this.#insert(name, this.#removeLeastUsed())
    this.#folded++
    return this.#hosts.get(this.#overflow) ?? this.#insert(this.#overflow, Number.POSITIVE_INFINITY)
  }

  /** @param {string} name @param {number} weight */
  #insert(name, weight) {
    const host = new Host(name, weight)
    this.#hosts.set(name, host)
    return host
  }

  /** @returns {number} the weight of the removed host */
  #removeLeastUsed() {
    let least
    for (const host of this.#hosts.values())
      if (least === undefined || host.weight < least.weight) least = host
    const { name, routes, rows, sums, weight } = /** @type {Host} */ (least)
    this.#hosts.delete(name)
    this.#routes -= routes.size
    this.#folded += sums.sinceStart().count
    for (const { row } of rows.values()) {
      this.#buckets.clear(row)
      this.#freeRows.push(row)
    }
    return weight
  }

  /** @param {Host} host @param {Asker | undefined} asker @returns {HostRoute} */
  #routeOf(host, asker) {
    const key = asker === undefined ? '' : `${asker.method} ${asker.route}`
    const found = host.routes.get(key)
    if (found !== undefined) return found
    const { method = '', route = null } = asker ?? {}
    const isFull = host.routes.size >= MAX_ROUTES_OF_HOST || this.#routes >= MAX_ROUTES
    if (isFull && key !== '' && route !== this.#overflow)
      return this.#routeOf(host, { method: '', route: this.#overflow })
    const added = { method, route, sums: new MinuteSums(), parts: { ...NO_PARTS }, awaited: 0, awaitedMs: 0 }
    host.routes.set(key, added)
    this.#routes++
    return added
  }

  /** For metrics. @param {Float64Array} [spare] */
  sample(spare) {
    const series = [...this.#hosts.values()].flatMap(({ name, rows }) =>
      [...rows.values()].map((row) => ({ ...row, host: name, method: METHODS[row.method] }))
    )
    const parts = [...this.#hosts.values()].map((host) => ({
      host: host.name,
      ...partsOf(host, (sums) => sums.sinceStart()),
    }))
    return { series, parts, values: this.#buckets.copy(spare) }
  }

  /**
   * For the doctor, which compares two readings. The key stays the same object for as long as its host is in
   * the table.
   */
  totals() {
    return new Map(
      [...this.#hosts.values()].flatMap(({ name, routes }) =>
        [...routes.values()].map((each) => {
          const { method, parts, sums, ...others } = each
          const { count, totalMs } = sums.sinceStart()
          const asker = { host: name, method: method === '' ? null : method }
          return /** @type {const} */ ([each, { ...others, ...asker, count, totalMs, parts: { ...parts } }])
        })
      )
    )
  }

  /** For snapshots: the host that took the most time in the last minute first. @param {number} nowMs */
  list(nowMs) {
    const hosts = [...this.#hosts.values()].map((host) => ({
      host: host.name,
      lastMinute: { ...host.sums.lastMinute(nowMs), ...partsOf(host, (sums) => sums.lastMinute(nowMs)) },
      sinceStart: { ...host.sums.sinceStart(), ...partsOf(host, (sums) => sums.sinceStart()) },
      routes: byTime(
        [...host.routes.values()].map(({ method, route, sums: own }) => ({
          method: method === '' ? null : method,
          route,
          ...spansOf(own, nowMs),
        }))
      ),
    }))
    return { hosts: byTime(hosts), folded: this.#folded }
  }
}

/** @param {MinuteSums} sums @param {number} nowMs */
const spansOf = (sums, nowMs) => ({ lastMinute: sums.lastMinute(nowMs), sinceStart: sums.sinceStart() })

const NO_PARTS = Object.freeze({ connections: 0, lookupMs: 0, connectMs: 0, firstByteMs: 0 })

/**
 * @param {Host} host
 * @param {(sums: MinuteSums) => import('../../core/histogram/minute-sums').Sums} read
 * @returns {CallParts}
 */
function partsOf({ connects, firstBytes, lookups }, read) {
  const { count: connections, totalMs: connectMs } = read(connects)
  return {
    connections,
    lookupMs: read(lookups).totalMs,
    connectMs,
    firstByteMs: read(firstBytes).totalMs,
  }
}

/** @template {ReturnType<typeof spansOf>} Entry @param {Entry[]} entries */
const byTime = (entries) =>
  entries.sort(
    (a, b) => b.lastMinute.totalMs - a.lastMinute.totalMs || b.sinceStart.totalMs - a.sinceStart.totalMs || 0
  )

exports.OutgoingTable = OutgoingTable
