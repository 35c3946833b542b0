'use strict'
// A cluster for profiles by name: a primary that is a member too, and two workers with a route each.
// `node profiled-cluster.js`. The primary tells the admin port of every member, and does to a worker what the
// test says.

const cluster = require('node:cluster')
const { once } = require('node:events')
const http = require('node:http')
const { createSpillway } = require('../../src/index.js')

const WORKERS = 2
const BURN_MS = 5
/** A busy machine makes overloads, in which profiles are refused. */
const NO_SHEDDING = { shed: { mode: /** @type {const} */ ('off') } }

/** Each worker burns in a function of its own name. */
const BURNERS = {
  1: function burnInFirst() {
    return burn()
  },
  2: function burnInSecond() {
    return burn()
  },
}

function burn() {
  const begun = process.cpuUsage()
  let sum = 0
  while (process.cpuUsage(begun).user / 1000 < BURN_MS) for (let i = 0; i < 1e4; i++) sum += i
  return sum
}

async function openMember() {
  const spillway = createSpillway({ logger: false, ...NO_SHEDDING })
  const admin = await spillway.listen({ port: 0, maxRequestsPerSecond: 1000 })
  return { spillway, adminPort: admin.port }
}

async function runWorker() {
  const { spillway, adminPort } = await openMember()
  const burnHere = BURNERS[cluster.worker?.id ?? 0]
  const server = http.createServer((_req, res) => res.end(String(burnHere())))
  spillway.attach(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  await spillway.fleetSnapshot()
  process.on('message', (order) => {
    if (order === 'exit') process.exit(0)
    const { calls } = spillway
      .snapshot()
      .outgoing.hosts.reduce((sum, each) => ({ calls: sum.calls + each.sinceStart.count }), {
        calls: 0,
      })
    process.send?.({ calls })
  })
  process.send?.({ port, adminPort })
}

async function runPrimary() {
  const workers = {}
  for (let i = 0; i < WORKERS; i++) {
    const worker = cluster.fork()
    const [ports] = await once(worker, 'message')
    workers[worker.id] = { ...ports, pid: worker.process.pid }
    worker.on('message', (answer) => process.send?.(answer))
  }
  const { spillway, adminPort } = await openMember()
  await spillway.fleetSnapshot()
  process.on('message', (/** @type {any} */ { to, order }) => cluster.workers?.[to]?.send(order))
  process.on('disconnect', end)
  process.send?.({ primary: { adminPort }, ...workers })
}

/** The last to end: a worker that outlives its primary would still write reports. */
async function end() {
  const workers = Object.values(cluster.workers ?? {})
  const ended = workers.map((worker) => once(/** @type {any} */ (worker), 'exit'))
  for (const worker of workers) worker?.process.kill('SIGKILL')
  await Promise.all(ended)
  process.exit()
}

if (cluster.isPrimary) runPrimary()
else runWorker()
