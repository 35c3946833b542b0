'use strict'
// The demo's load, a child process of the demo. It warms the server up and measures its capacity. Then, for
// each gate mode, it sends an open loop of half the capacity, ten times the capacity and half again, and a
// closed loop. An open loop sends at a constant rate whether or not earlier requests were answered, and
// measures latency from the moment a request was due. The closed loop has clients that wait for an answer and
// then ask again at once: it slows down with the server, so its number of clients bounds the queue.

const http = require('node:http')
const { setTimeout: delay } = require('node:timers/promises')

const MIX = { '/hello/:i': 4, '/report': 4, '/users/:i/orders': 2, '/search': 1, '/pay': 1 }
// `times`: multiple of the capacity, of an open loop. `clients`: of a closed loop. `until`: the share of the
// pass at which the step ends.
const STEPS = [
  { until: 0.13, times: 0.5 },
  { until: 0.62, times: 10 },
  { until: 0.73, times: 0.5 },
  { until: 1, clients: 50 },
]
const GATES = ['off', 'on']
// In the open loop, of 17 requests one is from a gold client and five are from free clients, independent of
// the path. In the closed loop all clients are of one class: the queue runs a lower class last.
const PLANS = ['gold', 'free', 'free', 'free', 'free', 'free']
const PLANS_AMONG = 17
/** An answer that takes longer is of no use to the client. */
const IN_TIME_MS = 250
/** After this time a client gives up and disconnects. */
const CLIENT_TIMEOUT_MS = 2000
const PROBE_EVERY_MS = 250
const PROBE_TIMEOUT_MS = 1000
/**
 * The open loop has many users behind few connections, as a load balancer has. This header tells the gate so.
 */
const BY_GATEWAY = { 'x-forwarded-for': '203.0.113.7' }
/** Between two loops: an idle server counts its clients anew. */
const PAUSE_MS = 1200
/** Until V8 has compiled the hot functions, requests take several times as long. */
const WARM_UP_MS = 2500
const SLICE_MS = 250
const SLICES = 8
const MEASURE_AT_ONCE = 16

// Fewer connections than Node's listen backlog of 511: beyond the backlog the kernel leaves connections
// hanging for many seconds. In the open loop, the time a request waits for a connection is part of its
// latency.
const MAX_CONNECTIONS = 400
let agent = agentOf(MAX_CONNECTIONS)
const emptySample = () => ({ sent: 0, good: 0, lateMs: 0, latenciesMs: [], probes: 0, probesAnswered: 0 })
let sample = emptySample()
let pending = 0
let sentCount = 0
let url

async function run(seconds, givenRate) {
  const next = pathPicker(MIX)
  await reportAndWait({ gate: 'off' })
  const capacity = givenRate || (await measureCapacity(next))
  await reportAndWait({ capacity })
  let second = 0
  for (const [pass, gate] of GATES.entries()) {
    const length = pass === 0 ? Math.ceil(seconds / 2) : Math.floor(seconds / 2)
    for (const loop of loopsOf(length)) {
      const [{ clients }] = loop
      await beginLoop(gate, clients)
      const startMs = performance.now()
      const probes = setInterval(probe, PROBE_EVERY_MS)
      if (clients !== undefined) askAgain(clients, startMs + loop.length * 1000, next)
      for (const [i, step] of loop.entries()) {
        if (clients === undefined) await offer(capacity * step.times, startMs + i * 1000, next)
        else await until(startMs + (i + 1) * 1000)
        report({ second: ++second, gate, times: step.times, clients, ...takeSample() })
      }
      clearInterval(probes)
    }
  }
  agent.destroy()
  process.disconnect()
}

/** Groups the seconds of a pass: the open loop with all its steps, and each closed loop by itself. */
function loopsOf(length) {
  const loops = []
  for (let i = 0; i < length; i++) {
    const step = STEPS.find(({ until }) => (i + 0.5) / length <= until)
    if (loops.at(-1)?.[0].clients === step.clients && loops.length > 0) loops.at(-1).push(step)
    else loops.push([step])
  }
  return loops
}

/** Requests of the loop before must not reach the server in this one, nor its connections count. */
async function beginLoop(gate, clients = MAX_CONNECTIONS) {
  await waitUntilIdle()
  agent.destroy()
  await until(performance.now() + PAUSE_MS)
  agent = agentOf(clients)
  await reportAndWait({ gate })
}

