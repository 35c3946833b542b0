'use strict'
// The figures of a healthy minute, for tests of the rules: each test changes what its rule looks at.

const ROUTE = Object.freeze({
  method: 'GET',
  route: '/orders',
  count: 600,
  errors: 0,
  aborted: 0,
  gaveUp: { count: 0, meanMs: 0 },
  answeredMs: 20,
  timeShare: 0.6,
  meanMs: 20,
  firstByteMs: 20,
  leastWaitMs: 20,
  usualMs: 20,
  before: { count: 10_000, errors: 1 },
  previous: undefined,
  load: { count: 600, elasticity: 0.05, correlation: 0.05 },
  quantiles: { p50Ms: 18, p99Ms: 60, maxMs: 90 },
  loopShare: undefined,
  parts: undefined,
  unreadMs: undefined,
})

const HEALTHY = Object.freeze({
  seconds: 60,
  requests: { count: 1000, errors: 0, inFlight: 4 },
  routes: [ROUTE],
  loop: {
    utilization: 0.3,
    longestMs: 12,
    long: { count: 0, share: 0, requests: 0 },
    veryLong: { count: 0, share: 0, requests: 0 },
  },
  cpu: { used: 0.35, limit: 2 },
  scheduler: { runShare: 0.3, waitShare: 0.01, foreignShare: 0.01 },
  throttling: { periods: 600, throttledPeriods: 0, share: 0 },
  threadPool: { seconds: 60, fullShare: 0, waitMs: 0, threads: 4 },
  proxies: { looked: 60, proxied: 0, kept: 0, idleCloses: 0, unusedCloses: 0, keptMs: 6000 },
  gc: { share: 0.02, majorShare: 0.005 },
  heap: { afterGcBytes: 40e6, limitBytes: 400e6, recent: [], trend: { verdict: 'unknown' } },
  memory: { limitBytes: 2e9, rssBytes: 120e6, externalBytes: 4e6, externalTrend: { verdict: 'unknown' } },
  admission: { mode: 'adaptive', rejected: 0, reasons: {}, wouldReject: 0, queued: 0 },
  overload: undefined,
  unanswered: [],
  oldest: undefined,
  clients: { reading: 0, sending: 0, unsentBytes: 0, oldestMs: 0, inFlight: 4 },
  gaveUp: [],
  errorKinds: [],
  events: [],
  stalls: undefined,
  outgoing: undefined,
  poolUses: undefined,
  warnings: undefined,
})

/** @param {any} [changes] @returns {import('../../src/features/doctor/figures').Figures} */
const figuresWith = (changes = {}) => merge(HEALTHY, changes)

/** @param {any} [changes] */
const routeWith = (changes = {}) => merge(ROUTE, changes)

const isPlain = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

function merge(base, changes) {
  const merged = { ...base }
  for (const [key, value] of Object.entries(changes))
    merged[key] = isPlain(value) && isPlain(base[key]) ? merge(base[key], value) : value
  return merged
}

module.exports = { figuresWith, merge, routeWith }
