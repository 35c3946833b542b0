'use strict'
// The demo's load, a process of its own, started by demo.js. It is open-loop: requests leave at a constant rate
// whether or not the ones before were answered, as people do, and their latency counts from the moment they were due.
// A load that waits for answers would slow down together with the server, and hide what its clients would suffer.
// First it warms the server up and finds out how much it can do; then, twice, it goes from half of that to ten times and back.

const http = require('node:http')
const { setTimeout: delay } = require('node:timers/promises')

const MIX = { '/hello/:i': 4, '/report': 4, '/users/:i/orders': 2, '/search': 1, '/pay': 1 }
// Until which part of a pass, at how many times the capacity.
const STEPS = [
  { until: 0.25, times: 0.5 },
  { until: 0.75, times: 10 },
  { until: 1, times: 0.5 },
]
const GATES = ['off', 'on']
// Of 17 requests one is of a client that pays most and five are of clients that pay nothing, whatever they ask for.
const PLANS = ['gold', 'free', 'free', 'free', 'free', 'free']
const PLANS_AMONG = 17
/** An answer that took longer came too late to be of use. */
const IN_TIME_MS = 250
/** Then a client gives up. */
const PATIENCE_MS = 2000
const PROBE_EVERY_MS = 250
const PROBE_PATIENCE_MS = 1000
/** For the compiler: what runs for the first time takes several times as long. */
const WARM_UP_MS = 2500
const SLICE_MS = 250
const SLICES = 8
const MEASURE_AT_ONCE = 16

// Fewer connections than the 511 that Node lets wait to be accepted: past those the kernel leaves some hanging for many
// seconds. A request that waits for a connection is as late as one that waits in the server, and counted as such.
const agent = new http.Agent({ keepAlive: true, maxSockets: 400 })
const seen = { good: 0, lateMs: 0, latenciesMs: [], probes: 0, probesAnswered: 0 }
let pending = 0
let sentBefore = 0
let url

async function run(seconds, givenRate) {
  const next = mixed(MIX)
  await ask({ gate: 'off' })
  const capacity = givenRate || (await measureCapacity(next))
  await ask({ capacity })
  let second = 0
  for (const [pass, gate] of GATES.entries()) {
    const length = pass === 0 ? Math.ceil(seconds / 2) : Math.floor(seconds / 2)
    // First: what is left of the pass before is not for this gate to refuse.
    await settled()
    await ask({ gate })
    const startMs = performance.now()
    const probes = setInterval(probe, PROBE_EVERY_MS)
    for (let i = 0; i < length; i++) {
      const { times } = STEPS.find(({ until }) => (i + 0.5) / length <= until)
      const offered = Math.max(1, Math.round(capacity * times))
      await offer(offered, startMs + i * 1000, next)
      tell({ second: ++second, gate, times, offered, ...taken() })
    }
    clearInterval(probes)
  }
  agent.destroy()
  process.disconnect()
}

async function offer(count, startMs, next) {
  for (let i = 0; i < count; i++) {
    const dueMs = startMs + (i / count) * 1000
    await until(dueMs)
    seen.lateMs = Math.max(seen.lateMs, performance.now() - dueMs)
    request(next(), dueMs)
  }
  await until(startMs + 1000)
}

/** No wait for what is due already: a sender that was late must not thin out the load. */
async function until(dueMs) {
  const leftMs = dueMs - performance.now()
  if (leftMs > 0) await delay(Math.ceil(leftMs))
}

