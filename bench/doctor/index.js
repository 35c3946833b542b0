'use strict'
// npm run bench -- doctor [flags]
//
// Measures whether the doctor names the fault of a service. A service is healthy for a while, has its fault
// for the rest of a minute, and is asked on /doctor: the first finding has to be the seeded fault, and of a
// healthy service there has to be none.
//
//   --faults blocked,pool   only these faults
//   --loads 20,60,120       requests a second
//   --busy .1,.5            in place of --loads, with --faults healthy: the busy share of the loop. The load follows
//                           the speed of the machine, and a request works for 1 ms
//   --koa                   of --faults healthy: the service is a Koa application
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
/** A hog ends after two minutes, even if the bench is killed. */
const HOG = 'const end = Date.now() + 120_000; while (Date.now() < end);'
const SLOW_CLIENTS = 12
const PROXY_CONNECTIONS = 10
const UPSTREAM_MS = 50
const QUICK_MS = 10
const WORK_MS = 1
/** Of --busy: what the load begins with, and by how much it changes in a second at most. */
const FIRST_RATE = 50
const FASTER = 1.1
const MIX = [
  ['GET', '/items', 0.6],
  ['GET', '/orders', 0.3],
  ['POST', '/login', 0.1],
]

/**
 * What each fault is called by the doctor, the flags of its process, and how much more load it takes. `workMs`: the
 * mean work of a request. A process that wants little CPU gets it soon, however many others want it.
 */
const FAULTS = {
  healthy: { problem: 'healthy' },
  blocked: { problem: 'event-loop-blocked' },
  gc: { problem: 'garbage-collection', nodeFlags: ['--max-semi-space-size=1', '--max-old-space-size=400'] },
  slow: { problem: 'slow-dependency' },
  calls: { problem: 'many-calls' },
  fewCalls: { problem: 'healthy' },
  sockets: { problem: 'many-calls' },
  fewSockets: { problem: 'healthy' },
  pool: { problem: 'pool-exhausted' },
  threads: { problem: 'thread-pool' },
  hogs: { problem: 'host-starved', workMs: 3 },
  leak: { problem: 'heap-growing', nodeFlags: ['--max-old-space-size=300'] },
  listeners: { problem: 'listener-leak' },
  errors: { problem: 'errors' },
  late: { problem: 'aborted-requests', giveUpMs: 2000 },
  typing: { problem: 'healthy', giveUpMs: 150 },
  left: { problem: 'work-after-disconnect', giveUpMs: 300 },
  keepAlive: { problem: 'keep-alive', headers: { 'X-Forwarded-For': '203.0.113.1' } },
  orphans: { problem: 'orphaned-requests' },
  overload: { problem: 'overloaded', rate: (load) => 500 + 4 * load },
  saturated: { problem: 'cpu-saturated', rate: () => 700 },
  clients: { problem: 'slow-clients' },
}

const flags = readFlags(
  {
    faults: [String],
    loads: [20, 60, 120],
    busy: [Number],
    koa: false,
    'at-once': 1,
    'healthy-seconds': 15,
    'faulty-seconds': 45,
    shared: false,
    save: 'doctor',
  },
  { faults: Object.keys(FAULTS) }
)
if (flags.busy !== undefined && flags.faults?.join() !== 'healthy')
  throw new Error('--busy is for --faults healthy: the faults are made for a load that is known.')
if (flags.koa && flags.faults?.join() !== 'healthy')
  throw new Error('--koa is for --faults healthy: the faults are of an Express application.')
const healthyMs = flags['healthy-seconds'] * 1000
const faultyMs = flags['faulty-seconds'] * 1000

function pick() {
  let left = Math.random()
  return MIX.find(([, , share]) => (left -= Number(share)) < 0) ?? MIX[0]
}

/** Poisson arrivals, which follow the clock whatever the server does. */
function startLoad(port, firstRate, { giveUpMs = GIVE_UP_MS, headers = {} }) {
  let rate = firstRate
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1000 })
  let timer
  let nextMs = performance.now()
  const send = () => {
    const [method, route] = pick()
    const request = http.request(
      { agent, port, host: '127.0.0.1', method: String(method), path: String(route), headers },
      (res) => res.resume()
    )
    request.setTimeout(giveUpMs, () => request.destroy())
    request.on('error', () => {})
    request.end()
  }
  const tick = () => {
    for (; nextMs <= performance.now(); nextMs += (-Math.log(1 - Math.random()) * 1000) / rate) send()
    timer = setTimeout(tick, 2)
  }
  tick()
  return {
    get rate() {
      return rate
    },
    change(factor) {
      rate *= factor
    },
    stop() {
      clearTimeout(timer)
      agent.destroy()
    },
  }
}

/**
 * Another service, which answers after a while, or soon on /quick. It runs in the process of the bench, so
 * that it does not use the loop of the measured service.
 */
