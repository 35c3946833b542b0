'use strict'
// npm run bench -- doctor [flags]
//
// Measures whether the doctor names the fault of a service. A service is healthy for a while, has its fault for the rest of a minute,
// and is asked on /doctor: the first finding has to be the seeded fault, and of a healthy service there has to be none.
//
//   --faults blocked,pool   only these faults
//   --loads 20,60,120       requests a second
//   --shares .1,.5          in place of --loads: of what the service answers at most
//   --at-once 1             how many services run at a time
//   --healthy-seconds 15    how long a service is healthy first
//   --faulty-seconds 45     how long it has its fault
//   --shared                does not count a starved host, for a machine that others use too
//   --save <name>           saves to bench/results/<name>-node-<major>.json (doctor)

const { fork, spawn } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')

const GIVE_UP_MS = 10_000
const HOGS = 6
/** Ends by itself, should the bench be killed. */
const HOG = 'const end = Date.now() + 120_000; while (Date.now() < end);'
const SLOW_CLIENTS = 12
const CAPACITY_CLIENTS = 64
const CAPACITY_MS = 10_000
/** A service that has just been started takes no more. */
const COLD_RATE = 500
const MIX = [
  ['GET', '/items', 0.6],
  ['GET', '/orders', 0.3],
  ['POST', '/login', 0.1],
]

/** What each fault is called by the doctor, the flags of its process, and how much more load it takes. */
const FAULTS = {
  healthy: { problem: 'healthy' },
  blocked: { problem: 'event-loop-blocked' },
  gc: { problem: 'garbage-collection', nodeFlags: ['--max-semi-space-size=1', '--max-old-space-size=400'] },
  slow: { problem: 'slow-dependency' },
  pool: { problem: 'pool-exhausted' },
  hogs: { problem: 'host-starved' },
  leak: { problem: 'heap-growing', nodeFlags: ['--max-old-space-size=300'] },
  errors: { problem: 'errors' },
  orphans: { problem: 'orphaned-requests' },
  overload: { problem: 'overloaded', rate: (load) => 500 + 4 * load },
  saturated: { problem: 'cpu-saturated', rate: () => 700 },
  clients: { problem: 'slow-clients' },
}

const flags = readFlags(
  {
    faults: [String],
    loads: [20, 60, 120],
    shares: [Number],
    'at-once': 1,
    'healthy-seconds': 15,
    'faulty-seconds': 45,
    shared: false,
    save: 'doctor',
  },
  { faults: Object.keys(FAULTS) }
)
const healthyMs = flags['healthy-seconds'] * 1000
const faultyMs = flags['faulty-seconds'] * 1000

function pick() {
  let left = Math.random()
  return MIX.find(([, , share]) => (left -= Number(share)) < 0) ?? MIX[0]
}

/** Poisson arrivals, which follow the clock whatever the server does. */
function startLoad(port, rate) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1000 })
  let timer
  let nextMs = performance.now()
  const send = () => {
    const [method, route] = pick()
    const request = http.request(
      { agent, port, host: '127.0.0.1', method: String(method), path: String(route) },
      (res) => res.resume()
    )
    request.setTimeout(GIVE_UP_MS, () => request.destroy())
    request.on('error', () => {})
    request.end()
  }
  const tick = () => {
    for (; nextMs <= performance.now(); nextMs += (-Math.log(1 - Math.random()) * 1000) / rate) send()
    timer = setTimeout(tick, 2)
  }
  tick()
  return () => {
    clearTimeout(timer)
    agent.destroy()
  }
}

/** Connections that ask for much and read a little of it. */
function startSlowClients(port) {
  const sockets = Array.from({ length: SLOW_CLIENTS }, () => {
    const socket = net.connect(port, '127.0.0.1', () =>
      socket.write('GET /export HTTP/1.1\r\nHost: localhost\r\n\r\n')
    )
    socket.on('error', () => {})
    socket.once('data', () => socket.pause())
    return socket
  })
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}

