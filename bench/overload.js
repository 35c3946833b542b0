'use strict'
// npm run bench:overload: what share of its capacity a server still serves in time when offered 0.5 to 10 times of it.
// An open loop (bench/open-loop.js) on one core, the server on the other, a fresh server for every run, policies
// interleaved within each round, figures as medians of rounds. The capacity is measured without a policy at the head of
// each round, and corrected by how long the run's own burns took: the machine's speed changes twofold by the second.
// Beside each figure stands the bound: what a server could serve whose rejections cost what the policy's do.

const { spawn } = require('node:child_process')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { calibrate } = require('./burn')
const { pinLoad, startServer } = require('./pinned')
const { machineLine, save } = require('./results')
const { median } = require('./statistics')

const DEADLINE_MS = 250
const WARM_UP_SECONDS = 0.7
const MOST_LAG_MS = 5
const MOST_WAITED = 0.04
/** As a logarithm: a quarter slower or a third faster than while the capacity was measured. */
const MOST_SPEED_CHANGE = 0.288
const UPLOAD_BYTES = 65_536

// Everything on the work that shows most; elsewhere the ends of the scale and the strongest peers.
const MAIN = [
  'none',
  'attach',
  'middleware',
  'overload-protection',
  'toobusy-js-20',
  'under-pressure',
  'heavy',
]
const OTHER = ['none', 'attach', 'middleware', 'overload-protection']
const PLAN = [
  { work: 'cpu', multiples: [0.5, 0.8, 1.2, 2, 5, 10], policies: MAIN },
  ...['await', 'pool', 'bimodal', 'mixed', 'gc', 'upload'].map((work) => ({
    work,
    multiples: [0.8, 2, 10],
    policies: OTHER,
  })),
  { work: 'cpu', connections: 'new', multiples: [5], policies: OTHER },
]
const QUICK = ['cpu', 'await'].map((work) => ({
  work,
  multiples: [2, 10],
  policies: ['none', 'attach', 'middleware', 'overload-protection'],
}))

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    new: { type: 'boolean', default: false },
    poisson: { type: 'boolean', default: false },
    step: { type: 'boolean', default: false },
    koa: { type: 'boolean', default: false },
    work: { type: 'string' },
    policies: { type: 'string' },
    multiples: { type: 'string' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    attempts: { type: 'string' },
  },
})
const framework = flags.koa ? 'koa' : 'express'
const seconds = Number(flags.seconds ?? (flags.quick ? 3 : 2))
const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 3))
const attempts = Number(flags.attempts ?? (flags.quick ? 2 : 3))
const arrivals = flags.poisson ? 'poisson' : 'constant'

function plan() {
  const parts = (flags.quick ? QUICK : PLAN).map((part) => ({ connections: 'kept', ...part }))
  const works = flags.work?.split(',')
  const chosen =
    works === undefined ? parts : works.map((work) => ({ ...parts[0], work, connections: 'kept' }))
  return chosen.map((part) => ({
    ...part,
    connections: flags.new ? 'new' : part.connections,
    policies: flags.policies?.split(',') ?? part.policies,
    multiples: flags.multiples?.split(',').map(Number) ?? part.multiples,
  }))
}

const isVoid = ({ waited, sendLagP99Ms }) => waited > MOST_WAITED || sendLagP99Ms > MOST_LAG_MS

/** A run is repeated where other processes had the core or the load was late, whatever came out; the calmest counts. */
async function run(options) {
  let calmest
  for (let attempt = 0; attempt < attempts; attempt++) {
    const result = await runOnce(options)
    if (calmest === undefined || result.waited < calmest.waited) calmest = result
    if (!isVoid(result)) break
  }
  return calmest
}

/** One server and one load against it. */
async function runOnce({ policy, work, ...load }) {
  const server = await startServer(path.join(__dirname, 'overload-server.js'), [policy, work, framework])
  try {
    const before = await server.ask('cost')
    const result = await generate({
      port: server.port,
      deadlineMs: DEADLINE_MS,
      bodyBytes: work === 'upload' ? UPLOAD_BYTES : 0,
      ...load,
    })
    const after = await server.ask('cost')
    const askedMs = after.askedMs - before.askedMs
    const tookMs = after.tookMs - before.tookMs
    return {
      ...result,
      // Both ends must have had their cores to themselves.
      waited: Math.max(result.waited, (after.waitedMs - before.waitedMs) / (after.atMs - before.atMs)),
      // How fast the machine was, by what a millisecond's burn took.
      speed: askedMs > 0 ? askedMs / tookMs : 1,
    }
  } finally {
    await server.stop()
  }
}

/** @returns {Promise<any>} what the load saw */
function generate(options) {
  const child = spawn(process.execPath, [path.join(__dirname, 'open-loop.js'), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (data) => {
    text += data
  })
  return new Promise((resolve, reject) => {
    child.on('close', (code) =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`the load ended with ${code}`))
    )
  })
}

