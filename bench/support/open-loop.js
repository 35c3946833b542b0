'use strict'
// node open-loop.js <options as JSON>: a load whose arrivals follow the clock whatever the server does.
// Latency counts from the scheduled arrival, without coordinated omission. It has phases of a rate and a
// length, constant or Poisson arrivals, kept connections or a new one for each request, and probes and silent
// connections beside it. `warmUpSeconds` do not count. `arrivals: 'closed'` is a closed loop of `closed`
// requests, which finds what a server can serve at most. It prints a line of JSON.

const { once } = require('node:events')
const { schedule } = require('./arrivals')
const { connectTo, openSilent, probe } = require('./beside')
const { foreignMs } = require('./foreign')

const BUCKET_MS = 100
const OPENED_FIRST = 256
const {
  port,
  phases,
  path = '/work',
  arrivals = 'constant',
  connections = 'kept',
  deadlineMs = 250,
  mostConnections = 1024,
  bodyBytes = 0,
  secure = false,
  criticalShare = 0,
  probes = true,
  silentPerSecond = 0,
  warmUpSeconds = 0,
  warmRequests = 3000,
  closed = 48,
} = JSON.parse(process.argv[2])

const server = { port, secure }
const body = Buffer.alloc(bodyBytes, 'x')
const requestFor = (target, extra = '') =>
  Buffer.concat([
    Buffer.from(
      `${bodyBytes > 0 ? 'POST' : 'GET'} ${target} HTTP/1.1\r\nHost: localhost\r\n${extra}` +
        `${bodyBytes > 0 ? `Content-Length: ${bodyBytes}\r\n` : ''}${connections === 'new' ? 'Connection: close\r\n' : ''}\r\n`
    ),
    body,
  ])
const NORMAL = requestFor(path)
const CRITICAL = requestFor(path, 'X-Priority: critical\r\n')

const isClosed = arrivals === 'closed'
const firstBucket = Math.round((warmUpSeconds * 1000) / BUCKET_MS)

const { times, endMs } = schedule(phases, arrivals)
const buckets = Array.from({ length: Math.ceil(endMs / BUCKET_MS) + 1 }, () => ({
  offered: 0,
  good: 0,
  late: 0,
  shed: 0,
  failed: 0,
  latencies: [],
}))
const critical = { offered: 0, good: 0 }
let probed = { sent: 0, answered: 0, latencies: [] }
let silent = { opened: 0 }
const lag = []
const idle = []
const backlog = []
let open = 0
let next = 0
let startMs = 0
let startForeignMs = 0

function connect() {
  open++
  const socket = connectTo(server)
  socket.setNoDelay(true)
  socket.job = undefined
  let text = ''
  socket.on('data', (data) => {
    text += data.latin1Slice()
    const head = text.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = /\r\ncontent-length: (\d+)/i.exec(text)
    if (length === null || text.length < head + 4 + Number(length[1])) return
    const status = Number(text.slice(9, 12))
    const isClosing = /\r\nconnection: close/i.test(text)
    text = ''
    settle(socket, status)
    if (connections === 'new' || isClosing) socket.destroy()
    else release(socket)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    open--
    const index = idle.indexOf(socket)
    if (index !== -1) idle.splice(index, 1)
    if (socket.job !== undefined) settle(socket, 0)
  })
  return socket
}

function settle(socket, status) {
  const { job } = socket
  if (job === undefined) return
  socket.job = undefined
  if (isClosed) setImmediate(sendNext)
  const latencyMs = performance.now() - startMs - job.atMs
  const bucket = buckets[Math.floor(job.atMs / BUCKET_MS)]
  if (status === 503) bucket.shed++
  else if (status !== 200) bucket.failed++
  else {
    bucket.latencies.push(latencyMs)
    if (latencyMs <= deadlineMs) {
      bucket.good++
      if (job.isCritical) critical.good++
    } else bucket.late++
  }
}

function send(socket, job) {
  socket.job = job
  socket.write(job.isCritical ? CRITICAL : NORMAL)
}

function release(socket) {
  if (backlog.length > 0) send(socket, backlog.shift())
  else idle.push(socket)
}

