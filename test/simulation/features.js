'use strict'
// What the features know of a generated world: the ages of its requests by the stamps of proxies, a deadline
// for each request, and bulkheads. All of it is drawn apart, so a seed is the same world with and without
// them. Each bound is several times what the world needs, which runs without features and without its
// disturbances tell.

const { Draw } = require('./generate')
const { stack } = require('./stack')
const { World } = require('./world')

const FEATURES_SEED = 0x51ed270b
const FEATURE_SHARE = 0.7
/** The clients of a crowd connect in the first second, and a cold process is slow for four. */
const [GATHERED_MS, WARM_MS] = [1000, 4000]
/** A route whose requests run for longer fills its slots only after the run has ended. */
const MAX_HELD_MS = 3000
const SECOND_MS = 1000
/** How many times its need each bound is. */
const [MIN_TIMES, MAX_TIMES] = [3, 10]

/** A proxy for each route, with a clock that is ahead or behind by up to an hour. */
function proxyOf(draw) {
  const differenceMs = draw.chance(0.2) ? 0 : draw.scale(1, 3_600_000)
  return {
    behindMs: draw.chance(0.5) ? differenceMs : -differenceMs,
    jitterMs: draw.between(0, 20),
    unitMs: draw.of([0.001, 1, 1, SECOND_MS]),
  }
}

const isHeldLong = ({ waitMs, closes = waitMs }) => Math.min(waitMs, closes) > MAX_HELD_MS

/** @param {any} spec of generate() @returns {any} the same world with features */
function withFeatures(spec) {
  const draw = new Draw(spec.seed ^ FEATURES_SEED)
  const [hasAges, hasDeadlines] = [draw.chance(FEATURE_SHARE), draw.chance(FEATURE_SHARE)]
  const hasBulkheads = draw.chance(FEATURE_SHARE) || !(hasAges || hasDeadlines)
  const times = () => draw.between(MIN_TIMES, MAX_TIMES)
  const needs = needsOf(spec)
  const features = {}
  const proxies = spec.routes.map(() => proxyOf(draw))
  /** An age, and what is left of a deadline, is as exact as the stamp. */
  const inexactMs = proxies.map(({ jitterMs, unitMs }) => (hasAges ? jitterMs + unitMs : 0))
  if (hasAges) {
    const each = needs.map(({ waitMs }, i) => waitMs + inexactMs[i])
    features.ages = { proxies, maxAgeMs: times() * Math.max(...each) }
  }
  // A request that nobody has seen end has none.
  if (hasDeadlines)
    features.deadlines = needs.map(({ durationMs }, i) =>
      durationMs > 0 ? times() * (durationMs + inexactMs[i]) : undefined
    )
  if (hasBulkheads)
    features.bulkheads = needs.map(({ running }, i) =>
      isHeldLong(spec.routes[i]) || draw.chance(0.3) ? undefined : 2 * running + 2
    )
  return { ...spec, features }
}

/**
 * By route, at most and without disturbances: the wait until it runs, the time until it ends, and the
 * requests that run at a time. The gate queues a burst first in, first out, and without it others overtake:
 * so both ways.
 */
function needsOf(spec) {
  const needs = spec.routes.map(() => ({ waitMs: 0, durationMs: 0, running: 0 }))
  for (const mode of ['off', 'adaptive']) addNeeds(needs, spec, mode)
  return needs
}

function addNeeds(needs, spec, mode) {
  const undisturbed = structuredClone({ ...spec, disturbances: [] })
  // A ramp is at its top for as long as the world is simulated further.
  for (const each of undisturbed.open) each.perSecond = each.toPerSecond ?? each.perSecond
  const world = new World(undisturbed, { stack, shed: { mode }, keepsRequests: false }).run()
  const fromMs = spec.cold ? WARM_MS : spec.crowds.length > 0 ? GATHERED_MS : 0
  for (const { route, atMs, ranMs, endedMs } of world.requests) {
    if (!(ranMs >= fromMs)) continue
    const need = needs[route]
    need.waitMs = Math.max(need.waitMs, ranMs - atMs)
    if (endedMs !== undefined) need.durationMs = Math.max(need.durationMs, endedMs - atMs)
  }
  for (const { route, running } of runningOf(world.requests))
    needs[route].running = Math.max(needs[route].running, running)
}

/** How many run after each change, in the order of time. */
function* runningOf(requests) {
  const changes = []
  for (const { route, ranMs, endedMs = Number.POSITIVE_INFINITY } of requests) {
    if (ranMs === undefined) continue
    changes.push({ route, atMs: ranMs, by: 1 }, { route, atMs: endedMs, by: -1 })
  }
  const running = []
  for (const { route, atMs, by } of changes.sort((a, b) => a.atMs - b.atMs || a.by - b.by)) {
    running[route] = (running[route] ?? 0) + by
    yield { route, atMs, running: running[route] }
  }
}

/**
 * When a bound was last exceeded by half, or more, in a world without a gate. Until then a disturbance is not
 * over: what is older than
 * `maxAge` is to be rejected.
 */
function exceededMs({ features, disturbedMs }, requests) {
  let lastMs = disturbedMs
  const { ages, deadlines = [], bulkheads = [] } = features
  for (const { route, atMs, ranMs } of requests) {
    const mostMs = Math.min(
      ages?.maxAgeMs ?? Number.POSITIVE_INFINITY,
      deadlines[route] ?? Number.POSITIVE_INFINITY
    )
    if (ranMs - atMs > mostMs / 2) lastMs = Math.max(lastMs, ranMs)
  }
  for (const { route, atMs, running } of runningOf(requests))
    if (running > bulkheads[route] / 2 && Number.isFinite(atMs)) lastMs = Math.max(lastMs, atMs)
  return lastMs
}

const AMPLE_MS = 60_000
const AMPLE_PLACES = 100_000
/** The clock of every second proxy is behind. */
const BEHIND_MS = 400

/** Bounds that no load of a minute exceeds, for so many routes. */
function ample(routes) {
  const ofEach = (value) => Array.from({ length: routes }, value)
  return {
    ages: {
      maxAgeMs: AMPLE_MS,
      proxies: ofEach((_, i) => ({ behindMs: (i % 2) * BEHIND_MS, jitterMs: 1, unitMs: 1 })),
    },
    deadlines: ofEach(() => AMPLE_MS),
    bulkheads: ofEach(() => AMPLE_PLACES),
  }
}

module.exports = { ample, exceededMs, withFeatures }