const phases = (rate, length) => [
  { rate: rate.warm, seconds: WARM_UP_SECONDS },
  { rate: rate.full, seconds: length },
]

/** What it serves at most, by as many connections as it likes, and how fast the machine was meanwhile. */
async function measureCapacity(work, connections) {
  const { answered, speed } = await run({
    policy: 'none',
    work,
    connections,
    arrivals: 'closed',
    probes: false,
    warmUp: true,
    phases: phases({ warm: 0, full: 0 }, work === 'bimodal' ? 3 : 1.5),
  })
  return { rate: answered, speed }
}

const REFUSING = { 'bare http': 'null', attach: 'attach-refusing', middleware: 'middleware-refusing' }

/** CPU of a rejection in ms: everything refused, in a closed loop, after a second to get warm. */
async function measureRejection(policy, connections) {
  const server = await startServer(path.join(__dirname, 'overload-server.js'), [policy, 'cpu', framework])
  const load = (length) =>
    generate({
      port: server.port,
      connections,
      arrivals: 'closed',
      closed: 16,
      probes: false,
      phases: [{ rate: 0, seconds: length }],
    })
  try {
    await load(1)
    const before = await server.ask('cost')
    const { good, late, shed } = await load(2)
    const after = await server.ask('cost')
    return (after.cpuMs - before.cpuMs - (after.tookMs - before.tookMs)) / (good + late + shed)
  } finally {
    await server.stop()
  }
}

/** A load that lags behind its own schedule measures itself. */
async function proveLoad(rate, connections) {
  const { sendLagP99Ms, goodput } = await run({
    policy: 'null',
    work: 'cpu',
    connections,
    warmUp: true,
    phases: phases({ warm: rate / 2, full: rate }, 2),
  })
  const isProven = sendLagP99Ms <= MOST_LAG_MS && goodput > rate * 0.98
  process.stdout.write(
    `the load against an empty server, ${Math.round(rate)}/s, ${connections} connections: ` +
      `${Math.round(goodput)}/s answered in time, sent ${sendLagP99Ms} ms late (p99)${isProven ? '' : '  VOID'}\n`
  )
  return { rate, connections, goodput, sendLagP99Ms, isProven }
}

async function measureOne({ work, connections, policy, multiple }, capacity) {
  const rate = { warm: capacity.rate * 0.5, full: capacity.rate * multiple }
  const result = await run({
    policy,
    work,
    connections,
    arrivals,
    warmUp: true,
    phases: phases(rate, seconds),
  })
  // Only where the loop is what is short does the machine's speed set the capacity.
  const speed = work === 'pool' ? 1 : result.speed / capacity.speed
  const own = capacity.rate * speed
  return {
    capacity: own,
    offered: result.offered / result.seconds / own,
    ratio: result.goodput / own,
    rawRatio: result.goodput / capacity.rate,
    shed: result.shed / result.offered,
    late: result.late / result.offered,
    failed: result.failed / result.offered,
    p99Ms: result.p99Ms,
    steadyP99Ms: result.steadyP99Ms,
    probes: result.probes.answered / Math.max(1, result.probes.sent),
    probeP99Ms: result.probes.p99Ms,
    sendLagP99Ms: result.sendLagP99Ms,
    waited: result.waited,
    speed,
  }
}

/** (1 - offered x r) / (s - r), over the capacity 1 / s. */
function bound(capacity, offered, rejectionMs) {
  if (offered <= 1) return offered
  const s = 1000 / capacity
  return Math.max(0, ((1 - (offered * capacity * rejectionMs) / 1000) / (s - rejectionMs)) * s)
}

function summary(cell, all, rejections) {
  const row = { ...cell }
  const calm = all.filter((each) => !isVoid(each) && Math.abs(Math.log(each.speed)) < MOST_SPEED_CHANGE)
  const measured = calm.length > 0 ? calm : all
  for (const key of Object.keys(measured[0])) {
    const known = measured.map((each) => each[key]).filter((value) => value !== null)
    row[key] = known.length === 0 ? null : median(known)
  }
  row.isVoid = calm.length === 0
  row.rounds = all
  const rejectionMs = rejections[`${cell.policy} ${cell.connections}`]
  row.bound = rejectionMs === undefined ? null : bound(row.capacity, row.offered, rejectionMs)
  return row
}

