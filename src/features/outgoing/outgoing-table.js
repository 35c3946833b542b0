'use strict'
// Outgoing calls by host and port, and for each host by the route that made the call. Two ports of a host are
// two servers, such as two sidecars of `localhost`. The numbers of hosts, of routes per host, and of all
// routes are bounded. Clients may choose hosts (webhooks, proxies), so a full table
// replaces its least used host when a new host answers. The new host inherits the weight of the old one (the
// algorithm "space-saving"). So each host with over a fiftieth of the calls is kept. Other calls past a bound
// count under the overflow name.
//
// A route also has the agent of `node:http` whose sockets its calls waited for, and the agent's limit of
// sockets. Calls that wait for the same agent wait for each other.

const { ADVISED_BOUNDS, Buckets } = require('../../core/histogram/buckets')
const { METHODS } = require('../../core/request/methods')
const { MinuteSums } = require('../../core/histogram/minute-sums')

const MAX_HOSTS = 50
const MAX_ROUTES_OF_HOST = 50
const MAX_ROUTES = 500
/** Rows per host are bounded, because a host may choose the statuses of its answers. */
const MAX_ROWS_OF_HOST = 50
/** A call that gets a free socket at once waits for less than this. */
const MIN_WAIT_MS = 1
/** In place of an id: the calls of a route to one host waited for several agents. */
const SEVERAL = -1

/**
 * @typedef {{ maxSockets?: number, maxTotalSockets?: number }} Agent of `node:http`
 * @typedef {{ method: string, route: string | null }} Asker the route that made the call
 * @typedef {import('./call').Target} Address
 * @typedef {{ method: number, status: number, errorType: string }} CallLabels `method`: the index among
 *   METHODS; `status`: 0 without an answer; `errorType`: may be empty
 * @typedef {CallLabels & { row: number }} Row of the histogram
 * @typedef {object} CallParts parts of the time of calls; the rest is sending and reading bodies
 * @property {number} waitMs the wait for a free socket of an agent, or for a connection of undici
 * @property {number} connections opened for the calls
 * @property {number} lookupMs the look-up of the name (DNS)
 * @property {number} connectMs TCP and TLS
 * @property {number} firstByteMs from the last byte of the request to the head of the response
 * @typedef {{ agent: number, sockets: number }} Sockets that calls waited for. `agent`: the id that `idOf`
 *   gives the agent; `sockets`: the agent's limit, 0 if not known
 * @typedef {Asker & { sums: MinuteSums, parts: CallParts, awaited: number, awaitedMs: number,
 *   waitedFor: Sockets | undefined, failedStatus: number }} HostRoute
 *   `awaited`: calls that ended before their request did;
 *   `awaitedMs`: lower bound of the time while a request of the route had a call in progress;
 *   `failedStatus`: of the last failed call, 0 without an answer
 */

/** @type {WeakMap<object, number>} */
const ids = new WeakMap()
let lastId = 0

/** @param {object} agent @returns {number} from 1 on; 0 is for clients without an agent, such as undici */
function idOf(agent) {
  let id = ids.get(agent)
  if (id === undefined) ids.set(agent, (id = ++lastId))
  return id
}

/** @param {Address} address */
const keyOf = ({ host, port }) => `${host}:${port}`

/** The name that people read. It is without the port of HTTP or HTTPS. @param {Address} address */
const nameOf = ({ host, port }) => (port === '' || port === '80' || port === '443' ? host : `${host}:${port}`)

/** @param {Agent | undefined} agent @returns {number} 0 without a limit */
function mostSocketsOf(agent) {
  const { maxSockets = Infinity, maxTotalSockets = Infinity } = agent ?? {}
  const most = Math.min(maxSockets, maxTotalSockets)
  return most > 0 && most < Infinity ? most : 0
}

class Host {
  sums = new MinuteSums()
  /** Sums of calls with a new connection. */
  lookups = new MinuteSums()
  connects = new MinuteSums()
  firstBytes = new MinuteSums()
  // Both lists are short. A search through them is faster than to build a key for a Map.
  /** One row of the histogram for each set of labels. @type {Row[]} */
  rows = []
  /** @type {HostRoute[]} */
  routes = []
  /** Number of answered calls, plus the weight of the host that this one replaced. */
  weight

  /** @param {Address} address @param {number} weight */
  constructor({ host, port }, weight) {
    this.address = { host, port }
    this.name = nameOf(this.address)
    this.weight = weight
  }
}

class OutgoingTable {
  #buckets = new Buckets(ADVISED_BOUNDS)
  /** By host and port. @type {Map<string, Host>} */
  #hosts = new Map()
  #overflow
  #routes = 0
  #folded = 0
  /** Rows of replaced hosts, which can be used again. @type {number[]} */
  #freeRows = []

  /** @param {string} overflow the name of the host and of the route that calls past the bounds count under */
  constructor(overflow) {
    this.#overflow = overflow
  }

