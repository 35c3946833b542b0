'use strict'
// npm run bench -- proxy-age [flags]
//
// Measures a service behind a proxy that queues in front of it: HAProxy opens at most 16 connections, and a
// request takes 50 ms of a database. So the service can serve 320 requests a second, and its event loop
// idles. 480 a second come. The clients wait for a second. What does not fit grows old in the queue of
// HAProxy, where the service cannot see it.
//
//   haproxy         HAProxy stamps each request and queues it
//   nginx, haproxy  nginx stamps each request, and HAProxy behind it queues it
//
//   none  without spillway
//   gate  with attach(): nothing is rejected, because the event loop idles
//   age   with proxy.requestStart, and shed.maxAge of 700 ms
//
// in time: 200s within a second of the scheduled arrival, as a share of the capacity
//
//   --seconds 4    how long each run counts, after two seconds of the load
//   --save <name>  saves to bench/results/<name>-node-<major>.json (proxy-age)

const { MAX_CLIENTS, missingFor, startProxy } = require('../gateways/proxies')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { generate } = require('../support/load')
const { startServer } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { headLine, progress, rowLine } = require('../support/terminal')

const SERVER = path.join(__dirname, 'server.js')
const CONNECTIONS = 16
const PATIENCE_MS = 1000
const WORK_MS = 50
const CAPACITY = (CONNECTIONS * 1000) / WORK_MS
const MULTIPLE = 1.5
/** The queue of HAProxy is older than the patience of the clients by then, unless somebody is rejected. */
const SETTLE_SECONDS = 2
const POLICIES = ['none', 'gate', 'age']
/** From the service to the client. */
const CHAINS = [['haproxy'], ['haproxy', 'nginx']]

const flags = readFlags({ seconds: 4, save: 'proxy-age' })

/** Starts the proxies, the one next to the service first. The one next to the clients stamps. */
async function startChain(names, port) {
  const started = []
  for (const [i, name] of names.entries()) {
    const isFirst = i === 0
    const stamps = i === names.length - 1
    const to = isFirst ? port : started[i - 1].port
    started.push(
      await startProxy(name, { port: to, connections: isFirst ? CONNECTIONS : MAX_CLIENTS, stamps })
    )
  }
  return {
    port: started.at(-1).port,
    stop: async () => {
      for (const each of started.reverse()) await each.stop()
    },
  }
}

async function measure(names, policy) {
  const server = await startServer(SERVER, [policy])
  const chain = await startChain(names, server.port)
  try {
    const seconds = SETTLE_SECONDS + flags.seconds
    const result = await generate({
      port: chain.port,
      phases: [{ rate: CAPACITY * MULTIPLE, seconds }],
      warmUpSeconds: SETTLE_SECONDS,
      warmRequests: 200,
      deadlineMs: PATIENCE_MS,
      mostConnections: MAX_CLIENTS / 2,
      probes: false,
    })
    const { goodput, late, shed, failed, offered, p50Ms, p99Ms } = result
    const proxy = await server.ask('proxy')
    return {
      proxies: [...names].reverse().join(', '),
      policy,
      ratio: goodput / CAPACITY,
      p50Ms,
      p99Ms,
      shedPerSecond: shed / flags.seconds,
      late: late / offered,
      neither: failed / offered,
      proxyP99Ms: proxy === null ? null : proxy.lastMinute.p99Ms,
    }
  } finally {
    await chain.stop()
    await server.stop()
  }
}

const percent = (share) => `${(share * 100).toFixed(1)} %`
const whole = (value) => (value === null ? '-' : value.toFixed(0))

/** @type {import('../support/terminal').Column[]} */
const COLUMNS = [
  ['proxies', -15, ({ proxies }) => proxies],
  ['policy', -6, ({ policy }) => policy],
  ['in time', 7, ({ ratio }) => ratio.toFixed(2)],
  ['p50 ms', 6, ({ p50Ms }) => whole(p50Ms)],
  ['p99 ms', 6, ({ p99Ms }) => whole(p99Ms)],
  ['503s/s', 6, ({ shedPerSecond }) => whole(shedPerSecond)],
  ['late', 7, ({ late }) => percent(late)],
  ['neither', 7, ({ neither }) => percent(neither)],
  ['in the proxy, p99 ms', 20, ({ proxyP99Ms }) => whole(proxyP99Ms)],
]

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  // A proxy that outlives the bench would disturb the next. An exit ends it.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.once(signal, () => process.exit(1))
  const rows = []
  const skipped = {}
  for (const names of CHAINS) {
    const missing = names.map(missingFor).find(Boolean)
    if (missing !== undefined) {
      skipped[names.join(', ')] = missing
      process.stdout.write(`${names.join(', ')} is skipped: ${missing}\n`)
      continue
    }
    for (const policy of POLICIES) {
      progress(`${names.join(', ')} ${policy}`)
      rows.push(await measure(names, policy))
    }
  }
  progress('')
  process.stdout.write(headLine(COLUMNS))
  for (const row of rows) process.stdout.write(rowLine(COLUMNS, row))
  const { seconds } = flags
  const load = { capacity: CAPACITY, multiple: MULTIPLE, patienceMs: PATIENCE_MS, seconds }
  process.stdout.write(`saved ${save(flags.save, { ...load, skipped, rows })}\n`)
}

main()
