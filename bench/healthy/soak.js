'use strict'
// The soak of bench/healthy: a healthy mix of clients against one server, with one forced major collection a
// minute. Each minute, it prints a line with what was sent and shed and what the server used. Nothing may be
// shed, and the doctor, asked every ten seconds, must find nothing.

const { setTimeout: delay } = require('node:timers/promises')
const { clockMs } = require('./clock')
const { BYSTANDER } = require('./rows')
const { startClient, startService } = require('./run')

const MINUTE_MS = 60_000
const ASKS_PER_MINUTE = 6
const LEAD_MS = 1000
/** A timer of Node lasts 24 days at most. */
const LONGEST_MS = 20 * 24 * 60 * MINUTE_MS
/** Long polls and the fast route beside them stand for Socket.IO: a GET that waits, and short POSTs. */
const MIX = [
  { kind: 'again', clients: 150, path: '/wait?wait={300,1800}' },
  { kind: 'streams', clients: 200, path: '/stream' },
  { kind: 'again', clients: 100, path: '/poll?wait={1000,25000}' },
  { kind: 'again', clients: 100, path: '/fast?burn=.1', thinkMs: 1000 },
  { kind: 'uploads', rate: 30, leaveMs: 900, path: '/upload' },
  { kind: 'bursts', size: 30, everyMs: 1000, path: '/burst?wait=900' },
]
const ROW = { server: 'server.js' }

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`
const total = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** @returns {any} the figures of a minute, from the tallies of the clients and the answers of the server */
function minuteOf(minute, [bystander, others], before, after, found) {
  return {
    minute,
    sent: bystander.sent + others.sent,
    shed: bystander.shed + others.shed,
    failed: bystander.failed + others.failed,
    bystanderP99Ms: bystander.p99Ms,
    cpu: (after.cpuMs - before.cpuMs) / (after.atMs - before.atMs),
    heapBytes: after.heapBytes,
    inFlight: after.inFlight,
    limit: after.limit,
    reasons: after.shed,
    shedInAll: total(after.shed),
    found,
  }
}

const lineOf = ({ minute, sent, shed, failed, bystanderP99Ms, cpu, heapBytes, inFlight, shedInAll, found }) =>
  `minute ${minute}: ${sent} sent, ${shed} shed (${shedInAll} in all), ${failed} failed, ` +
  `p99 ${Math.round(bystanderP99Ms ?? 0)} ms, CPU ${cpu.toFixed(2)}, ${inFlight} in flight, ${megabytes(heapBytes)}` +
  found.map((summary) => `\n  found: ${summary}`).join('')

/** Forces a major collection in the middle of a minute. @returns {Promise<string[]>} what the doctor found */
async function passMinute(server) {
  const found = new Map()
  for (let asked = 1; asked <= ASKS_PER_MINUTE; asked++) {
    await delay(MINUTE_MS / ASKS_PER_MINUTE)
    if (asked === ASKS_PER_MINUTE / 2) await server.ask('gc')
    for (const { problem, summary } of await server.ask('findings')) found.set(problem, summary)
  }
  return [...found.values()]
}

/**
 * @param {{ minutes: number, framework: string, mode: string, print: (line: string) => void }} options
 * @returns {Promise<any[]>} the figures of each minute
 */
async function soak({ minutes, framework, mode, print }) {
  const server = await startService({ ...ROW, framework }, { mode })
  const clients = []
  try {
    await server.ask('fillHeap')
    const startMs = clockMs() + LEAD_MS
    const plan = { port: server.port, startMs, fromMs: 0, toMs: startMs + LONGEST_MS }
    for (const behaviours of [[BYSTANDER], MIX]) {
      const client = await startClient('client.js')
      clients.push(client)
      client.tell({ ...plan, behaviours })
    }
    const results = []
    let before = await server.ask('figures')
    for (let minute = 1; minute <= minutes; minute++) {
      const found = await passMinute(server)
      const after = await server.ask('figures')
      const tallies = await Promise.all(clients.map((client) => client.ask('take')))
      results.push(minuteOf(minute, tallies, before, after, found))
      print(lineOf(results[results.length - 1]))
      before = after
    }
    return results
  } finally {
    for (const client of clients) client.stop()
    await server.stop()
  }
}

module.exports = { soak }