const percent = (value) => `${(value * 100).toFixed(1)}%`.padStart(6)
function line(row) {
  return [
    `${row.work} ${row.connections}`.padEnd(12),
    `${row.multiple}x`.padStart(5),
    row.policy.padEnd(24),
    row.ratio.toFixed(2).padStart(5),
    (row.bound === null ? '' : `of ${row.bound.toFixed(2)}`).padStart(7),
    `p99 ${row.p99Ms === null ? '-' : row.p99Ms.toFixed(0)}`.padEnd(9),
    `steady ${row.steadyP99Ms === null ? '-' : row.steadyP99Ms.toFixed(0)}`.padEnd(11),
    `shed ${percent(row.shed)}`,
    `late ${percent(row.late)}`,
    `failed ${percent(row.failed)}`,
    `probes ${percent(row.probes)} ${row.probeP99Ms === null ? '-' : row.probeP99Ms.toFixed(0)}`.padEnd(18),
    `lag ${row.sendLagP99Ms.toFixed(0)}`,
    `speed ${row.speed.toFixed(2)}`,
    row.isVoid ? `VOID (waited ${percent(row.waited).trim()})` : '',
  ].join('  ')
}

async function measureGrid() {
  const parts = plan()
  const rejections = {}
  for (const connections of new Set(parts.map((part) => part.connections))) {
    for (const [policy, refusing] of Object.entries(REFUSING)) {
      const ms = await measureRejection(refusing, connections)
      rejections[`${policy} ${connections}`] = ms
      process.stdout.write(
        `a rejection, ${policy}, ${connections} connections: ${(ms * 1000).toFixed(1)} µs of CPU\n`
      )
    }
  }
  const cells = parts.map(() => new Map())
  const capacities = parts.map(() => [])
  const total = rounds * parts.reduce((sum, part) => sum + part.multiples.length * part.policies.length, 0)
  let done = 0
  for (let round = 0; round < rounds; round++) {
    for (const [index, part] of parts.entries()) {
      for (const multiple of part.multiples) {
        const capacity = await measureCapacity(part.work, 'kept')
        capacities[index].push(capacity.rate)
        for (const policy of part.policies) {
          progress(`round ${round + 1}, ${part.work} ${multiple}x ${policy}: ${++done} of ${total}`)
          const cell = { work: part.work, connections: part.connections, multiple, policy }
          const measured = await measureOne(cell, capacity)
          const key = JSON.stringify(cell)
          cells[index].set(key, [...(cells[index].get(key) ?? []), measured])
        }
      }
    }
  }
  progress('')
  const topOf = (connections) =>
    Math.max(
      0,
      ...parts.map((part, index) =>
        part.connections === connections ? median(capacities[index]) * Math.max(...part.multiples) : 0
      )
    )
  const proofs = []
  for (const connections of ['kept', 'new']) {
    if (topOf(connections) > 0) proofs.push(await proveLoad(topOf(connections), connections))
  }
  const rows = []
  for (const [index, part] of parts.entries()) {
    process.stdout.write(`\n${part.work}: ${Math.round(median(capacities[index]))}/s without a policy\n`)
    for (const [key, measured] of cells[index]) {
      rows.push(summary(JSON.parse(key), measured, rejections))
      process.stdout.write(`${line(rows.at(-1))}\n`)
    }
  }
  const settings = { framework, arrivals, seconds, rounds, deadlineMs: DEADLINE_MS }
  process.stdout.write(`saved ${save('overload', { ...settings, rejections, proofs, rows })}\n`)
}

const STEP = [
  { multiple: 0.5, seconds: 3 },
  { multiple: 10, seconds: 4 },
  { multiple: 0.5, seconds: 3 },
]

async function measureStep() {
  const work = flags.work ?? 'cpu'
  const lines = []
  for (const policy of flags.policies?.split(',') ?? ['none', 'attach']) {
    const capacity = await measureCapacity(work, 'kept')
    const result = await run({
      policy,
      work,
      arrivals,
      connections: flags.new ? 'new' : 'kept',
      phases: STEP.map(({ multiple, seconds: length }) => ({
        rate: capacity.rate * multiple,
        seconds: length,
      })),
    })
    const backAt = ((STEP[0].seconds + STEP[1].seconds) * 1000) / result.bucketMs
    const afterwards = result.timeline.slice(backAt)
    const lastShed = afterwards.findLastIndex(({ shed }) => shed > 0)
    const stepP99Ms = Math.max(...result.timeline.slice(backAt - 40, backAt).map(({ p99Ms }) => p99Ms ?? 0))
    process.stdout.write(
      `${policy.padEnd(24)} worst p99 of 100 ms in the step ${stepP99Ms.toFixed(0)} ms, last 503 ` +
        `${lastShed < 0 ? 'before the load went' : `within ${(lastShed + 1) * result.bucketMs} ms of its going`}, ` +
        `probes ${result.probes.answered} of ${result.probes.sent}, sent ${result.sendLagP99Ms} ms late (p99)\n`
    )
    lines.push({ policy, capacity: capacity.rate, bucketMs: result.bucketMs, timeline: result.timeline })
  }
  process.stdout.write(`saved ${save('overload-step', { work, steps: STEP, lines })}\n`)
}

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  // The server's core may be slower or faster; what matters is that all servers burn the same.
  process.env.BURN_PER_MS = String(Math.round(calibrate()))
  pinLoad()
  await (flags.step ? measureStep() : measureGrid())
}

main()