/** How many a second are answered when some always wait: the median of short slices, once the server is warm. */
async function measureCapacity(next) {
  const warmMs = performance.now() + WARM_UP_MS
  const endMs = warmMs + SLICES * SLICE_MS
  const answered = Array(SLICES).fill(0)
  const client = async () => {
    for (let nowMs = 0; nowMs < endMs; nowMs = performance.now()) {
      await new Promise((resolve) => request(next(), performance.now(), resolve))
      const slice = Math.floor((performance.now() - warmMs) / SLICE_MS)
      if (slice in answered) answered[slice]++
    }
  }
  const clients = Array.from({ length: MEASURE_AT_ONCE }, client)
  await delay(WARM_UP_MS)
  tell({ isWarm: true })
  await Promise.all(clients)
  taken()
  const [low, high] = answered
    .slice(0, SLICES)
    .sort((a, b) => a - b)
    .slice(SLICES / 2 - 1)
  return Math.max(1, Math.round((((low + high) / 2) * 1000) / SLICE_MS))
}

/** The backlog of the pass before is not to be counted to the next: all of it is answered, or its clients have left. */
async function settled() {
  while (pending > 0) await delay(20)
  const endMs = performance.now() + 10_000
  let tookMs = Number.POSITIVE_INFINITY
  while (tookMs > 50 && performance.now() < endMs) {
    const sinceMs = performance.now()
    await new Promise((resolve) => request('/hello/again', sinceMs, resolve))
    tookMs = performance.now() - sinceMs
  }
  taken()
}

/** Each path as often as its weight says, spread evenly and in the same order in every run. */
function mixed(mix) {
  const entries = Object.entries(mix).map(([path, weight]) => ({ path, weight, due: 0 }))
  const total = entries.reduce((sum, { weight }) => sum + weight, 0)
  let count = 0
  return () => {
    for (const entry of entries) entry.due += entry.weight
    const chosen = entries.reduce((most, entry) => (entry.due > most.due ? entry : most))
    chosen.due -= total
    return chosen.path.replace(':i', String(count++))
  }
}

function request(path, dueMs, done = () => {}) {
  pending++
  const plan = PLANS[sentBefore++ % PLANS_AMONG]
  const headers = plan === undefined ? {} : { 'x-plan': plan }
  const sent = http.get(url + path, { agent, headers }, (res) => {
    res.resume()
    res.once('end', () => {
      // A refusal is an answer, and no service.
      if (res.statusCode === 503) return
      const tookMs = performance.now() - dueMs
      seen.latenciesMs.push(tookMs)
      if (tookMs <= IN_TIME_MS) seen.good++
    })
  })
  const patience = setTimeout(() => sent.destroy(), PATIENCE_MS)
  sent.once('error', () => {})
  sent.once('close', () => {
    pending--
    clearTimeout(patience)
    done()
  })
}

/** As a load balancer asks: on a connection of its own, and not for long. */
function probe() {
  const sent = http.get(`${url}/livez`, { agent: false, timeout: PROBE_PATIENCE_MS }, (res) => {
    if (res.statusCode === 200) seen.probesAnswered++
    res.resume()
  })
  sent.once('timeout', () => sent.destroy())
  sent.once('error', () => {})
  sent.once('close', () => seen.probes++)
}

/** What was seen since the last time. */
function taken() {
  const ascending = seen.latenciesMs.sort((a, b) => a - b)
  const { good, lateMs, probes, probesAnswered } = seen
  const p99Ms = ascending[Math.ceil(ascending.length * 0.99) - 1]
  Object.assign(seen, { good: 0, lateMs: 0, latenciesMs: [], probes: 0, probesAnswered: 0 })
  return { good, lateMs, p99Ms, probes, probesAnswered }
}

function tell(message) {
  // The callback takes the error of a demo that has just gone: `disconnect` follows.
  process.send(message, () => {})
}

/** Tells the demo something that it has to act on before the load goes on. */
function ask(message) {
  tell(message)
  return new Promise((resolve) => process.once('message', resolve))
}

if (process.send === undefined) {
  console.error('examples/demo.js starts this load itself: run that.')
  process.exitCode = 2
} else {
  process.once('disconnect', () => process.exit())
  url = process.argv[2]
  run(Number(process.argv[3]), Number(process.argv[4]))
}