function agentOf(connections) {
  return new http.Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections })
}

/** Starts clients that each send a request as soon as the last one is answered, until `endMs`. */
function askAgain(clients, endMs, next) {
  const ask = () => {
    if (performance.now() < endMs) request(next(), performance.now(), ask)
  }
  for (let i = 0; i < clients; i++) ask()
}

async function offer(perSecond, startMs, next) {
  const count = Math.max(1, Math.round(perSecond))
  for (let i = 0; i < count; i++) {
    const dueMs = startMs + (i / count) * 1000
    await until(dueMs)
    sample.lateMs = Math.max(sample.lateMs, performance.now() - dueMs)
    request(next(), dueMs, undefined, gatewayHeaders())
  }
  await until(startMs + 1000)
}

/** Does not wait if the time is past already: a late sender must not lower the load. */
async function until(dueMs) {
  const leftMs = dueMs - performance.now()
  if (leftMs > 0) await delay(Math.ceil(leftMs))
}

/** Answers per second while requests always wait: the median of short slices, after the warm-up. */
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
  report({ isWarm: true })
  await Promise.all(clients)
  takeSample()
  const [low, high] = answered
    .slice(0, SLICES)
    .sort((a, b) => a - b)
    .slice(SLICES / 2 - 1)
  return Math.max(1, Math.round((((low + high) / 2) * 1000) / SLICE_MS))
}

/**
 * Waits until every request of the loop before is answered or its client has disconnected, and the server is
 * fast again.
 */
async function waitUntilIdle() {
  while (pending > 0) await delay(20)
  const endMs = performance.now() + 10_000
  let tookMs = Number.POSITIVE_INFINITY
  while (tookMs > 50 && performance.now() < endMs) {
    const sinceMs = performance.now()
    await new Promise((resolve) => request('/hello/again', sinceMs, resolve))
    tookMs = performance.now() - sinceMs
  }
  takeSample()
}

/** Returns a function that picks paths by weight, evenly spread and in the same order in every run. */
function pathPicker(mix) {
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

function gatewayHeaders() {
  const plan = PLANS[sentCount++ % PLANS_AMONG]
  return plan === undefined ? BY_GATEWAY : { ...BY_GATEWAY, 'x-plan': plan }
}

function request(path, dueMs, done = () => {}, headers = {}) {
  pending++
  sample.sent++
  const sent = http.get(url + path, { agent, headers }, (res) => {
    res.resume()
    res.once('end', () => {
      // A rejection is an answer, but it does not serve the client.
      if (res.statusCode === 503) return
      const tookMs = performance.now() - dueMs
      sample.latenciesMs.push(tookMs)
      if (tookMs <= IN_TIME_MS) sample.good++
    })
  })
  const timeout = setTimeout(() => sent.destroy(), CLIENT_TIMEOUT_MS)
  sent.once('error', () => {})
  sent.once('close', () => {
    pending--
    clearTimeout(timeout)
    done()
  })
}

/** Probes as a load balancer does: on a new connection, with a short timeout. */
function probe() {
  pending++
  const sent = http.get(`${url}/livez`, { agent: false, timeout: PROBE_TIMEOUT_MS }, (res) => {
    if (res.statusCode === 200) sample.probesAnswered++
    res.resume()
  })
  sent.once('timeout', () => sent.destroy())
  sent.once('error', () => {})
  sent.once('close', () => {
    pending--
    sample.probes++
  })
}

/** What was measured since the last call. */
function takeSample() {
  const { latenciesMs, ...taken } = sample
  sample = emptySample()
  return { ...taken, latenciesMs: latenciesMs.sort((a, b) => a - b) }
}

function report(message) {
  // The callback swallows the error if the demo has just exited: `disconnect` follows.
  process.send(message, () => {})
}

/** Sends a message, and waits until the demo has acted on it. */
function reportAndWait(message) {
  report(message)
  return new Promise((resolve) => process.once('message', resolve))
}

if (process.send === undefined) {
  console.error('Run examples/demo.js instead: it starts this load.')
  process.exitCode = 2
} else {
  process.once('disconnect', () => process.exit())
  url = process.argv[2]
  run(Number(process.argv[3]), Number(process.argv[4]))
}
