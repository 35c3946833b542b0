'use strict'
// Populations of clients that take a share of the loop. Most are independent users. A crowd comes through a
// gateway, uses HTTP/2 sessions, asks again at once on kept connections, or brings up to 500 ms of work at
// once.

const { ACCEPT_MS } = require('./connections')
const { PARSE_MS } = require('./world')

const MAX_PER_SECOND = 1200
const MAX_BURST_MS = 120
const MAX_CLIENTS = 1000
/** The longest time between two bursts of a crowd. */
const MAX_PERIOD_MS = 5000

const RETRIES = ['at-once', 'at-once', 'retry-after', 'backoff', 'think']
const GATEWAYS = [32, 64, 128, 256, 1024]
const HEADERS = ['x-forwarded-for', 'x-forwarded-for', 'traceparent', undefined]

/** A request's cost to the loop, and its time on a connection. A client that leaves has to connect again. */
function costOf({ costMs, waitMs, closes }) {
  const eachMs = costMs + PARSE_MS + (closes === undefined ? 0 : ACCEPT_MS)
  return { costMs: eachMs, heldMs: Math.min(waitMs, closes ?? waitMs) + eachMs }
}

/** A population that takes that share of the loop. */
function populationOf(draw, work, route, utilisation) {
  const { costMs, heldMs } = costOf(work)
  const perSecond = Math.min((utilisation * 1000) / costMs, MAX_PER_SECOND)
  const retry = draw.of(RETRIES)
  const leavesAfterMs = work.closes
  if (leavesAfterMs === undefined && draw.chance(0.4)) return { open: openOf(draw, route, perSecond, costMs) }
  // Little's law: so many clients, each asking every `cycleMs`.
  const clients = Math.max(
    1,
    Math.min(
      draw.whole(1, 4) === 1 ? 1000 : 300,
      Math.floor((perSecond * (heldMs + draw.scale(1, 10_000))) / 1000)
    )
  )
  const usualThinkMs = Math.max(0, (clients / perSecond) * 1000 - heldMs)
  const spreadMs = draw.chance(0.2) && clients * costMs < MAX_BURST_MS ? 1 : heldMs + usualThinkMs
  const reconnects = draw.chance(0.2)
  const thinkMs = reconnects ? usualThinkMs + (heldMs + usualThinkMs) * (ACCEPT_MS / costMs) : usualThinkMs
  return {
    closed: {
      route,
      clients,
      thinkMs: [thinkMs * 0.5, thinkMs * 1.5],
      retry,
      spreadMs,
      reconnects,
      leavesAfterMs,
    },
  }
}

function openOf(draw, route, perSecond, costMs) {
  const arrivals = draw.of(['poisson', 'poisson', 'constant'])
  if (draw.chance(0.25)) {
    const batch = Math.max(
      1,
      Math.min(Math.floor(MAX_BURST_MS / costMs), Math.floor(perSecond * draw.between(0.2, 1)))
    )
    return { route, perSecond, arrivals: 'constant', batch }
  }
  if (draw.chance(0.2)) return { route, perSecond: perSecond / 4, toPerSecond: perSecond, arrivals }
  return { route, perSecond, arrivals }
}

/** Clients that ask again a round trip after each answer: as many as take that share of the loop. */
function closedOf(draw, work, route, utilisation, more = {}) {
  const { costMs, heldMs } = costOf(work)
  const roundTripMs = draw.scale(0.2, 5)
  const clients = Math.min(MAX_CLIENTS, Math.floor((utilisation * (heldMs + roundTripMs)) / costMs))
  // A single client takes more: it thinks in between.
  const thinkMs = clients > 0 ? 0 : costMs / utilisation
  const retry = draw.of(RETRIES)
  const { closes: leavesAfterMs } = work
  return { route, clients: Math.max(1, clients), roundTripMs, thinkMs, retry, leavesAfterMs, ...more }
}

/** Independent users behind connections of which at most half are used on average. */
function throughOf(draw, work, route, utilisation, gateway) {
  const { costMs, heldMs } = costOf(work)
  const carries = gateway.connections * (gateway.streams ?? 1)
  const perSecond = Math.min((utilisation * 1000) / costMs, MAX_PER_SECOND, (carries * 500) / heldMs)
  const { closes: leavesAfterMs } = work
  return {
    gateway: { ...gateway, timeoutMs: 2 * heldMs + draw.scale(2000, 20_000) },
    open: { ...openOf(draw, route, perSecond, costMs), leavesAfterMs },
  }
}

function gatewayOf(draw) {
  const connections = draw.of(GATEWAYS)
  const queues = draw.chance(0.6)
  const most = queues ? connections : draw.of([connections, 1000 + connections, 4000])
  return { connections, queues, most, forwards: draw.of(HEADERS) }
}

/** A work of its own, all at once, again and again: at most that share of the loop. */
function burstOf(draw, route, utilisation, { isThrough }) {
  const burn = draw.scale(0.2, 10)
  const wait = draw.chance(0.5) ? 0 : draw.between(1, 50)
  const reconnects = !isThrough && draw.chance(0.5)
  const costMs = burn + PARSE_MS + (reconnects ? ACCEPT_MS : 0)
  const workMs = Math.min(draw.scale(50, 500), utilisation * MAX_PERIOD_MS)
  const batch = Math.max(1, Math.round(workMs / costMs))
  const periodMs = (batch * costMs) / utilisation
  return {
    work: { costMs: burn, waitMs: wait, steps: wait === 0 ? [{ burn }] : [{ wait }, { burn }] },
    open: { route, perSecond: (batch * 1000) / periodMs, arrivals: 'constant', batch, reconnects },
    gateway: isThrough ? { ...gatewayOf(draw), queues: true, timeoutMs: 10_000 } : undefined,
    periodMs,
  }
}

const CROWDS = {
  kept: (draw, ...rest) => ({ closed: closedOf(draw, ...rest) }),
  sessions: (draw, ...rest) => ({ closed: closedOf(draw, ...rest, { sessions: draw.whole(1, 20) }) }),
  gateway: (draw, ...rest) => throughOf(draw, ...rest, gatewayOf(draw)),
  streams: (draw, ...rest) =>
    throughOf(draw, ...rest, {
      connections: draw.whole(1, 8),
      streams: draw.of([10, 100, 250]),
      queues: true,
      forwards: draw.of(HEADERS),
    }),
  burst: (draw, _work, ...rest) => burstOf(draw, ...rest, { isThrough: false }),
  'gateway burst': (draw, _work, ...rest) => burstOf(draw, ...rest, { isThrough: true }),
}
const CROWD_KINDS = Object.keys(CROWDS)

/**
 * A crowd that takes at most that share of the loop.
 * @returns {{ crowd: string, open?: any, closed?: any, gateway?: any, work?: any, periodMs?: number }}
 *   `gateway`: what `open` comes through. `work` replaces the given one. `periodMs`: between two bursts
 */
function crowdOf(draw, work, route, utilisation, others = []) {
  const kinds = others.some(isBurst) ? CROWD_KINDS.filter((kind) => !isBurst(kind)) : CROWD_KINDS
  const crowd = draw.of(kinds)
  return { crowd, ...CROWDS[crowd](draw, work, route, utilisation) }
}

const isBurst = (crowd) => crowd.includes('burst')

module.exports = { crowdOf, populationOf }
