'use strict'
// Saturated closed loops from a seed: clients that keep their connections and ask again at once. Their
// requests cost at most 400 ms together. None may be rejected, and goodput must be at least 0.97 of that
// without a gate.

const { Draw } = require('./generate')
const { stack } = require('./stack')
const { World } = require('./world')

/** Kept clients x cost of a request. */
const MAX_WORK_MS = 400
const MIN_GOODPUT = 0.97
/** Work of all clients, over the cycle of one client alone. Below 1 the loop would idle. */
const SATURATION = 1.2
const SETTLED_MS = 3000
const END_MS = 9000

function saturatedLoop(seed) {
  const draw = new Draw(seed)
  const burn = draw.scale(0.3, 8)
  const clients = Math.floor(draw.scale(0.1, 1) * (MAX_WORK_MS / burn))
  const roundTripMs = draw.scale(0.2, 5)
  const idleMs = (clients * burn) / SATURATION - burn - roundTripMs
  const wait = idleMs > 1 && draw.chance(0.5) ? draw.scale(1, idleMs) : 0
  const steps = wait === 0 ? [{ burn }] : [{ wait }, { burn }]
  return {
    seed,
    seconds: END_MS / 1000,
    routes: [{ steps }],
    closed: [{ route: 0, clients, roundTripMs }],
  }
}

/** Goodput, rejections and latency of a closed loop, from `settledMs` to its end. */
function closedLoop(spec, { shed, stack: given = stack, settledMs = SETTLED_MS }) {
  const endMs = spec.seconds * 1000
  const { requests } = new World(structuredClone(spec), { stack: given, shed, keepsRequests: false }).run()
  const isMeasured = (atMs) => atMs >= settledMs && atMs < endMs
  const tookMs = requests
    .filter(({ servedMs }) => isMeasured(servedMs))
    .map(({ servedMs, atMs }) => servedMs - atMs)
    .sort((a, b) => a - b)
  const seconds = (endMs - settledMs) / 1000
  return {
    perSecond: tookMs.length / seconds,
    shedPerSecond: requests.filter(({ shedMs }) => isMeasured(shedMs)).length / seconds,
    p99Ms: tookMs[Math.floor(tookMs.length * 0.99)],
  }
}

/**
 * @returns {{ seed: number, clients: number, costMs: number, goodput: number, shedPerSecond: number,
 *   isHarmed: boolean }}
 */
function judgeSaturated(seed, { stack: given } = {}) {
  const spec = saturatedLoop(seed)
  const gated = closedLoop(spec, { stack: given })
  const goodput = gated.perSecond / closedLoop(spec, { shed: { mode: 'off' }, stack: given }).perSecond
  return {
    seed,
    clients: spec.closed[0].clients,
    costMs: spec.routes[0].steps.at(-1).burn,
    goodput,
    shedPerSecond: gated.shedPerSecond,
    isHarmed: gated.shedPerSecond > 0 || goodput < MIN_GOODPUT,
  }
}

module.exports = { closedLoop, judgeSaturated }
