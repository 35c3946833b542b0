'use strict'
// The demo's load, a process of its own, started by demo.js. It is open-loop: requests leave at a constant rate
// whether or not the ones before were answered, as people do, and their latency counts from the moment they were due.
// A load that waits for answers would slow down together with the server, and hide what its clients would suffer.

const http = require('node:http')
const { setTimeout: delay } = require('node:timers/promises')

// Until which part of the time, at which part of the rate, and the mix of requests.
const CALM = { '/hello/:i': 12, '/users/:i/orders': 5, '/search': 2, '/pay': 1 }
const PHASES = [
  { name: 'calm', until: 0.25, share: 1 / 3, mix: CALM },
  { name: 'busy', until: 0.55, share: 1, mix: { ...CALM, '/report': 1 } },
  { name: 'burst', until: 0.75, share: 1, mix: { ...CALM, '/report': 30 } },
  { name: 'calm', until: 1, share: 1 / 3, mix: CALM },
]

const LAST_ANSWERS_MS = 10_000

// Fewer connections than the 511 that Node lets wait to be accepted: past those the kernel leaves some hanging for many
// seconds. A request that waits for a connection is as late as one that waits in the server, and counted as such.
const agent = new http.Agent({ keepAlive: true, maxSockets: 400 })
let inFlight = 0
let failed = 0
let latenciesMs = []

async function run(url, seconds, rate) {
  const startMs = performance.now()
  for (let second = 0; second < seconds; second++) {
    const phase = PHASES.find(({ until }) => (second + 0.5) / seconds < until)
    const offered = Math.max(1, Math.round(rate * phase.share))
    const next = mixed(phase.mix)
    for (let i = 0; i < offered; i++) {
      const dueMs = startMs + (second + i / offered) * 1000
      await until(dueMs)
      request(url + next().replace(':i', String(i)), dueMs)
    }
    await until(startMs + (second + 1) * 1000)
    tell({ second: second + 1, phase: phase.name, offered, clientP99Ms: p99(latenciesMs) })
    latenciesMs = []
  }
  const endMs = performance.now() + LAST_ANSWERS_MS
  while (inFlight > 0 && performance.now() < endMs) await delay(10)
  tell({ unanswered: failed + inFlight })
  process.disconnect()
}

/** No wait for what is due already: a sender that was late must not thin out the load. */
async function until(dueMs) {
  const leftMs = dueMs - performance.now()
  if (leftMs > 0) await delay(Math.ceil(leftMs))
}

/** Each path as often as its weight says, spread evenly and in the same order in every run. */
function mixed(mix) {
  const entries = Object.entries(mix).map(([path, weight]) => ({ path, weight, due: 0 }))
  const total = entries.reduce((sum, { weight }) => sum + weight, 0)
  return () => {
    for (const entry of entries) entry.due += entry.weight
    const chosen = entries.reduce((most, entry) => (entry.due > most.due ? entry : most))
    chosen.due -= total
    return chosen.path
  }
}

function request(url, dueMs) {
  inFlight++
  http
    .get(url, { agent }, (res) => {
      res.resume()
      res.once('end', () => {
        inFlight--
        latenciesMs.push(performance.now() - dueMs)
      })
    })
    .once('error', () => {
      inFlight--
      failed++
    })
}

function p99(values) {
  const ascending = values.toSorted((a, b) => a - b)
  return ascending[Math.ceil(ascending.length * 0.99) - 1]
}

function tell(message) {
  // The callback takes the error of a demo that has just gone: `disconnect` follows.
  process.send(message, () => {})
}

if (process.send === undefined) {
  console.error('examples/demo.js starts this load itself: run that.')
  process.exitCode = 2
} else {
  process.once('disconnect', () => process.exit())
  run(process.argv[2], Number(process.argv[3]), Number(process.argv[4]))
}
