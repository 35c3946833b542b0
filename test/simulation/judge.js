'use strict'
// Whether a world was harmed by the gate: invariants 1 and 2, "a load that the process answers at up to 70 % utilisation
// without a gate is never shed beyond .1 %", from `measuredMs` on. Only where something was shed is it run without one.

const { generate } = require('./generate')
const { stack } = require('./stack')
const { World } = require('./world')

const MOST_UTILISATION = 0.7
const MOST_SHED = 0.001

const run = (spec, shed) => new World(structuredClone(spec), { stack, shed }).run()

function utilisationOf(spec) {
  const world = new World(structuredClone(spec), { stack, shed: { mode: 'off' } })
  const { loop } = world
  let idledMs = 0
  loop.at(spec.measuredMs, () => {
    idledMs = loop.idleTotalMs
  })
  world.run()
  return 1 - (loop.idleTotalMs - idledMs) / (loop.nowMs - spec.measuredMs)
}

/** @returns {{ requests: number, shed: number, isHarmed: boolean, utilisation?: number, reasons: any }} */
function judge(seed, options) {
  const spec = generate(seed, options)
  const world = run(spec)
  const requests = world.requests.filter(({ atMs }) => atMs >= spec.measuredMs)
  const shed = requests.filter(({ shedMs }) => shedMs !== undefined).length
  const found = {
    seed,
    kind: spec.kind,
    requests: requests.length,
    shed,
    reasons: world.admission.sample().shed,
  }
  if (shed <= Math.max(1, requests.length * MOST_SHED)) return { ...found, isHarmed: false }
  const utilisation = utilisationOf(spec)
  return { ...found, utilisation, isHarmed: !(utilisation > MOST_UTILISATION) }
}

const line = ({ seed, kind, shed, requests, utilisation, reasons }) =>
  `seed ${seed} (${kind}): ${shed} of ${requests} shed at utilisation ${utilisation?.toFixed(2)}, ` +
  reasons.map(({ reason, count }) => `${reason} ${count}`).join(', ')

module.exports = { judge, line, run }
