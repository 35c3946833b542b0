'use strict'
// node bench/doctor.js [fault...]: does the doctor name the fault? Each service of bench/doctor-server.js is healthy for a while, has
// its fault for the rest of a minute, and is asked on /doctor: the first finding has to be the seeded one, and that of a
// healthy service has to be none. LOADS=20,60,120 are the requests a second; AT_ONCE runs so many services at a time. SHARED=1
// does not count a starved host, for a machine that others use too.

const { fork, spawn } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const path = require('node:path')
const { answerHelp } = require('./help')

answerHelp()

const LOADS = (process.env.LOADS ?? '20,60,120').split(',').map(Number)
const AT_ONCE = Number(process.env.AT_ONCE ?? 1)
const HEALTHY_MS = Number(process.env.HEALTHY_SECONDS ?? 15) * 1000
const FAULTY_MS = Number(process.env.FAULTY_SECONDS ?? 45) * 1000
const GIVE_UP_MS = 10_000
const HOGS = 6
const isShared = process.env.SHARED === '1'
/** Ends by itself, should the bench be killed. */
const HOG = 'const end = Date.now() + 120_000; while (Date.now() < end);'
const SLOW_CLIENTS = 12
const MIX = [
  ['GET', '/items', 0.6],
  ['GET', '/orders', 0.3],
  ['POST', '/login', 0.1],
]

/** What each fault is called by the doctor, the flags of its process, and how much more load it takes. */
const FAULTS = {
  healthy: { problem: 'healthy' },
  blocked: { problem: 'event-loop-blocked' },
  gc: { problem: 'garbage-collection', flags: ['--max-semi-space-size=1', '--max-old-space-size=400'] },
  slow: { problem: 'slow-dependency' },
  pool: { problem: 'pool-exhausted' },
  hogs: { problem: 'host-starved' },
  leak: { problem: 'heap-growing', flags: ['--max-old-space-size=300'] },
  errors: { problem: 'errors' },
  orphans: { problem: 'orphaned-requests' },
  overload: { problem: 'overloaded', rate: (load) => 500 + 4 * load },
  saturated: { problem: 'cpu-saturated', rate: () => 480 },
  clients: { problem: 'slow-clients' },
}

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
  const { problem, flags = [], rate = (each) => each } = FAULTS[fault]
  const child = fork(path.join(__dirname, 'doctor-server.js'), {
    env: { ...process.env, FAULT: fault, RATE: String(load) },
    execArgv: flags,
  })
  const [{ port, doctor }] = await once(child, 'message')
  let stopLoad = startLoad(port, load)
  await sleep(HEALTHY_MS)
  child.send('begin')
  stopLoad()
  stopLoad = startLoad(port, rate(load))
  const stopOthers = fault === 'hogs' ? startHogs() : fault === 'clients' ? startSlowClients(port) : () => {}
  let diagnosis
  const from = performance.now()
  let firstRightMs
  const nameOf = ({ findings, healthy }) => {
    const [first] = findings.filter(
      (finding) => !isShared || fault === 'hogs' || finding.problem !== 'host-starved'
    )
    return first?.problem ?? (healthy === null ? 'unknown' : 'healthy')
  }
  while (performance.now() - from < FAULTY_MS) {
    await sleep(Math.min(5000, FAULTY_MS))
    diagnosis = await fetch(doctor).then(
      (res) => res.json(),
      (error) => ({ findings: [], healthy: null, error: String(error) })
    )
    if (nameOf(diagnosis) === problem) firstRightMs ??= performance.now() - from
  }
  stopLoad()
  stopOthers()
  child.kill('SIGKILL')
  return {
    fault,
    load,
    expected: problem,
    found: nameOf(diagnosis),
    isRight: nameOf(diagnosis) === problem,
    firstRightMs,
    diagnosis,
  }
}

async function main() {
  const asked = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const faults = asked.length === 0 ? Object.keys(FAULTS) : asked
  const jobs = faults.flatMap((fault) => LOADS.map((load) => ({ fault, load })))
  let right = 0
  let done = 0
  const work = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const { expected, found, isRight, firstRightMs, diagnosis } = await run(job.fault, job.load)
      done++
      if (isRight) right++
      const when = firstRightMs === undefined ? 'never' : `${Math.round(firstRightMs / 1000)} s`
      console.log(
        `${isRight ? 'right' : 'WRONG'} ${job.fault} ${job.load}/s: ${found} (${expected}, first after ${when})`
      )
      for (const { problem, severity, summary } of diagnosis.findings)
        console.log(`      ${severity} ${problem}: ${summary}`)
      if (!isRight && process.env.VERBOSE) console.log(JSON.stringify(diagnosis))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  console.log(`${right} of ${done} first findings are right`)
}

main()