function arrive(atMs) {
  const job = { atMs, isCritical: Math.random() < criticalShare }
  if (job.isCritical) critical.offered++
  buckets[Math.floor(atMs / BUCKET_MS)].offered++
  if (connections === 'new') {
    if (open >= mostConnections * 4) return void fail(job)
    const socket = connect()
    socket.job = job
    socket.once(secure ? 'secureConnect' : 'connect', () => socket.write(job.isCritical ? CRITICAL : NORMAL))
    return
  }
  const socket = idle.pop()
  if (socket !== undefined) return send(socket, job)
  backlog.push(job)
  if (open < mostConnections) {
    const fresh = connect()
    fresh.once(secure ? 'secureConnect' : 'connect', () => release(fresh))
  }
}

/** In a closed load an answer brings the next request. */
function sendNext() {
  const atMs = performance.now() - startMs
  if (atMs < endMs) arrive(atMs)
}

function fail(job) {
  buckets[Math.floor(job.atMs / BUCKET_MS)].failed++
}

function tick() {
  const nowMs = performance.now() - startMs
  for (; next < times.length && times[next] <= nowMs; next++) {
    lag.push(nowMs - times[next])
    arrive(times[next])
  }
  while (backlog.length > 0 && nowMs - backlog[0].atMs > deadlineMs) fail(backlog.shift())
  if (next < times.length || nowMs < endMs) setTimeout(tick, 1)
  else setTimeout(report, 2 * deadlineMs)
}

const sorted = (values) => values.sort((a, b) => a - b)
const bySecond = (counted) =>
  Array.from({ length: Math.ceil((counted.length * BUCKET_MS) / 1000) }, (_, second) =>
    counted
      .slice((second * 1000) / BUCKET_MS, ((second + 1) * 1000) / BUCKET_MS)
      .flatMap(({ latencies }) => latencies)
  )
const at = (values, ratio) =>
  values.length === 0 ? null : Math.round(values[Math.floor((values.length - 1) * ratio)] * 10) / 10

function report() {
  const total = { offered: 0, good: 0, late: 0, shed: 0, failed: 0 }
  const counted = buckets.slice(firstBucket)
  for (const bucket of counted) for (const key of Object.keys(total)) total[key] += bucket[key]
  total.failed = total.offered - total.good - total.late - total.shed
  const seconds = (endMs - firstBucket * BUCKET_MS) / 1000
  const latencies = sorted(counted.flatMap(({ latencies: each }) => each))
  process.stdout.write(
    `${JSON.stringify({
      ...total,
      seconds,
      goodput: total.good / seconds,
      answered: (total.good + total.late + total.shed) / seconds,
      p50Ms: at(latencies, 0.5),
      p99Ms: at(latencies, 0.99),
      // What share of its core others took.
      foreign: (foreignMs(process.env.LOAD_CORE) - startForeignMs) / (performance.now() - startMs),
      sendLagP99Ms: at(sorted(lag), 0.99),
      critical,
      probes: { sent: probed.sent, answered: probed.answered, p99Ms: at(sorted(probed.latencies), 0.99) },
      silent: silent.opened,
      secondsP99Ms: bySecond(counted).map((latencies) => at(sorted(latencies), 0.99)),
      bucketMs: BUCKET_MS,
      timeline: counted.map(({ latencies: each, ...counts }) => ({
        ...counts,
        p99Ms: at(sorted(each), 0.99),
      })),
    })}\n`
  )
  process.exit()
}

/** Connections that stand already, as a proxy's do: opening hundreds at once would delay the schedule. */
async function openFirst() {
  if (connections === 'new') return
  const opened = Array.from({ length: OPENED_FIRST }, () => {
    const socket = connect()
    return once(socket, secure ? 'secureConnect' : 'connect').then(() => release(socket))
  })
  await Promise.all(opened)
}

/**
 * A process needs some 2500 requests until its code is compiled: these do no work, and are over before it
 * begins.
 */
async function warm() {
  let left = warmRequests
  const client = async () => {
    const socket = connectTo(server)
    await once(socket, secure ? 'secureConnect' : 'connect')
    while (left-- > 0) {
      socket.write('GET /warm HTTP/1.1\r\nHost: localhost\r\n\r\n')
      await once(socket, 'data')
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: 128 }, client))
}

async function main() {
  await warm()
  await openFirst()
  startForeignMs = foreignMs(process.env.LOAD_CORE)
  startMs = performance.now()
  if (probes) probed = probe(server, endMs)
  if (silentPerSecond > 0) silent = openSilent(server, silentPerSecond, endMs)
  if (isClosed) for (let i = 0; i < closed; i++) sendNext()
  tick()
}

main()
