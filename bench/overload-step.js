'use strict'
// The other half of bench/overload.js: half the capacity, ten times it, and half again, second by second, for each
// policy once. How long do those let in wait in the step, and how soon after it is the last one refused?

const { save } = require('./results')

const STEPS = [
  { multiple: 0.5, seconds: 3 },
  { multiple: 10, seconds: 4 },
  { multiple: 0.5, seconds: 3 },
]

async function measureStep(runs, { work, policies, connections, arrivals }) {
  const lines = []
  for (const policy of policies) {
    const capacity = await runs.capacity(work, 'kept')
    const result = await runs.run({
      policy,
      work,
      arrivals,
      connections,
      phases: STEPS.map(({ multiple, seconds }) => ({ rate: capacity.rate * multiple, seconds })),
    })
    const stepFrom = (STEPS[0].seconds * 1000) / result.bucketMs
    const stepTo = stepFrom + (STEPS[1].seconds * 1000) / result.bucketMs
    const p99In = (from, to) => Math.max(...result.timeline.slice(from, to).map(({ p99Ms }) => p99Ms ?? 0))
    const shedBuckets = result.timeline.slice(stepTo).findLastIndex(({ shed }) => shed > 0) + 1
    const line = {
      policy,
      capacity: capacity.rate,
      foreign: result.foreign,
      unloadedP99Ms: p99In(10, stepFrom),
      firstSecondP99Ms: p99In(stepFrom, stepFrom + 10),
      laterP99Ms: p99In(stepFrom + 10, stepTo),
      lastShedWithinMs: shedBuckets * result.bucketMs,
      probes: result.probes,
      sendLagP99Ms: result.sendLagP99Ms,
    }
    process.stdout.write(
      `${policy.padEnd(24)} worst p99 of 100 ms: ${line.unloadedP99Ms} before, ${line.firstSecondP99Ms} in the first second, ` +
        `${line.laterP99Ms} after it; last 503 within ${line.lastShedWithinMs} ms of the step's end, ` +
        `probes ${result.probes.answered} of ${result.probes.sent}, lag ${result.sendLagP99Ms}, others took ${(100 * result.foreign).toFixed(1)}%\n`
    )
    lines.push({ ...line, bucketMs: result.bucketMs, timeline: result.timeline })
  }
  process.stdout.write(`saved ${save('overload-step', { work, connections, steps: STEPS, lines })}\n`)
}

module.exports = { measureStep }
