'use strict'
// Use of pools by one request, and its queries by kind: how often the request asks, and how long it holds
// connections. An async context has a reference object for the request, and the sums are kept in this object.
// When the request ends, its route is known, and pools.js adds the sums to that route.

/**
 * @import { LateWork } from '../../core/request/async-context'
 * @import { RequestRecord } from '../../core/request/request-record'
 * @import { RouteUses } from './route-uses'
 *
 * @typedef {{ readonly routes: RouteUses }} Used a pool, or a kind of query
 */

/**
 * @typedef {{ request?: RequestRecord | undefined, visits?: unknown, readonly method: string,
 *   readonly route: string | undefined, readonly late?: LateWork | undefined }} Asker the reference of a
 *   request: see core/request/async-context.js
 */

class Visit {
  asks = 0
  uses = 0
  heldMs = 0
  maxMs = 0
  /** Lower bound of the time for which the request had a connection. */
  awaitedMs = 0
  /** When the last use of the request ended. */
  #lastEndedMs = 0

  /** @param {Used} pool @param {Visit | undefined} earlier the visit of another pool */
  constructor(pool, earlier) {
    this.pool = pool
    this.earlier = earlier
  }

  /** @param {number} ms @param {number} nowMs */
  onUse(ms, nowMs) {
    this.uses++
    this.heldMs += ms
    // Sequential uses add up, and concurrent uses count once.
    this.awaitedMs += nowMs - Math.max(nowMs - ms, this.#lastEndedMs)
    this.#lastEndedMs = nowMs
    if (ms > this.maxMs) this.maxMs = ms
  }
}

/** @param {Asker} reference @param {Used} pool @returns {Visit | undefined} */
function findVisit(reference, pool) {
  let visit = visitsOf(reference)
  while (visit !== undefined && visit.pool !== pool) visit = visit.earlier
  return visit
}

/** @param {Asker} reference @param {Used} pool @returns {Visit} */
function addVisit(reference, pool) {
  const visit = new Visit(pool, visitsOf(reference))
  reference.visits = visit
  return visit
}

/** The core keeps the visits without knowing their type. @param {Asker} reference */
const visitsOf = (reference) => /** @type {Visit | undefined} */ (reference.visits)

module.exports = { addVisit, findVisit, visitsOf }
