'use strict'
// node open-loop.js <options as JSON>: a load whose arrivals follow the clock whatever the server does, so that latency
// counts from the scheduled arrival (no coordinated omission). Phases of rate and length, constant or Poisson
// arrivals, kept connections or a new one for each request, probes beside it. The first seconds may be left out of the
// totals (`warmUpSeconds`). `arrivals: 'closed'` is the other kind of load: `connections` that always have one request out,
// which finds what a server can do at most. Prints one JSON line.

const { once } = require('node:events')
const net = require('node:net')
const tls = require('node:tls')
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
  warmUpSeconds = 0,
  warmRequests = 3000,
  closed = 48,
} = JSON.parse(process.argv[2])

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

/** All arrivals, as ms from the start, made before the first is sent. */
function schedule() {
  const times = []
  let phaseStartMs = 0
  for (const { rate, seconds } of phases) {
    const end = phaseStartMs + seconds * 1000
    if (isClosed) {
      phaseStartMs = end
      continue
    }
    const gap = () => (arrivals === 'poisson' ? -Math.log(1 - Math.random()) : 1) * (1000 / rate)
    for (let at = phaseStartMs + gap(); at < end; at += gap()) times.push(at)
    phaseStartMs = end
  }
  return { times, endMs: phaseStartMs }
}

const { times, endMs } = schedule()
const buckets = Array.from({ length: Math.ceil(endMs / BUCKET_MS) + 1 }, () => ({
  offered: 0,
  good: 0,
  late: 0,
  shed: 0,
  failed: 0,
  latencies: [],
}))
const critical = { offered: 0, good: 0 }
const probe = { sent: 0, answered: 0, latencies: [] }
const lag = []
const idle = []
const backlog = []
let open = 0
let next = 0
let startMs = 0
let startForeignMs = 0

function connect() {
  open++
  const socket = secure
    ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    : net.connect(port, '127.0.0.1')
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

function sendProbe() {
  const sentMs = performance.now()
  probe.sent++
  const socket = secure
    ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    : net.connect(port, '127.0.0.1')
  const timer = setTimeout(() => socket.destroy(), 1000)
  socket.on('error', () => {})
  socket.once('data', (data) => {
    clearTimeout(timer)
    if (data.latin1Slice(9, 12) === '200') {
      probe.answered++
      probe.latencies.push(performance.now() - sentMs)
    }
    socket.destroy()
  })
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
}

const sorted = (values) => values.sort((a, b) => a - b)
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
      probes: { sent: probe.sent, answered: probe.answered, p99Ms: at(sorted(probe.latencies), 0.99) },
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

/** A process needs some 2500 requests until its code is compiled: these do no work, and are over before it begins. */
async function warm() {
  let left = warmRequests
  const client = async () => {
    const socket = secure
      ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : net.connect(port, '127.0.0.1')
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
  if (probes) {
    const timer = setInterval(sendProbe, 100)
    setTimeout(() => clearInterval(timer), endMs)
  }
  if (isClosed) for (let i = 0; i < closed; i++) sendNext()
  tick()
}

main()
