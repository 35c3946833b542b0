'use strict'
// Whether a world was harmed by the gate: invariants 1 and 2, "a load that the process answers at up to 70 % utilisation
// without a gate is never shed beyond .1 %", from `measuredMs` on. Only where something was shed is it run without one.
// And whether the loop was the reason of a rejection while it idled: invariant 4, all the time.

const { generate } = require('./generate')
const { stack } = require('./stack')
const { World } = require('./world')

const MOST_UTILISATION = 0.7
const MOST_SHED = 0.001

const worldOf = (spec, shed, given = stack) =>
  new World(structuredClone(spec), { stack: given, shed, keepsRequests: false })

/** Counts the rejections whose reason is the loop, and those of them while it idled a tenth of its time. */
function loopRejectionsOf({ admission: { episode, measurements } }) {
  const counts = { all: 0, whileIdling: 0 }
  const { onReject } = episode
  episode.onReject = (reason, nowMs) => {
    if (reason === 'loop') {
      counts.all++
      if (measurements.turns.isIdling(nowMs)) counts.whileIdling++
    }
    onReject.call(episode, reason, nowMs)
  }
  return counts
}

function utilisationOf(spec) {
  const world = worldOf(spec, { mode: 'off' })
  const { loop } = world
  let idledMs = 0
  loop.at(spec.measuredMs, () => {
    idledMs = loop.idleTotalMs
  })
  world.run()
  return 1 - (loop.idleTotalMs - idledMs) / (loop.nowMs - spec.measuredMs)
}

/** @returns {{ requests: number, shed: number, isHarmed: boolean, utilisation?: number, reasons: any, loopRejections: { all: number, whileIdling: number } }} */
function judge(seed, { stack: given, ...options } = {}) {
  const spec = generate(seed, options)
  const world = worldOf(spec, undefined, given)
  const loopRejections = loopRejectionsOf(world)
  world.run()
  const requests = world.requests.filter(({ atMs }) => atMs >= spec.measuredMs)
  const shed = requests.filter(({ shedMs }) => shedMs !== undefined).length
  const found = {
    seed,
    kind: spec.kind,
    requests: requests.length,
    shed,
    reasons: world.admission.sample().shed,
    loopRejections,
  }
  if (shed <= Math.max(1, requests.length * MOST_SHED)) return { ...found, isHarmed: false }
  const utilisation = utilisationOf(spec)
  return { ...found, utilisation, isHarmed: !(utilisation > MOST_UTILISATION) }
}

const line = ({ seed, kind, shed, requests, utilisation, reasons }) =>
  `seed ${seed} (${kind}): ${shed} of ${requests} shed at utilisation ${utilisation?.toFixed(2)}, ` +
  reasons.map(({ reason, count }) => `${reason} ${count}`).join(', ')

module.exports = { judge, line }
