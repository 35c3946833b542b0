'use strict'
// npm run bench -- gateways [flags]
//
// Measures a service behind a gateway that brings .65 to 10 times its capacity over a number of kept
// connections. The service has one core and takes 2 ms of CPU a request (bench/overload/server.js). The
// gateway shares the other core with an open load, whose arrivals follow the clock. Runs with the gate on
// (attach) and without it (none) alternate in each round. A gateway's connections bound the queue of the
// service. Requests that the service does not reject grow old in the gateway's queue.
//
//   x-forwarded-for, traceparent, bare
//            a gateway with a queue of its own that adds this header, or none (gateway.js)
//   nginx    `keepalive N` in its upstream: it keeps N idle connections, and opens as many as there are requests
//   haproxy  `maxconn N` for its server: it opens N at most and has a queue of its own
//
// in time: 200s within 250 ms of the scheduled arrival at the gateway, as a share of the capacity
// neither: share of requests without a 200 or a 503, half a second after the end of the load
//
//   --quick               x-forwarded-for with 64 and 128 connections at twice the capacity, one round
//   --gateways nginx,...  only these gateways
//   --connections 32,128  so many connections; without it 32 to 1024, for nginx and haproxy 32 and 128
//   --multiples 2,10      only these multiples of the capacity
//   --policies none,...   of none and attach
//   --rounds 3            how many rounds
//   --seconds 3           how long each run counts, after a second of the load
//   --attempts 2          how often a disturbed run is made at most
//   --src <folder>        the src/ of another checkout, instead of this one's
//   --save <name>         saves to bench/results/<name>-node-<major>.json (gateways; gateways-part if only a part is measured)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { OverloadRuns, DEADLINE_MS } = require('../overload/run')
const { measurementOf, rowOf } = require('../overload/rows')
const { calibrate } = require('../support/burn')
const { readFlags } = require('../support/flags')
const { pinLoad } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { headLine, progress, rowLine } = require('../support/terminal')
const { PROXIES, missingFor, startProxy } = require('./proxies')

const MADE_BY_NODE = { 'x-forwarded-for': 'x-forwarded-for', traceparent: 'traceparent', bare: 'none' }
const NAMES = [...Object.keys(MADE_BY_NODE), ...Object.keys(PROXIES)]
const POLICIES = ['none', 'attach']
const OF_NODE = [32, 64, 128, 256, 1024]
const OF_PROXIES = [32, 128]
/** Clients of the gateway. Each has one request outstanding. */
const MAX_CLIENTS = 2048
const SETTLE_SECONDS = 1
const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])

const flags = readFlags(
  {
    quick: false,
    gateways: [String],
    connections: [Number],
    multiples: [Number],
    policies: [String],
    rounds: Number,
    seconds: 3,
    attempts: 2,
    src: String,
    save: String,
  },
  { gateways: NAMES, policies: POLICIES }
)
const { seconds, attempts } = flags
const rounds = flags.rounds ?? (flags.quick ? 1 : 3)
const policies = flags.policies ?? POLICIES
const gateways = flags.gateways ?? (flags.quick ? ['x-forwarded-for'] : NAMES)
const multiples = flags.multiples ?? (flags.quick ? [2] : [0.65, 1.2, 2, 10])
const isPart =
  flags.quick ||
  ['gateways', 'connections', 'multiples', 'policies', 'src'].some((name) => flags[name] !== undefined)

function connectionsOf(gateway) {
  if (flags.connections !== undefined) return flags.connections
  if (flags.quick) return [64, 128]
  return gateway in PROXIES ? OF_PROXIES : OF_NODE
}