function startHogs() {
  const hogs = Array.from({ length: HOGS }, () => spawn(process.execPath, ['-e', HOG]))
  return () => {
    for (const hog of hogs) hog.kill('SIGKILL')
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function run(fault, load) {
  const { problem, nodeFlags = [], rate = (each) => each } = FAULTS[fault]
  const child = fork(path.join(__dirname, 'server.js'), {
    env: { ...process.env, FAULT: fault, RATE: String(load) },
    execArgv: nodeFlags,
  })
  const [{ port, doctor }] = await once(child, 'message')
  let stopLoad = startLoad(port, Math.min(load, COLD_RATE))
  await sleep(healthyMs)
  child.send('begin')
  stopLoad()
  stopLoad = startLoad(port, rate(load))
  const stopOthers = fault === 'hogs' ? startHogs() : fault === 'clients' ? startSlowClients(port) : () => {}
  let diagnosis
  const from = performance.now()
  let firstRightMs
  const seen = new Set()
  const nameOf = ({ findings, healthy }) => {
    const [first] = findings.filter(
      (finding) => !flags.shared || fault === 'hogs' || finding.problem !== 'host-starved'
    )
    return first?.problem ?? (healthy === null ? 'unknown' : 'healthy')
  }
  while (performance.now() - from < faultyMs) {
    await sleep(Math.min(5000, faultyMs))
    diagnosis = await fetch(doctor).then(
      (res) => res.json(),
      (error) => ({ findings: [], healthy: null, error: String(error) })
    )
    if (diagnosis.findings.length > 0) seen.add(nameOf(diagnosis))
    if (nameOf(diagnosis) === problem) firstRightMs ??= performance.now() - from
  }
  stopLoad()
  stopOthers()
  child.kill('SIGKILL')
  seen.delete('healthy')
  const found = fault === 'healthy' && seen.size > 0 ? [...seen].join(', ') : nameOf(diagnosis)
  return { fault, load, expected: problem, found, isRight: found === problem, firstRightMs, diagnosis }
}

/** Answers a second of as many requests at a time as the service takes. */
async function measureCapacity() {
  const child = fork(path.join(__dirname, 'server.js'), { env: { ...process.env, FAULT: 'healthy' } })
  const [{ port }] = await once(child, 'message')
  const agent = new http.Agent({ keepAlive: true, maxSockets: CAPACITY_CLIENTS })
  const fromMs = performance.now()
  const isOver = () => performance.now() - fromMs > CAPACITY_MS
  let answered = 0
  const client = async () => {
    while (!isOver()) {
      const [method, route] = pick()
      const request = http.request({
        agent,
        port,
        host: '127.0.0.1',
        method: String(method),
        path: String(route),
      })
      request.end()
      const [res] = await once(request, 'response')
      res.resume()
      await once(res, 'end')
      if (performance.now() - fromMs > CAPACITY_MS / 2) answered++
    }
  }
  await Promise.all(Array.from({ length: CAPACITY_CLIENTS }, client))
  agent.destroy()
  child.kill('SIGKILL')
  return (answered / CAPACITY_MS) * 2 * 1000
}

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  const faults = flags.faults ?? Object.keys(FAULTS)
  const loads = flags.shares === undefined ? flags.loads : await loadsOf(flags.shares)
  const jobs = faults.flatMap((fault) => loads.map((load) => ({ fault, load })))
  const rows = []
  const work = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const row = await run(job.fault, job.load)
      rows.push(row)
      show(row)
    }
  }
  await Promise.all(Array.from({ length: flags['at-once'] }, work))
  const right = rows.filter(({ isRight }) => isRight).length
  process.stdout.write(`${right} of ${rows.length} first findings are right\n`)
  process.stdout.write(`saved ${save(flags.save, { right, of: rows.length, rows })}\n`)
}

async function loadsOf(shares) {
  const capacity = await measureCapacity()
  process.stdout.write(`answers at most ${Math.round(capacity)} requests a second\n`)
  return shares.map((share) => Math.round(share * capacity))
}

function show({ fault, load, expected, found, isRight, firstRightMs, diagnosis }) {
  const when = firstRightMs === undefined ? 'never' : `after ${Math.round(firstRightMs / 1000)} s`
  process.stdout.write(
    `${isRight ? 'right' : 'WRONG'}  ${fault} at ${load}/s: ${found}${isRight ? '' : `, not ${expected}`}, first right ${when}\n`
  )
  for (const { problem, severity, summary } of diagnosis.findings)
    process.stdout.write(`       ${severity} ${problem}: ${summary}\n`)
}

main()
