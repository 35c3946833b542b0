'use strict'
// First asks for as much as the service answers, in a closed loop, then for ten times that, by the clock, and then in a closed loop again:
// a machine may have changed its speed meanwhile. The open loop of the benchmarks (bench/support/open-loop.js) counts each request from when
// it was due.

const { spawn } = require('node:child_process')
const path = require('node:path')
const { json } = require('node:stream/consumers')

const OPEN_LOOP = path.join(__dirname, '..', '..', '..', 'bench', 'support', 'open-loop.js')
const CAPACITY_SECONDS = 1.5
const SETTLE_SECONDS = 1
const CLIENTS = 8
const TIMES = 10
const DEADLINE_MS = 250

let child
function generate(options) {
  child = spawn(
    process.execPath,
    [OPEN_LOOP, JSON.stringify({ warmRequests: 0, path: '/search', ...options })],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    }
  )
  return json(child.stdout)
}

/** Of the better half of the moments: in the others its code was compiled, or another program had the CPU. */
function capacityOf({ bucketMs, timeline }) {
  const answers = timeline.map(({ good, late }) => good + late).sort((a, b) => b - a)
  const best = answers.slice(0, Math.ceil(answers.length / 2))
  return (best.reduce((sum, count) => sum + count, 0) / best.length) * (1000 / bucketMs)
}

async function answersAtMost(port) {
  const alone = await generate({
    port,
    arrivals: 'closed',
    closed: CLIENTS,
    probes: false,
    warmUpSeconds: CAPACITY_SECONDS / 3,
    phases: [{ rate: 0, seconds: CAPACITY_SECONDS }],
  })
  return capacityOf(alone)
}

const say = (second, text) => process.send?.({ second, served: 0, text })

async function run({ url, seconds }) {
  const port = Number(new URL(url).port)
  say(1, 'measures what it answers at most')
  const before = await answersAtMost(port)
  say(2, `answers ${Math.round(before)} a second, is asked for ${TIMES} times as many`)
  const seen = await generate({
    port,
    deadlineMs: DEADLINE_MS,
    warmUpSeconds: SETTLE_SECONDS,
    phases: [{ rate: before * TIMES, seconds: seconds + SETTLE_SECONDS }],
  })
  const capacity = (before + (await answersAtMost(port))) / 2
  const { answered, failed, good, late, offered, p50Ms, p99Ms, probes, sendLagP99Ms, shed } = seen
  const part = {
    name: 'GET /search',
    count: good + late,
    perSecond: answered,
    p50Ms,
    p99Ms,
    errors: failed,
    rejected: shed,
  }
  const report = { seconds: seen.seconds, capacity, offered, good, late, probes, sendLagP99Ms, parts: [part] }
  process.send?.({ report }, () => process.exit())
}

process.on('disconnect', () => {
  child?.kill()
  process.exit()
})
process.once('message', run)
