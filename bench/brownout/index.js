'use strict'
// npm run bench -- brownout [flags]
//
// A service whose answers can do without three quarters of their 2 ms of CPU, at multiples of what it can
// serve in full:
//   none      no policy
//   gate      Spillway, which rejects what cannot be served in time
//   brownout  the same, and the handler asks shouldDegrade()
// By default in simulated time, with the code of the gate and of the pressure (test/simulation/brownout.js):
// a second, and the same figures on every machine. With --real it is a service of Express on one core and an
// open load on the other. Policies then alternate in each round, each round has a capacity of its own, and
// nothing is saved. in time: 200s within 250 ms of the arrival, as a share of all requests. The load runs for
// some seconds before it counts.
//
//   --real            a real service
//   --quick           with --real: one round of two times the capacity
//   --multiples 1,2   multiples of the capacity
//   --rounds 3        how many rounds
//   --seconds 5       how long each run counts

const path = require('node:path')
const { brownout } = require('../../test/simulation/brownout')
const { calibrate } = require('../support/burn')
const { readFlags } = require('../support/flags')
const { generate } = require('../support/load')
const { pinLoad, startServer } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { median } = require('../support/statistics')
const { headLine, progress, rowLine } = require('../support/terminal')

const SERVER = path.join(__dirname, 'server.js')
const POLICIES = ['none', 'gate', 'brownout']
const DEADLINE_MS = 250
const SETTLE_SECONDS = 4

const flags = readFlags({ real: false, quick: false, multiples: [Number], rounds: Number, seconds: 5 })
const { seconds } = flags
const rounds = flags.rounds ?? (flags.quick ? 1 : 3)
const multiples = flags.multiples ?? (flags.quick ? [2] : [0.65, 1, 2, 3, 6])

async function loaded(policy, load) {
  const server = await startServer(SERVER, [policy])
  try {
    const before = await server.ask('count')
    const result = await generate({ port: server.port, deadlineMs: DEADLINE_MS, probes: false, ...load })
    const after = await server.ask('count')
    const degraded = after.degraded - before.degraded
    const served = degraded + after.full - before.full
    const foreign = (after.foreignMs - before.foreignMs) / (after.atMs - before.atMs)
    return { ...result, degradedShare: served === 0 ? 0 : degraded / served, foreign }
  } finally {
    await server.stop()
  }
}

/** What the server answers in full at most. */
async function capacityOf() {
  const phases = [
    { rate: 0, seconds: 0.7 },
    { rate: 0, seconds: 1.5 },
  ]
  return (await loaded('none', { arrivals: 'closed', warmUpSeconds: 0.7, phases })).answered
}

async function measured(policy, rate) {
  const phases = [{ rate, seconds: SETTLE_SECONDS + seconds }]
  const result = await loaded(policy, { arrivals: 'poisson', warmUpSeconds: SETTLE_SECONDS, phases })
  const { degradedShare, foreign, good, offered, p99Ms, shed } = result
  return { inTime: good / offered, rejected: shed / offered, degradedShare, p99Ms: p99Ms ?? 0, foreign }
}

const percent = (share) => `${(share * 100).toFixed(1)} %`
/** @type {import('../support/terminal').Column[]} */
const COLUMNS = [
  ['load', 5, ({ multiple }) => `${multiple}x`],
  ['policy', -9, ({ policy }) => policy],
  ['in time', 8, ({ inTime }) => percent(inTime)],
  ['rejected', 8, ({ rejected }) => percent(rejected)],
  ['degraded', 8, ({ degradedShare }) => percent(degradedShare)],
  ['p99 ms', 7, ({ p99Ms }) => p99Ms.toFixed(0)],
  ['others', 8, ({ foreign }) => (foreign === undefined ? '' : percent(foreign))],
]

function simulate() {
  const shedBy = { none: { mode: 'off' }, gate: undefined, brownout: undefined }
  const rows = multiples.flatMap((multiple) =>
    POLICIES.map((policy) => {
      const { inTime, shedShare, ...rest } = brownout(multiple, policy === 'brownout', shedBy[policy])
      return { multiple, policy, inTime, rejected: shedShare, ...rest }
    })
  )
  print(rows)
  process.stdout.write(`saved ${save('brownout', { deadlineMs: DEADLINE_MS, isSimulated: true, rows })}\n`)
}

function print(rows) {
  process.stdout.write(headLine(COLUMNS))
  for (const row of rows) process.stdout.write(rowLine(COLUMNS, row))
}

async function measure() {
  process.stdout.write(`${machineLine()}\n`)
  process.env.BURN_PER_MS = String(Math.round(calibrate()))
  pinLoad()
  const cells = multiples.flatMap((multiple) =>
    POLICIES.map((policy) => ({ multiple, policy, runs: /** @type {any[]} */ ([]) }))
  )
  let done = 0
  for (let round = 0; round < rounds; round++) {
    let capacity = 0
    for (const { multiple, policy, runs } of cells) {
      // The machine's speed changes: each comparison has a capacity of its own.
      if (policy === POLICIES[0]) capacity = await capacityOf()
      progress(`${++done} of ${cells.length * rounds}`)
      runs.push(await measured(policy, capacity * multiple))
    }
  }
  progress('')
  const rows = cells.map(({ multiple, policy, runs }) => ({
    multiple,
    policy,
    ...Object.fromEntries(Object.keys(runs[0]).map((name) => [name, median(runs.map((run) => run[name]))])),
  }))
  print(rows)
}

if (flags.real) measure()
else simulate()
