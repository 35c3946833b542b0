'use strict'
// Generates worlds from a seed: work x population x disturbance. A world is healthy by construction: without
// a gate its loop is busy for at most 65 % of the time, over whole periods of its bursts.

const { crowdOf, populationOf } = require('./populations')
const { randomFrom } = require('./random')
const { PARSE_MS } = require('./world')

const MAX_UTILISATION = 0.65
/** The share of worlds whose clients come through gateways or sessions, in closed loops or in long bursts. */
const CROWDED_SHARE = 0.4
const CROWD_SEED = 0x9e3779b9
/** The share of worlds whose populations have classes. */
const CLASSED_SHARE = 0.25
const CLASS_SEED = 0x85ebca6b
const CLASSES = ['critical', 'high', 'normal', 'low']
/** Before a disturbance, and after it until what is shed counts; then what is measured. */
const BEFORE_MS = 2000
const AFTER_MS = 2000
const MEASURED_MS = 2500
/** A process that starts cold is measured from then on. */
const COLD_MS = 4000
/**
 * The clients of a crowd connect, and its first bursts come, in the first second: together they may be more
 * than 500 ms of work.
 */
const CROWD_MS = 1000

class Draw {
  #random

  constructor(seed) {
    this.#random = randomFrom(seed)
  }

  between(least, most) {
    return least + (most - least) * this.#random()
  }

  /** Evenly over orders of magnitude. */
  scale(least, most) {
    return Math.exp(this.between(Math.log(least), Math.log(most)))
  }

  whole(least, most) {
    return Math.floor(this.between(least, most + 1))
  }

