'use strict'
// First sends as many requests as the service answers, in a closed loop. Then it sends ten times as many, in
// an open loop. At last it runs a closed loop again, because a machine may have changed its speed meanwhile.
// The open loop of the benchmarks (bench/support/open-loop.js) counts each request from when it was due.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { json } = require('node:stream/consumers')

const OPEN_LOOP = path.join(__dirname, '..', '..', '..', 'bench', 'support', 'open-loop.js')
const CAPACITY_SECONDS = 1.5
const SETTLE_SECONDS = 1
const CLIENTS = 8
const TIMES = 10
const DEADLINE_MS = 250
const IDLE_MS = 15_000

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

/** The mean of the better half of the moments. In the other half, code was compiled or the CPU was taken. */
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

const say = (second, text) => process.send?.({ second, text })

/**
 * Waits until the server is idle. A server that took every request still works for clients that have left, so
 * it answers late.
 */
const idle = (url) => fetch(new URL('/livez', url), { signal: AbortSignal.timeout(IDLE_MS) }).catch(() => {})

/** The result of a story that was stopped: nothing was measured. */
const NOTHING = {
  seconds: 0,
  answered: 0,
  failed: 0,
  good: 0,
  late: 0,
  offered: 0,
  p50Ms: null,
  p99Ms: null,
  probes: { answered: 0, sent: 0 },
  sendLagP99Ms: 0,
  shed: 0,
}

async function measure({ url, seconds }) {
  const port = Number(new URL(url).port)
  say(1, 'measures how many requests a second it answers at most')
  const before = await answersAtMost(port)
  say(2, `answered ${Math.round(before)} a second, is asked for ${TIMES} times as many for ${seconds} s`)
  const seen = await generate({
    port,
    deadlineMs: DEADLINE_MS,
    warmUpSeconds: SETTLE_SECONDS,
    phases: [{ rate: before * TIMES, seconds: seconds + SETTLE_SECONDS }],
  })
  await idle(url)
  const after = await answersAtMost(port)
  say(3, `answers ${Math.round(after)} a second after it`)
  return { ...seen, capacity: (before + after) / 2 }
}

function report({ answered, capacity, failed, good, late, offered, p50Ms, p99Ms, ...seen }) {
  const { probes, seconds, sendLagP99Ms, shed } = seen
  const part = {
    name: 'GET /search',
    count: good + late,
    perSecond: answered,
    p50Ms,
    p99Ms,
    errors: failed,
    rejected: shed,
  }
  const whole = { seconds, capacity, offered, good, late, probes, sendLagP99Ms, parts: [part] }
  process.send?.({ report: whole }, () => process.exit())
}

process.on('disconnect', () => {
  child?.kill()
  process.exit()
})
process.once('message', async (given) => {
  const stopped = once(process, 'message').then(() => ({ ...NOTHING, capacity: 0 }))
  const seen = await Promise.race([measure(given), stopped])
  child?.kill()
  report(seen)
})
