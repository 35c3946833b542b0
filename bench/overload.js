'use strict'
// npm run bench:overload: what share of its capacity a server still serves in time when offered 0.5 to 10 times of it.
// An open loop (bench/open-loop.js) on one core, the server on the other, a fresh server for every run, policies
// interleaved within each round, figures as medians of rounds. The capacity is measured without a policy before each
// comparison, and corrected by how long the run's own burns took: the machine's speed changes twofold by the second.
// Beside each figure stands the bound: what a server could serve whose rejections cost what the policy's do.

const { parseArgs } = require('node:util')
const { calibrate } = require('./burn')
const { lineOf, measurementOf, rowOf } = require('./overload-rows')
const { DEADLINE_MS, OverloadRuns, REFUSING } = require('./overload-run')
const { CASES, measureConnections } = require('./overload-connections')
const { measureStep } = require('./overload-step')
const { pinLoad } = require('./pinned')
const { machineLine, save } = require('./results')
const { median } = require('./statistics')

const HELP = `npm run bench:overload -- [options]

  --quick               a minute or two: two works, two loads, one round
  --step                half the capacity, ten times it and back, instead of the grid
  --work cpu,await      only these kinds of work (await, bimodal, cpu, gc, mixed, pool, upload)
  --policies none,...   only these policies
  --multiples 2,10      only these multiples of the capacity
  --rounds, --seconds   how many, and how long each (5, 2)
  --attempts            how often a disturbed run is repeated (3)
  --connections         a new connection for every request, of each kind of server, instead of the grid
  --kind https,silent   only these kinds (${Object.keys(CASES).join(', ')})
  --poisson             random arrivals
  --koa                 Koa instead of Express
  --save <name>         bench/results/<name>.json (overload-cpu or -works)`

// Everything on the work that shows most; elsewhere the ends of the scale and the strongest peers.
const MAIN = [
  'none',
  'attach',
  'middleware',
  'overload-protection',
  'overload-protection-100',
  'toobusy-js',
  'toobusy-js-20',
  'under-pressure',
  'heavy',
]
const OTHER = ['none', 'attach', 'middleware', 'overload-protection']
const PLAN = [
  { work: 'cpu', multiples: [0.5, 0.8, 1.2, 2, 5, 10], policies: MAIN },
  { work: 'cpu', multiples: [5], policies: ['attach-classes'] },
  { work: 'bimodal', multiples: [0.5, 0.8, 10], policies: OTHER },
  ...['await', 'pool', 'mixed', 'gc', 'upload'].map((work) => ({
    work,
    multiples: [0.8, 2, 10],
    policies: OTHER,
  })),
]
const QUICK = ['cpu', 'await'].map((work) => ({ work, multiples: [2, 10], policies: OTHER }))
const CRITICAL_SHARE = 0.1
/** Before what is measured: half the capacity, and the first second of the load, which --step shows. */
const CALM_SECONDS = 1
const STEP_SECONDS = 1

const { values: flags } = parseArgs({
  options: {
    ...Object.fromEntries(
      ['help', 'quick', 'poisson', 'step', 'connections', 'koa'].map((name) => [
        name,
        { type: 'boolean', default: false },
      ])
    ),
    ...Object.fromEntries(
      ['work', 'kind', 'policies', 'multiples', 'seconds', 'rounds', 'attempts', 'save'].map((name) => [
        name,
        { type: 'string' },
      ])
    ),
  },
})
const framework = flags.koa ? 'koa' : 'express'
const seconds = Number(flags.seconds ?? 2)
const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 5))
const arrivals = flags.poisson ? 'poisson' : 'constant'
const policies = flags.policies?.split(',')
const multiples = flags.multiples?.split(',').map(Number)
const attempts = Number(flags.attempts ?? 3)
const connections = 'kept'

function plan() {
  const parts = flags.quick ? QUICK : PLAN
  const works = flags.work?.split(',')
  const chosen = works === undefined ? parts : parts.filter(({ work }) => works.includes(work))
  return chosen.map((part) => ({
    work: part.work,
    policies: policies ?? part.policies,
    multiples: multiples ?? part.multiples,
  }))
}

async function measureOne(runs, { work, policy, multiple }, capacity) {
  const result = await runs.run({
    policy,
    work,
    connections,
    arrivals,
    criticalShare: policy === 'attach-classes' ? CRITICAL_SHARE : 0,
    warmUpSeconds: CALM_SECONDS + STEP_SECONDS,
    phases: [
      { rate: capacity.rate * 0.5, seconds: CALM_SECONDS },
      { rate: capacity.rate * multiple, seconds: STEP_SECONDS + seconds },
    ],
  })
  return measurementOf(result, capacity, work)
}

