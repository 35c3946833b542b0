'use strict'
// Everything known of the whole fleet, as one frozen plain object: who is there, and the requests of all of them by route.
// What describes one process, its loop and its heap, is in that process's own snapshot.

const { countersOf, deepFreeze, summaryOf } = require('../snapshot/snapshot')
const { COUNT, ERRORS, SINCE, STREAMS } = require('./route-report')
const { Slices } = require('./time-slices')

/** @returns {Promise<import('../../index.js').FleetSnapshot>} */
async function takeFleetSnapshot(clock, sum, members, states) {
  const wallMs = clock.wallMs()
  const present = members.filter(({ state }) => state === 'live' || state === 'silent')
  /** @type {any} */
  const requests = { inFlight: present.reduce((total, { head }) => total + head.inFlight, 0) }
  const routes = []
  await new Slices(clock).run(readRoutes(sum, wallMs, requests, routes))
  const { unreadable, departed } = states
  const at = new Date(wallMs).toISOString()
  const workers = present.map(workerOf)
  return Object.freeze({
    ...deepFreeze({ at, workers, unreadable, departed, requests }),
    routes: Object.freeze(routes),
  })
}

function* readRoutes(sum, wallMs, requests, routes) {
  for (const { key, totals, spans } of sum.routes.read(wallMs)) {
    const [sinceStart, lastMinute] = spans.map((span) => summaryOf(countsOf(span, wallMs)))
    // The rate of each worker is over its own half minute to minute. All requests over the longest of those made 153 a second
    // of two workers of 100.
    lastMinute.ratePerSecond = spans[1].ratePerSecond
    if (key.length === 0) Object.assign(requests, { lastMinute, sinceStart })
    else {
      const [method, route] = key
      const streams = { count: totals[STREAMS], totalSeconds: totals[STREAMS + 1] }
      routes.push(deepFreeze({ method, route, lastMinute, sinceStart, ...countersOf(totals, 0), streams }))
    }
    yield
  }
}

const workerOf = ({ worker, state, head }) => ({
  worker,
  pid: head.pid,
  state,
  reportedAt: new Date(head.at).toISOString(),
})

const countsOf = ({ since, histogram }, wallMs) => ({
  count: since[COUNT],
  errors: since[ERRORS],
  seconds: Math.max(0, wallMs - since[SINCE]) / 1000,
  histogram,
})

module.exports = { takeFleetSnapshot }
