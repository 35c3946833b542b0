'use strict'
// Use of one pool by each route: how long requests hold its connections, and which share of the requests
// needs a connection. It also counts the running requests that have not asked yet. The number of routes is
// bounded. Uses past the bound count under the overflow route.

const { MinuteSums } = require('../../core/histogram/minute-sums')

const MAX_ROUTES = 200
/** With fewer requests it is not known whether a route needs the pool. */
const MIN_REQUESTS = 20
/** A route needs the pool if at least this share of its requests asked for a connection. */
const MIN_SHARE = 0.9
/** When this many requests were counted, all counts are halved. */
const MAX_COUNTED = 1000
const TRAVEL_SMOOTHING = 0.1
/**
 * The travel time of a route is the mean time from the admission of a request to its first ask. A request is
 * dropped from `expectedAsks` after four times the travel time of its route, and not before 100 ms.
 */
const MAX_OF_TRAVEL = 4
const MIN_COMING_MS = 100
/** Routes whose travel times differ by less count as asking at the same time. */
const SAME_TRAVEL_MS = 10

/** The ask of a request that is expected to need a connection of the pool. */
class ExpectedAsk {
  #uses
  #hasAsked = false
  dueMs = 0

  /**
   * @param {{ pressure: { onAdmit: (nowMs: number) => void, onModelledAdmit: (route: RouteUse) => void } }}
   *   record of the pool
   * @param {RouteUse} uses of its route
   */
  constructor(record, uses) {
    this.record = record
    this.#uses = uses
  }