async function startMadeByNode(options) {
  const child = fork(path.join(__dirname, 'gateway.js'), [JSON.stringify(options)])
  const exited = once(child, 'exit')
  const [{ port }] = await once(child, 'message')
  return {
    port,
    pid: /** @type {number} */ (child.pid),
    stop: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

const starterOf = (gateway, connections) => (port) =>
  gateway in PROXIES
    ? startProxy(gateway, { port, connections })
    : startMadeByNode({ port, connections, adds: MADE_BY_NODE[gateway] })

async function measureOnce(runs, { gateway, connections, multiple, policy }, capacity) {
  const result = await runs.run({
    policy,
    work: 'cpu',
    startGateway: starterOf(gateway, connections),
    mostConnections: MAX_CLIENTS,
    probes: false,
    warmUpSeconds: 1 + SETTLE_SECONDS,
    phases: [
      { rate: capacity.rate * 0.5, seconds: 1 },
      { rate: capacity.rate * multiple, seconds: SETTLE_SECONDS + seconds },
    ],
  })
  const inTimePerSecond = result.goodput
  const shedPerSecond = result.shed / result.seconds
  return { ...measurementOf(result, capacity, 'cpu'), inTimePerSecond, shedPerSecond }
}

const percent = (share) => `${(share * 100).toFixed(1)} %`
const whole = (value) => (value === null ? '-' : value.toFixed(0))

/** @type {import('../support/terminal').Column[]} */
const COLUMNS = [
  ['gateway', -15, ({ gateway }) => gateway],
  ['kept', 4, ({ connections }) => String(connections)],
  ['load', 5, ({ multiple }) => `${multiple}x`],
  ['gate', -6, ({ policy }) => policy],
  ['in time', 7, ({ ratio }) => ratio.toFixed(2)],
  ['200s/s', 6, ({ inTimePerSecond }) => whole(inTimePerSecond)],
  ['p50 ms', 6, ({ p50Ms }) => whole(p50Ms)],
  ['p99 ms', 6, ({ p99Ms }) => whole(p99Ms)],
  ['503s/s', 6, ({ shedPerSecond }) => whole(shedPerSecond)],
  ['late', 7, ({ late }) => percent(late)],
  ['neither', 7, ({ failed }) => percent(failed)],
  [
    '',
    -4,
    ({ calmRounds, foreign, sendLagP99Ms }) =>
      calmRounds === 0 ? `VOID (others took ${percent(foreign)}, lag ${whole(sendLagP99Ms)} ms)` : '',
  ],
]

/** @returns {any[]} the cells to measure */
const cellsOf = (gateway) =>
  connectionsOf(gateway).flatMap((connections) =>
    multiples.flatMap((multiple) => policies.map((policy) => ({ gateway, connections, multiple, policy })))
  )

async function measureAll(cells) {
  const runs = new OverloadRuns({ framework: 'express', attempts })
  const measured = new Map(cells.map((cell) => [cell, []]))
  let done = 0
  for (let round = 0; round < rounds; round++) {
    let capacity
    for (const [cell, all] of measured) {
      // The machine's speed changes: each comparison has a capacity of its own.
      if (cell.policy === policies[0]) capacity = await runs.capacity('cpu', 'kept')
      progress(`${++done} of ${cells.length * rounds}`)
      all.push(await measureOnce(runs, cell, capacity))
    }
  }
  progress('')
  return cells.map((cell) => rowOf(cell, measured.get(cell), undefined))
}

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  // All servers of a bench must burn the same amount of work.
  process.env.BURN_PER_MS = String(Math.round(calibrate()))
  if (flags.src !== undefined) process.env.SPILLWAY_SRC = path.resolve(flags.src)
  pinLoad()
  // A proxy that outlives the bench would disturb the next. An exit ends it.
  for (const signal of SIGNALS) process.once(signal, () => process.exit(1))
  const skipped = {}
  for (const gateway of gateways.filter((each) => each in PROXIES)) {
    const missing = missingFor(gateway)
    if (missing === undefined) continue
    skipped[gateway] = missing
    process.stdout.write(`${gateway} is skipped: ${missing}\n`)
  }
  const rows = await measureAll(gateways.filter((each) => !(each in skipped)).flatMap(cellsOf))
  process.stdout.write(headLine(COLUMNS))
  for (const row of rows) process.stdout.write(rowLine(COLUMNS, row))
  const name = flags.save ?? (isPart ? 'gateways-part' : 'gateways')
  process.stdout.write(`saved ${save(name, { deadlineMs: DEADLINE_MS, rounds, seconds, skipped, rows })}\n`)
}

main()
