'use strict'
// An http server in place of an admin server: it answers each path as a test says, for what no real service
// does on demand.

const { serve } = require('../support/serve')

const EMPTY = { lastMinute: summaryOf(0), sinceStart: summaryOf(0) }

function summaryOf(count, more) {
  return {
    count,
    ratePerSecond: count / 30,
    errorRatio: 0,
    p50Ms: 1,
    p90Ms: 2,
    p95Ms: 3,
    p99Ms: 4,
    p999Ms: 5,
    maxMs: 6,
    ...more,
  }
}

/** A route as it is in a snapshot. */
const routeOf = (route, count, more) => ({
  method: 'GET',
  route,
  lastMinute: summaryOf(count),
  sinceStart: summaryOf(count),
  outcomes: { completed: count, errored: 0, aborted: 0, upgraded: 0, timed_out: 0 },
  firstByteMeanMs: 1,
  requestBytes: 100,
  responseBytes: 200,
  streams: { count: 0, totalSeconds: 0 },
  parts: null,
  loopMs: null,
  gaveUp: null,
  shed: 0,
  ...more,
})

function socketsOf(more) {
  return {
    connections: { open: 0, opened: 0, transports: [], closed: {}, refused: {}, held: 0, room: 1 },
    messages: { received: 0, receivedBytes: 0, sent: 0, sentBytes: 0 },
    events: [],
    folded: 0,
    ...more,
  }
}

const snapshotOf = (more) => ({
  at: '2026-01-01T00:00:00.000Z',
  uptimeSeconds: 60,
  requests: { inFlight: 0, ...EMPTY },
  routes: [],
  oldest: [],
  slowest: [],
  errors: [],
  processErrors: {},
  clientErrors: {},
  internalErrors: {},
  warnings: { counts: {}, recent: [] },
  outgoing: { hosts: [], folded: 0 },
  bulkheads: [],
  pools: [],
  sockets: socketsOf(),
  stalls: { count: 0, totalMs: 0, sites: [] },
  admission: {
    mode: 'adaptive',
    isOverloaded: false,
    queued: 0,
    limit: null,
    limitedBy: null,
    costMs: 1,
    admitted: 0,
    shed: [],
    wouldShed: [],
  },
  runtime: {
    loop: { delayMs: { p50: 1, p99: 2, max: 3 }, utilization: 0.5 },
    cpu: { utilization: 0.5 },
    heap: { usedBytes: 3e7, limitBytes: 4e9, afterGcBytes: 2e7, trend: { verdict: 'unknown' } },
    memory: { rssBytes: 1e8, limitBytes: 4e9, externalBytes: 1e6 },
    collections: { minor: { count: 1, totalMs: 1 } },
  },
  releases: { current: { version: '', revision: '' } },
  ...more,
})

const diagnosisOf = (more) => ({
  at: '2026-01-01T00:00:00.000Z',
  seconds: 60,
  requests: 100,
  healthy: true,
  summary: 'Healthy: no problem found in 100 requests in the last 60 s.',
  findings: [],
  ...more,
})

/**
 * @param {import('node:test').TestContext} t
 * @param {Record<string, (req: import('node:http').IncomingMessage,
 *   res: import('node:http').ServerResponse) => void>} pages by method and path, such as 'GET /snapshot';
 *   others get 404
 */
async function standInFor(t, pages) {
  const requests = []
  const { port } = await serve(t, (req, res) => {
    requests.push(`${req.method} ${req.url}`)
    const page = pages[`${req.method} ${req.url}`] ?? pages[`${req.method} ${req.url?.split('?')[0]}`]
    if (page !== undefined) return page(req, res)
    res.writeHead(404).end('Not found. / lists all pages.\n')
  })
  return { port, url: `http://127.0.0.1:${port}`, requests }
}

const json = (value) => (_req, res) => {
  res.writeHead(200, { 'Content-Type': 'application/json' })
  res.end(JSON.stringify(typeof value === 'function' ? value() : value))
}

module.exports = {
  socketsOf,
  diagnosisOf,
  json,
  routeOf,
  snapshotOf,
  standInFor,
  summaryOf,
}