  /**
   * @param {Address} address
   * @param {CallLabels & { asker: Asker | undefined, durationMs: number, isAnswered: boolean,
   *   isError: boolean, isShown: boolean, nowMs: number, awaitedMs: number, parts: CallParts,
   *   agent: number, sockets: number }} call
   *   `asker`: the route that made the call, if known; `isShown`: whether metrics show the call; `awaitedMs`:
   *   time that the call adds to `awaitedMs` of its route, or -1 if its request has ended
   */
  record(address, call) {
    const { asker, durationMs, isAnswered, isError, isShown, nowMs, awaitedMs, parts } = call
    const host = this.#hosts.get(keyOf(address)) ?? this.#add(address, isAnswered)
    if (isAnswered) host.weight++
    host.sums.record(durationMs, isError, nowMs)
    host.firstBytes.record(parts.firstByteMs, isError, nowMs)
    const route = this.#routeOf(host, asker)
    route.sums.record(durationMs, isError, nowMs)
    if (isError) route.failedStatus = call.status
    route.parts.firstByteMs += parts.firstByteMs
    route.parts.waitMs += parts.waitMs
    if (parts.waitMs >= MIN_WAIT_MS) setWaitedFor(route, call)
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
  #rowOf({ rows }, { method, status, errorType }) {
    for (const each of rows)
      if (each.status === status && each.method === method && each.errorType === errorType) return each.row
    const isFolded = rows.length >= MAX_ROWS_OF_HOST && (status !== 0 || errorType !== '')
    if (isFolded) return this.#rowOf({ rows }, { method, status: 0, errorType: '' })
    const row = this.#freeRows.pop() ?? this.#buckets.add()
    rows.push({ method, status, errorType, row })
    return row
  }

  /** @param {Address} address @param {boolean} isAnswered @returns {Host} */
  #add(address, isAnswered) {
    if (this.#hosts.size < MAX_HOSTS) return this.#insert(address, 0)
    if (isAnswered) return this.#insert(address, this.#removeLeastUsed())
    this.#folded++
    const others = { host: this.#overflow, port: '' }
    return this.#hosts.get(keyOf(others)) ?? this.#insert(others, Number.POSITIVE_INFINITY)
  }

  /** @param {Address} address @param {number} weight */
  #insert(address, weight) {
    const host = new Host(address, weight)
    this.#hosts.set(keyOf(address), host)
    return host
  }

  /** @returns {number} the weight of the removed host */
  #removeLeastUsed() {
    let least
    for (const host of this.#hosts.values())
      if (least === undefined || host.weight < least.weight) least = host
    const { address, routes, rows, sums, weight } = /** @type {Host} */ (least)
    this.#hosts.delete(keyOf(address))
    this.#routes -= routes.length
    this.#folded += sums.sinceStart().count
    for (const { row } of rows) {
      this.#buckets.clear(row)
      this.#freeRows.push(row)
    }
    return weight
  }

  /** @param {Host} host @param {Asker | undefined} asker @returns {HostRoute} */
  #routeOf(host, asker) {
    const { method = '', route = null } = asker ?? {}
    for (const each of host.routes) if (each.route === route && each.method === method) return each
    const isFull = host.routes.length >= MAX_ROUTES_OF_HOST || this.#routes >= MAX_ROUTES
    if (isFull && asker !== undefined && route !== this.#overflow)
      return this.#routeOf(host, { method: '', route: this.#overflow })
    const added = {
      method,
      route,
      sums: new MinuteSums(),
      parts: { ...NO_PARTS },
      awaited: 0,
      awaitedMs: 0,
      waitedFor: undefined,
      failedStatus: 0,
    }
    host.routes.push(added)
    this.#routes++
    return added
  }

  /** For metrics. @param {Float64Array} [spare] */
  sample(spare) {
    const series = [...this.#hosts.values()].flatMap(({ address, rows }) =>
      rows.map((row) => ({ ...row, address, method: METHODS[row.method] }))
    )
    const parts = [...this.#hosts.values()].map((host) => ({
      address: host.address,
      ...partsOf(host, (sums) => sums.sinceStart()),
    }))
    return { series, parts, values: this.#buckets.copy(spare) }
  }

  /**
   * For the doctor, which compares two readings. A key stays the same object while its host is in the table.
   */
  totals() {
    return new Map(
      [...this.#hosts.values()].flatMap(({ name, routes }) =>
        routes.map((each) => {
          const { method, parts, sums, waitedFor, ...others } = each
          const { count, errors, totalMs } = sums.sinceStart()
          const asker = { host: name, method: method === '' ? null : method }
          const isOne = waitedFor !== undefined && waitedFor.agent !== SEVERAL
          const copies = { parts: { ...parts }, waitedFor: isOne ? { ...waitedFor } : undefined }
          return /** @type {const} */ ([each, { ...others, ...asker, count, errors, totalMs, ...copies }])
        })
      )
    )
  }

  /** For snapshots: the hosts, the one with the most time in the last minute first. @param {number} nowMs */
  list(nowMs) {
    const hosts = [...this.#hosts.values()].map((host) => ({
      host: host.name,
      lastMinute: { ...host.sums.lastMinute(nowMs), ...partsOf(host, (sums) => sums.lastMinute(nowMs)) },
      sinceStart: { ...host.sums.sinceStart(), ...partsOf(host, (sums) => sums.sinceStart()) },
      routes: byTime(
        host.routes.map(({ method, route, sums: own }) => ({
          method: method === '' ? null : method,
          route,
          ...spansOf(own, nowMs),
        }))
      ),
    }))
    return { hosts: byTime(hosts), folded: this.#folded }
  }
}

/** @param {HostRoute} route @param {Sockets} call */
function setWaitedFor(route, { agent, sockets }) {
  const { waitedFor } = route
  if (waitedFor === undefined) route.waitedFor = { agent, sockets }
  else if (waitedFor.agent === agent) waitedFor.sockets = sockets
  else waitedFor.agent = SEVERAL
}

/** @param {MinuteSums} sums @param {number} nowMs */
const spansOf = (sums, nowMs) => ({ lastMinute: sums.lastMinute(nowMs), sinceStart: sums.sinceStart() })

const NO_PARTS = Object.freeze({ waitMs: 0, connections: 0, lookupMs: 0, connectMs: 0, firstByteMs: 0 })

/**
 * @param {Host} host
 * @param {(sums: MinuteSums) => import('../../core/histogram/minute-sums').Sums} read
 * @returns {Omit<CallParts, 'waitMs'>}
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
exports.idOf = idOf
exports.mostSocketsOf = mostSocketsOf
