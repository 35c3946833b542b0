'use strict'
// What one request does with each pool: how often it asks, and how long it holds connections. The sums are kept in the reference that
// async contexts hold of the request. When it ends, its route is known, and pools.js counts the sums there.

class Visit {
  asks = 0
  uses = 0
  heldMs = 0
  maxMs = 0

  /** @param {object} pool the record of the pool @param {Visit | undefined} earlier of another pool */
  constructor(pool, earlier) {
    this.pool = pool
    this.earlier = earlier
  }

  onUse(ms) {
    this.uses++
    this.heldMs += ms
    if (ms > this.maxMs) this.maxMs = ms
  }
}

/** @param {{ visits: Visit | undefined }} reference @returns {Visit | undefined} */
function findVisit(reference, pool) {
  let visit = reference.visits
  while (visit !== undefined && visit.pool !== pool) visit = visit.earlier
  return visit
}

/** @param {{ visits: Visit | undefined }} reference @returns {Visit} */
function addVisit(reference, pool) {
  return (reference.visits = new Visit(pool, reference.visits))
}

module.exports = { addVisit, findVisit }