async function startUpstream() {
  const server = http.createServer((req, res) =>
    setTimeout(() => res.end('{}'), req.url === '/quick' ? QUICK_MS : UPSTREAM_MS)
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  server.unref()
  return `http://127.0.0.1:${/** @type {any} */ (server.address()).port}/`
}

/** Holds the loop of the service as busy as is asked, while the speed of the machine changes. */
function keepBusy(child, load, share) {
  const seen = []
  child.on('message', ({ busy }) => {
    if (busy === undefined) return
    seen.push(busy)
    load.change(Math.min(FASTER, Math.max(1 / FASTER, share / Math.max(busy, 0.001))))
  })
  const timer = setInterval(() => child.send('busy'), 1000)
  return {
    /** The mean busy share, after the load has stopped growing. */
    mean() {
      const settled = seen.slice(Math.ceil(seen.length / 3))
      return settled.reduce((sum, each) => sum + each, 0) / settled.length
    },
    stop: () => clearInterval(timer),
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

/** Connections of a proxy that keeps each until the service closes it. */
function startProxy(port) {
  const sockets = new Set()
  const open = () => {
    const socket = net.connect(port, '127.0.0.1', () =>
      socket.write('GET /orders HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n')
    )
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', () => {})
    socket.on('close', () => {
      if (sockets.delete(socket)) open()
    })
  }
  for (let i = 0; i < PROXY_CONNECTIONS; i++) open()
  return () => {
    const all = [...sockets]
    sockets.clear()
    for (const socket of all) socket.destroy()
  }
}

function startHogs() {
  const hogs = Array.from({ length: HOGS }, () => spawn(process.execPath, ['-e', HOG]))
  return () => {
    for (const hog of hogs) hog.kill('SIGKILL')
  }
}

/** What else there is with the fault: what ends it. @type {Record<string, (port: number) => () => void>} */
const OTHERS = { hogs: startHogs, clients: startSlowClients, keepAlive: startProxy }

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function run({ fault, load, busy }, upstream) {
  const { problem, nodeFlags = [], rate = (each) => each, workMs = 0, ...clients } = FAULTS[fault]
  const child = fork(path.join(__dirname, 'server.js'), {
    env: {
      ...process.env,
      FAULT: fault,
      UPSTREAM: upstream,
      RATE: String(load),
      WORK_MS: String(busy === undefined ? workMs : WORK_MS),
      KOA: flags.koa ? 'yes' : '',
    },
    execArgv: nodeFlags,
  })
  const [{ port, doctor }] = await once(child, 'message')
  let requests = startLoad(port, load, clients)
  await sleep(healthyMs)
  child.send('begin')
  requests.stop()
  requests = startLoad(port, rate(load), clients)
  const kept = busy === undefined ? undefined : keepBusy(child, requests, busy)
  const stopOthers = OTHERS[fault]?.(port) ?? (() => {})
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
  const atLast = requests.rate
  kept?.stop()
  requests.stop()
  stopOthers()
  child.kill('SIGKILL')
  seen.delete('healthy')
  const found = problem === 'healthy' && seen.size > 0 ? [...seen].join(', ') : nameOf(diagnosis)
  return {
    fault,
    load: Math.round(atLast),
    busy: kept?.mean(),
    expected: problem,
    found,
    isRight: found === problem,
    firstRightMs,
    diagnosis,
  }
}

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  const faults = flags.faults ?? Object.keys(FAULTS)
  const jobs = faults.flatMap((fault) =>
    flags.busy === undefined
      ? flags.loads.map((load) => ({ fault, load }))
      : flags.busy.map((busy) => ({ fault, load: FIRST_RATE, busy }))
  )
  const rows = []
  const upstream = await startUpstream()
  const work = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const row = await run(job, upstream)
      rows.push(row)
      show(row)
    }
  }
  await Promise.all(Array.from({ length: flags['at-once'] }, work))
  const right = rows.filter(({ isRight }) => isRight).length
  process.stdout.write(`${right} of ${rows.length} first findings are right\n`)
  process.stdout.write(`saved ${save(flags.save, { right, of: rows.length, rows })}\n`)
}

function show({ fault, load, busy, expected, found, isRight, firstRightMs, diagnosis }) {
  const when = firstRightMs === undefined ? 'never' : `after ${Math.round(firstRightMs / 1000)} s`
  process.stdout.write(
    `${isRight ? 'right' : 'WRONG'}  ${fault} at ${load}/s${busy === undefined ? '' : `, busy ${busy.toFixed(2)}`}: ${found}${isRight ? '' : `, not ${expected}`}, first right ${when}\n`
  )
  for (const { problem, severity, summary } of diagnosis.findings)
    process.stdout.write(`       ${severity} ${problem}: ${summary}\n`)
}

main()
