'use strict'
// The part of bench/overload with a step: half the capacity, ten times it, and half again, in rounds. It
// shows how long the admitted requests wait in each second, and how soon after the step the last request is
// rejected. Beside the p99 of a second is the worst of its tenths, which has the request that waited longest.
// The timeline is that of the median round.

const { save } = require('../support/results')
const { median } = require('../support/statistics')

const STEPS = [
  { multiple: 0.5, seconds: 3 },
  { multiple: 10, seconds: 4 },
  { multiple: 0.5, seconds: 3 },
]
const STEP_FROM = STEPS[0].seconds
const STEP_TO = STEP_FROM + STEPS[1].seconds

async function measureOnce(runs, policy, { work, connections, arrivals }) {
  const capacity = await runs.capacity(work, 'kept')
  const { timeline, bucketMs, secondsP99Ms, ...result } = await runs.run({
    policy,
    work,
    arrivals,
    connections,
    phases: STEPS.map(({ multiple, seconds }) => ({ rate: capacity.rate * multiple, seconds })),
  })
  const perSecond = 1000 / bucketMs
  const firstTenths = timeline.slice(STEP_FROM * perSecond, (STEP_FROM + 1) * perSecond)
  const shedAfter = timeline.slice(STEP_TO * perSecond).findLastIndex(({ shed }) => shed > 0) + 1
  return {
    capacity: capacity.rate,
    foreign: result.foreign,
    unloadedP99Ms: Math.max(...secondsP99Ms.slice(1, STEP_FROM)),
    firstSecondP99Ms: secondsP99Ms[STEP_FROM],
    firstSecondWorstMs: Math.max(...firstTenths.map(({ p99Ms }) => p99Ms ?? 0)),
    laterP99Ms: Math.max(...secondsP99Ms.slice(STEP_FROM + 1, STEP_TO)),
    lastShedWithinMs: shedAfter * bucketMs,
    probesSent: result.probes.sent,
    probesAnswered: result.probes.answered,
    sendLagP99Ms: result.sendLagP99Ms,
    bucketMs,
    timeline,
  }
}

/** The medians of all rounds, and the time line of the one whose first second is nearest to theirs. */
function lineOf(policy, all) {
  const { bucketMs, timeline: _one, ...figures } = all[0]
  const medians = Object.fromEntries(
    Object.keys(figures).map((key) => [key, median(all.map((each) => each[key]))])
  )
  const farFrom = ({ firstSecondP99Ms }) => Math.abs(firstSecondP99Ms - medians.firstSecondP99Ms)
  const [{ timeline }] = all.toSorted((a, b) => farFrom(a) - farFrom(b))
  return { policy, rounds: all.length, ...medians, bucketMs, timeline }
}

const describe = (policy, figures) =>
  `${policy.padEnd(20)} p99 ${figures.unloadedP99Ms} ms before, ${figures.firstSecondP99Ms} in the first second (worst tenth ` +
  `${figures.firstSecondWorstMs}), ${figures.laterP99Ms} after it; last 503 within ${figures.lastShedWithinMs} ms of the end, ` +
  `probes ${figures.probesAnswered} of ${figures.probesSent}, lag ${figures.sendLagP99Ms}, others took ${(100 * figures.foreign).toFixed(1)}%\n`

async function measureStep(runs, { policies, rounds, name, ...load }) {
  const all = new Map(policies.map((policy) => [policy, []]))
  for (let round = 1; round <= rounds; round++) {
    for (const [policy, measured] of all) {
      measured.push(await measureOnce(runs, policy, load))
      process.stdout.write(describe(`${round} ${policy}`, measured.at(-1)))
    }
  }
  const lines = [...all].map(([policy, measured]) => lineOf(policy, measured))
  process.stdout.write(`\nmedians of ${rounds} rounds\n`)
  for (const line of lines) process.stdout.write(describe(line.policy, line))
  const saved = save(name, { work: load.work, connections: load.connections, rounds, steps: STEPS, lines })
  process.stdout.write(`saved ${saved}\n`)
}

module.exports = { measureStep }