/** @param {string} work those of every other cost as much as those of cpu work; an upload's has a body to read */
async function measureRejections(runs, work) {
  const rejections = {}
  for (const policy of Object.keys(REFUSING)) {
    const tries = []
    for (let i = 0; i < Math.min(rounds, 3); i++)
      tries.push(await runs.rejectionMs(policy, connections, work))
    rejections[policy] = median(tries)
    const micros = (rejections[policy] * 1000).toFixed(1)
    const times = (rejections[policy] / rejections.bare).toFixed(2)
    process.stdout.write(
      `a rejection of ${work}, ${policy}: ${micros} µs of CPU, ${times} times a bare http server's with the same bytes\n`
    )
  }
  return rejections
}

async function measureGrid(runs) {
  const parts = plan()
  const rejections = await measureRejections(runs, 'cpu')
  const works = new Set(parts.map(({ work }) => work))
  const ofUploads = works.has('upload') ? await measureRejections(runs, 'upload') : undefined
  const cells = parts.map(() => new Map())
  const capacities = parts.map(() => [])
  const total = rounds * parts.reduce((sum, part) => sum + part.multiples.length * part.policies.length, 0)
  let done = 0
  for (let round = 0; round < rounds; round++) {
    for (const [index, { work, policies, multiples }] of parts.entries()) {
      for (const multiple of multiples) {
        const capacity = await runs.capacity(work, 'kept')
        capacities[index].push(capacity.rate)
        for (const policy of policies) {
          progress(`round ${round + 1}, ${work} ${multiple}x ${policy}: ${++done} of ${total}`)
          const cell = { work, connections, multiple, policy }
          const key = JSON.stringify(cell)
          const measured = await measureOne(runs, cell, capacity)
          cells[index].set(key, [...(cells[index].get(key) ?? []), measured])
        }
      }
    }
  }
  progress('')
  const top = parts.map(({ multiples }, index) => median(capacities[index]) * Math.max(...multiples))
  const proof = await runs.proof(Math.max(...top), connections)
  process.stdout.write(
    `the load against an empty server, ${Math.round(proof.rate)}/s: ${Math.round(proof.goodput)}/s answered in time, ` +
      `sent ${proof.sendLagP99Ms} ms late (p99)${proof.isProven ? '' : '  VOID'}\n`
  )
  const rows = []
  for (const [index, { work }] of parts.entries()) {
    process.stdout.write(`\n${work}: ${Math.round(median(capacities[index]))}/s without a policy\n`)
    for (const [key, measured] of cells[index]) {
      const cell = JSON.parse(key)
      rows.push(rowOf(cell, measured, costsOf(work === 'upload' ? ofUploads : rejections, cell.policy)))
      process.stdout.write(`${lineOf(rows.at(-1))}\n`)
    }
  }
  const settings = { framework, connections, arrivals, seconds, rounds, deadlineMs: DEADLINE_MS }
  const files = flags.save === undefined ? grouped(rows) : new Map([[flags.save, rows]])
  for (const [name, its] of files) {
    process.stdout.write(`saved ${save(name, { ...settings, rejections, proof, rows: its })}\n`)
  }
}

function costsOf(rejections, policy) {
  const rejectionMs = rejections[policy.replace('attach-classes', 'attach')]
  return rejectionMs === undefined ? undefined : { rejectionMs }
}

function grouped(rows) {
  const files = new Map()
  for (const row of rows) files.set(fileOf(row), [...(files.get(fileOf(row)) ?? []), row])
  return files
}

/** The README's tables are made of these. */
function fileOf({ work }) {
  return work === 'cpu' ? 'overload-cpu' : 'overload-works'
}

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

async function main() {
  if (flags.help) return void process.stdout.write(`${HELP}\n`)
  process.stdout.write(`${machineLine()}\n`)
  // The server's core may be slower or faster; what matters is that all servers burn the same.
  process.env.BURN_PER_MS = String(Math.round(calibrate()))
  pinLoad()
  if (flags.connections) {
    const settings = { framework, arrivals, attempts, rounds, seconds, policies, multiples }
    return measureConnections(flags.kind?.split(',') ?? Object.keys(CASES), settings)
  }
  const runs = new OverloadRuns({ framework, attempts })
  if (!flags.step) return measureGrid(runs)
  const stepped = policies ?? ['none', 'attach', 'overload-protection']
  return measureStep(runs, { work: flags.work ?? 'cpu', policies: stepped, connections, arrivals })
}

main()