  /**
   * Called when the request runs. Before that it does not count, because the gate may queue it or reject it.
   *
   * @param {number} nowMs
   */
  begin(nowMs) {
    this.dueMs = nowMs + Math.max(MIN_COMING_MS, MAX_OF_TRAVEL * this.#uses.travelMs)
    this.#uses.expectedAsks.add(this)
    this.record.pressure.onAdmit(nowMs)
  }

  /**
   * In mode `observe` nothing is rejected, so the wait for the pool is modelled. Adds to the model the time
   * for which this request is expected to use connections.
   */
  model() {
    this.record.pressure.onModelledAdmit(this.#uses)
  }

  /** Called when the request asks, `ms` after it was admitted. @param {number} ms */
  arrive(ms) {
    if (this.#hasAsked) return
    this.#hasAsked = true
    this.leave()
    this.#uses.onTravel(ms)
  }

  /** Called when the request will not ask any more. */
  leave() {
    this.#uses.expectedAsks.delete(this)
  }
}

class RouteUse {
  /** Uses of connections by its requests, and for how long. */
  held = new MinuteSums()
  /** How many uses ended before their request did. */
  awaited = 0
  /** How long the requests of these uses had a connection. Uses at the same time count once. */
  awaitedMs = 0
  /** Of requests that have not asked yet, the earliest first. @type {Set<ExpectedAsk>} */
  expectedAsks = new Set()
  /** Requests that ended; how many of these asked for a connection; and how often they asked in total. */
  #requests = 0
  #requestsThatAsked = 0
  #asks = 0
  /** Mean time from the admission of a request until it first asks. */
  travelMs = 0

  /** @param {string | null} method @param {string | null} route */
  constructor(method, route) {
    this.method = method
    this.route = route
  }

  get isKnownUser() {
    return this.#requests >= MIN_REQUESTS && this.#requestsThatAsked >= MIN_SHARE * this.#requests
  }

  /** Mean number of asks of a request that asks at least once. */
  get asksPerRequest() {
    return this.#requestsThatAsked === 0 ? 1 : this.#asks / this.#requestsThatAsked
  }

  /** Counts a request of the route that has ended. */
  onRequest() {
    if (this.#requests >= MAX_COUNTED) {
      this.#requests /= 2
      this.#requestsThatAsked /= 2
      this.#asks /= 2
    }
    this.#requests++
  }

  /** Counts a request that asked for a connection `asks` times. @param {number} asks */
  onAsks(asks) {
    this.#requestsThatAsked++
    this.#asks += asks
  }

  /**
   * Adds the uses of the pool by one request of the route, when the request has ended.
   *
   * @param {{ uses: number, heldMs: number, maxMs: number, awaitedMs: number }} visit
   * @param {number} nowMs
   */
  onUses({ uses, heldMs, maxMs, awaitedMs }, nowMs) {
    this.held.recordAll(uses, heldMs, maxMs, nowMs)
    this.awaited += uses
    this.awaitedMs += awaitedMs
  }

  /** @param {number} ms */
  onTravel(ms) {
    this.travelMs += (ms - this.travelMs) * (this.travelMs === 0 ? 1 : TRAVEL_SMOOTHING)
  }

  /**
   * Drops asks that are overdue. Their requests wait for a body or something else, and ask late or never. So
   * no caller waits behind them.
   *
   * @param {number} nowMs
   */
  #dropOverdue(nowMs) {
    for (const each of this.expectedAsks) {
      if (nowMs < each.dueMs) break
      this.expectedAsks.delete(each)
    }
  }

  /**
   * Drops overdue asks, and estimates how many requests of this route ask before a new request does.
   *
   * @param {number} travelMs until the new request asks @param {number} nowMs
   */
  updateAsksBefore(travelMs, nowMs) {
    this.#dropOverdue(nowMs)
    const { size } = this.expectedAsks
    return size === 0 || this.travelMs <= travelMs + SAME_TRAVEL_MS
      ? size
      : (size * (travelMs + SAME_TRAVEL_MS)) / this.travelMs
  }
}

class RouteUses {
  /** @type {RouteUse[]} */
  #all = []
  /**
   * By method, then by route, so that a look-up need not build a key.
   *
   * @type {Map<string, Map<string, RouteUse>>}
   */
  #byMethod = new Map()
  #overflow
  /** Uses whose request is not known: those in the background, or while async contexts are off. */
  unknown = new RouteUse(null, null)

  /** @param {string} overflow */
  constructor(overflow) {
    this.#overflow = overflow
  }

  /**
   * @param {string} method
   * @param {string} route
   * @returns {RouteUse | undefined} undefined if no request of the route ever asked
   */
  find(method, route) {
    return this.#byMethod.get(method)?.get(route)
  }

  /** @param {string} method @param {string} route @returns {RouteUse} */
  findOrAdd(method, route) {
    const found = this.find(method, route)
    if (found !== undefined) return found
    if (this.#all.length >= MAX_ROUTES && route !== this.#overflow)
      return this.findOrAdd(method, this.#overflow)
    const added = new RouteUse(method, route)
    this.#all.push(added)
    const routes = this.#byMethod.get(method) ?? new Map()
    this.#byMethod.set(method, routes.set(route, added))
    return added
  }

  /**
   * @param {number} travelMs
   * @param {number} nowMs
   * @returns {number} the sum over all routes, see RouteUse
   */
  updateAsksBefore(travelMs, nowMs) {
    let asks = 0
    for (const route of this.#all) asks += route.updateAsksBefore(travelMs, nowMs)
    return asks
  }

  /** The largest mean of all routes. */
  get asksPerRequest() {
    return this.#all.reduce((most, { asksPerRequest }) => Math.max(most, asksPerRequest), 1)
  }

  /** @returns {readonly RouteUse[]} */
  get all() {
    return this.#all
  }

  /**
   * Lists the routes that held connections, the one that held them longest in the last minute first.
   *
   * @param {number} nowMs
   */
  list(nowMs) {
    return [...this.#all, this.unknown]
      .map(({ method, route, held }) => ({
        method,
        route,
        lastMinute: usesOf(held.lastMinute(nowMs)),
        sinceStart: usesOf(held.sinceStart()),
      }))
      .filter(({ sinceStart }) => sinceStart.count > 0)
      .sort(
        (a, b) => b.lastMinute.heldMs - a.lastMinute.heldMs || b.sinceStart.heldMs - a.sinceStart.heldMs || 0
      )
  }
}

/** @param {ReturnType<MinuteSums['sinceStart']>} sums */
const usesOf = ({ count, totalMs, maxMs }) => ({ count, heldMs: totalMs, maxMs })

exports.ExpectedAsk = ExpectedAsk
exports.RouteUse = RouteUse
exports.RouteUses = RouteUses
