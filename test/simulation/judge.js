'use strict'
// Whether a world was harmed by the gate: invariants 1 and 2, "a load that the process answers at up to 70 %
// utilisation without a gate is never shed beyond .1 %". It counts from two seconds after the loop without a
// gate first idles again: what a surge or a stall leaves keeps any process busy until then. Only where
// something was shed is the world run without a gate. And whether the loop was the reason of a rejection
// while it idled: invariant 4, all the time.

const { featureStack } = require('./feature-stack')
const { exceededMs, withFeatures } = require('./features')
const { AFTER_MS, generate } = require('./generate')
const { stack } = require('./stack')
const { World } = require('./world')

const MAX_UTILISATION = 0.7
const MAX_SHED = 0.001
/** A surge may bring more work than fits into this time. Then what was found up to here is judged. */
const MAX_SECONDS = 100

const worldOf = (spec, shed, given) =>
  new World(structuredClone(spec), {
    stack: given ?? (spec.features === undefined ? stack : featureStack(spec.features)),
    shed,
    keepsRequests: false,
  })

/** Counts the rejections whose reason is the loop, and those of them while it idled a tenth of its time. */
function loopRejectionsOf({ admission: { rejectionPeriod, measurements } }) {
  const counts = { all: 0, whileIdling: 0 }
  const { record } = rejectionPeriod
  rejectionPeriod.record = (reason, nowMs, cause) => {
    if (reason === 'loop') {
      counts.all++
      if (measurements.turns.isIdling(nowMs)) counts.whileIdling++
    }
    record.call(rejectionPeriod, reason, nowMs, cause)
  }
  return counts
}

/**
 * Without a gate: the share of the time from `measuredMs` on in which the loop is busy, and when it first
 * idles after the disturbance. What a surge or a stall has left is part of the disturbance, because it is
 * served before that.
 */
function ungated(spec) {
  const world = worldOf(spec, { mode: 'off' }, stack)
  const { admission, loop } = world
  const { onTurn } = admission
  let [idledMs, disturbedIdleMs, servedMs] = [undefined, undefined, Number.POSITIVE_INFINITY]
  loop.at(spec.measuredMs, () => {
    idledMs = loop.idleTotalMs
  })
  admission.onTurn = (busyMs, nowMs, idleMs) => {
    onTurn.call(admission, busyMs, nowMs, idleMs)
    if (nowMs >= spec.disturbedMs) disturbedIdleMs ??= idleMs
    if (idleMs > disturbedIdleMs) servedMs = Math.min(servedMs, nowMs)
  }
  world.run()
  if (spec.features !== undefined) servedMs = Math.max(servedMs, exceededMs(spec, world.requests))
  // One turn may last from before `measuredMs` until the end.
  if (idledMs === undefined) return { utilisation: 1, servedMs }
  return { utilisation: 1 - (loop.idleTotalMs - idledMs) / (loop.nowMs - spec.measuredMs), servedMs }
}

/**
 * @returns {{ requests: number, shed: number, isHarmed: boolean, utilisation?: number, reasons: any,
 *   loopRejections: { all: number, whileIdling: number } }}
 */
function judge(seed, { stack: given, hasFeatures = false, ...options } = {}) {
  const spec = generate(seed, options)
  return judgeWorld(hasFeatures ? withFeatures(spec) : spec, given)
}

function judgeWorld(spec, given) {
  const world = worldOf(spec, undefined, given)
  const loopRejections = loopRejectionsOf(world)
  world.run()
  const requests = world.requests.filter(({ atMs }) => atMs >= spec.measuredMs)
  const shed = requests.filter(({ shedMs }) => shedMs !== undefined).length
  const found = {
    seed: spec.seed,
    kind: spec.kind,
    crowds: spec.crowds,
    requests: requests.length,
    shed,
    reasons: world.admission.sample().shed,
    loopRejections,
  }
  if (shed <= Math.max(1, requests.length * MAX_SHED)) return { ...found, isHarmed: false }
  const { utilisation, servedMs } = ungated(spec)
  const laterMs = Math.min(servedMs, spec.seconds * 1000) + AFTER_MS - spec.measuredMs
  if (spec.disturbedMs > 0 && laterMs > 0 && spec.seconds < MAX_SECONDS)
    return judgeWorld(longer(spec, laterMs), given)
  return { ...found, utilisation, isHarmed: !(utilisation > MAX_UTILISATION) }
}

/** The same world, measured later and for as long. */
const longer = (spec, ms) => ({
  ...spec,
  seconds: spec.seconds + ms / 1000,
  measuredMs: spec.measuredMs + ms,
})

const line = ({ seed, kind, crowds, shed, requests, utilisation, reasons }) =>
  `seed ${seed} (${[kind, ...crowds].join(', ')}): ${shed} of ${requests} shed at utilisation ${utilisation?.toFixed(2)}, ` +
  reasons.map(({ reason, count }) => `${reason} ${count}`).join(', ')

module.exports = { judge, line, loopRejectionsOf }