  of(list) {
    return list[Math.floor(this.#random() * list.length)]
  }

  chance(share) {
    return this.#random() < share
  }
}

/** Kinds of work: what a request of it does, and what that costs the loop. */
const WORKS = {
  burn: (draw) => {
    const burn = draw.scale(0.05, 20)
    return { costMs: burn, waitMs: 0, steps: [{ burn }] }
  },
  await: (draw) => {
    const [wait, burn] = [draw.scale(1, 200), draw.scale(0.05, 5)]
    return { costMs: burn, waitMs: wait, steps: [{ wait: [wait / 2, wait * 1.5] }, { burn }] }
  },
  pool: (draw) => {
    const [wait, burn] = [draw.scale(2, 50), draw.scale(0.05, 2)]
    return {
      costMs: burn,
      waitMs: wait,
      steps: [{ burn: burn / 2 }, { wait, pool: 'pool' }, { burn: burn / 2 }],
      pool: true,
    }
  },
  bimodal: (draw) => {
    const [rare, usual, share] = [draw.between(20, 100), draw.scale(0.2, 2), draw.between(0.005, 0.02)]
    return { costMs: rare * share + usual, waitMs: 0, steps: [{ burn: { rare, usual, share } }] }
  },
  slow: (draw) => {
    const [wait, burn] = [draw.scale(300, 3000), draw.scale(0.05, 1)]
    return { costMs: burn, waitMs: wait, steps: [{ wait: [wait / 3, wait * 1.7] }, { burn }] }
  },
  stream: (draw) => ({
    costMs: 0.1,
    waitMs: 1e8,
    steps: [{ burn: 0.1 }, { wait: 1e8 }],
    closes: draw.scale(500, 60_000),
  }),
  upload: (draw) => {
    const [wait, burn] = [draw.scale(20, 2000), draw.scale(0.1, 2)]
    return {
      costMs: burn,
      waitMs: wait,
      steps: [{ wait: [0, 2 * wait] }, { burn }],
      closes: draw.chance(0.3) ? wait / 2 : undefined,
    }
  },
  poll: (draw) => {
    const wait = draw.scale(1000, 5000)
    return { costMs: 0.1, waitMs: wait / 2, steps: [{ wait: [0, wait] }, { burn: 0.1 }] }
  },
}
const KINDS = Object.keys(WORKS)

/** More of the same: from the same clients, and with connections as theirs. */
const clientsOf = ({ route, through, reconnects }) => ({ route, through, reconnects })

const DISTURBANCES = {
  none: () => [],
  stall: (draw, atMs) => ({ ms: draw.scale(100, 5000), of: (ms) => [{ kind: 'stall', atMs, ms }] }),
  surge: (draw, atMs, busiest) => ({
    ms: draw.scale(1000, 10_000) / 2,
    of: (ms) => [
      { kind: 'surge', atMs, ms, ...clientsOf(busiest), perSecond: Math.min(4000, 10 * busiest.perSecond) },
    ],
  }),
  storm: (draw, atMs) => ({
    ms: 1000,
    of: (ms) => [
      { kind: 'surge', atMs, ms, route: 0, perSecond: 3000 },
      { kind: 'stall', atMs: atMs + 200, ms: draw.scale(100, 1000) },
    ],
  }),
  slow: (draw, atMs) => ({ ms: draw.scale(500, 3000), of: (ms) => [{ kind: 'slow', atMs, ms, factor: 10 }] }),
  force: (draw, atMs) => ({ ms: 1, of: () => [{ kind: 'force', atMs, factor: draw.of([0.01, 100]) }] }),
}
const DISTURBANCE_KINDS = Object.keys(DISTURBANCES)

/**
 * @param {number} seed
 * @param {{ disturbance?: string, hasCrowds?: boolean }} [given] `hasCrowds: false` is the same seed without
 *   crowds
 * @returns {any} a world, from `seed` alone. From `measuredMs` on it is healthy, unless a surge or a stall
 *   has left more work: see judge.js
 */
function generate(seed, { disturbance, hasCrowds = true } = {}) {
  const draw = new Draw(seed)
  // Drawn apart, so that a world without crowds is the same in both cases.
  const ofCrowds = new Draw(seed ^ CROWD_SEED)
  const isCrowded = hasCrowds && ofCrowds.chance(CROWDED_SHARE)
  const works = [
    WORKS.await(draw),
    ...Array.from({ length: draw.whole(1, 3) }, () => WORKS[draw.of(KINDS)](draw)),
  ]
  let left = isCrowded ? ofCrowds.between(0.3, MAX_UTILISATION) : draw.between(0.05, MAX_UTILISATION)
  const bystander = Math.min(100, (Math.min(left / 2, 0.15) * 1000) / (works[0].costMs + PARSE_MS))
  left -= (bystander * (works[0].costMs + PARSE_MS)) / 1000
  const open = [{ route: 0, perSecond: bystander, arrivals: 'poisson' }]
  const [closed, gateways, crowds] = [[], [], []]
  let periodMs = 1
  for (let route = 1; route < works.length; route++) {
    const isCrowd = isCrowded && (route === 1 || ofCrowds.chance(0.5))
    const share = (left / (works.length - 1)) * (isCrowd ? ofCrowds.between(0.8, 1) : draw.between(0.5, 1))
    const population = isCrowd
      ? crowdOf(ofCrowds, works[route], route, share, crowds)
      : populationOf(draw, works[route], route, share)
    if (isCrowd) crowds.push(population.crowd)
    if (population.work !== undefined) works[route] = population.work
    if (population.gateway !== undefined) population.open.through = gateways.push(population.gateway) - 1
    if (population.open !== undefined) open.push(population.open)
    else closed.push(population.closed)
    periodMs = Math.max(periodMs, population.periodMs ?? 0)
  }
  // Drawn apart, so that a world is the same without classes.
  const ofClasses = new Draw(seed ^ CLASS_SEED)
  if (ofClasses.chance(CLASSED_SHARE))
    for (const population of [...open, ...closed]) population.priority = ofClasses.of(CLASSES)
  const kind = disturbance ?? draw.of(['none', ...DISTURBANCE_KINDS])
  const busiest = open.reduce((a, b) =>
    a.perSecond * works[a.route].costMs >= b.perSecond * works[b.route].costMs ? a : b
  )
  const made = DISTURBANCES[kind](draw, BEFORE_MS, busiest)
  const disturbances = made.of?.(made.ms) ?? []
  const cold = draw.chance(0.2)
  const gatheredMs = crowds.length > 0 ? CROWD_MS : 0
  const undisturbedMs = cold ? COLD_MS : gatheredMs
  const disturbedMs = kind === 'none' ? 0 : BEFORE_MS + made.ms
  const measuredMs = Math.max(undisturbedMs, kind === 'none' ? 0 : disturbedMs + AFTER_MS)
  const leastMs = MEASURED_MS + (kind === 'none' ? BEFORE_MS : 0)
  const seconds = (measuredMs + Math.ceil(leastMs / periodMs) * periodMs) / 1000
  // A world that is simulated for longer has the same ramp.
  for (const each of open) if (each.toPerSecond !== undefined) each.rampMs = seconds * 1000
  // A pool that the service does not fill: as many again as it needs.
  const poolRate = [...open, ...closed.map((c) => ({ route: c.route, perSecond: 1000 }))].reduce(
    (sum, { route, perSecond }) => (works[route].pool ? sum + (perSecond * works[route].waitMs) / 1000 : sum),
    0
  )
  return {
    seed,
    kind,
    crowds,
    seconds,
    disturbedMs,
    measuredMs,
    cold,
    pools: { pool: Math.ceil(2 * poolRate) + 2 },
    routes: works.map(({ steps, waitMs, costMs, closes }) => ({ steps, waitMs, costMs, closes })),
    open,
    closed,
    gateways,
    disturbances,
  }
}

module.exports = { AFTER_MS, Draw, generate }
