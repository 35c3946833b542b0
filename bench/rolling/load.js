'use strict'
// node load.js <options as JSON>: requests at a constant rate, `atOnce` together, over Node's own keep-alive
// agent, which retries nothing. A request without a 200 has failed and is counted by its error. Latency
// counts from the scheduled time. It reports every worker that it has not met before. It ends at the message
// 'stop' or after `seconds`, and sends its counts when the last request has ended, however long that takes: a
// request in flight has neither succeeded nor failed.

const http = require('node:http')

const {
  port,
  rate,
  atOnce = 1,
  seconds = 0,
  connections = 64,
  timeoutMs = 10_000,
} = JSON.parse(process.argv[2])
// The connection that has rested longest, as of many clients: Node's own choice, the last used, would keep
// one worker busy.
const agent = new http.Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' })
const latencies = []
const failures = {}
const pids = new Set()
let sent = 0
let ended = 0
let isStopped = false
let startMs = 0

function fail(why) {
  failures[why] = (failures[why] ?? 0) + 1
}

function hear(pid) {
  if (pids.has(pid)) return
  pids.add(pid)
  process.send({ event: 'worker', workers: pids.size })
}

function send(dueMs) {
  sent++
  const req = http.get({ port, host: '127.0.0.1', agent, timeout: timeoutMs }, (res) => {
    let isWhole = false
    res.on('data', () => {})
    res.on('end', () => {
      isWhole = true
      hear(res.headers['x-pid'])
      if (res.statusCode === 200) latencies.push(performance.now() - dueMs)
      else fail(String(res.statusCode))
    })
    res.on('close', () => isWhole || fail('answer cut off'))
  })
  req.on('timeout', () => req.destroy(new Error('timeout')))
  req.on('error', (error) =>
    fail(`${error.code ?? error.message}${req.reusedSocket ? ' on a kept connection' : ''}`)
  )
  req.on('close', () => {
    ended++
    reportAtLast()
  })
}

const at = (sorted, ratio) => Math.round(sorted[Math.floor((sorted.length - 1) * ratio)] * 100) / 100

function reportAtLast() {
  if (!isStopped || ended < sent) return

  const sorted = latencies.sort((a, b) => a - b)
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  process.send(
    {
      event: 'ended',
      sent,
      answered: sorted.length,
      failed,
      failures,
      workers: pids.size,
      p50Ms: at(sorted, 0.5),
      p99Ms: at(sorted, 0.99),
      p999Ms: at(sorted, 0.999),
      maxMs: at(sorted, 1),
    },
    () => process.exit()
  )
}

const dueAt = (nth) => startMs + (nth * 1000) / rate

function tick() {
  if (isStopped) return
  const nowMs = performance.now()
  for (let dueMs = dueAt(sent); dueMs <= nowMs; dueMs = dueAt(sent))
    for (let i = 0; i < atOnce; i++) send(dueMs)
  if (seconds > 0 && nowMs - startMs >= seconds * 1000) isStopped = true
  if (isStopped) reportAtLast()
  else setTimeout(tick, 1)
}

// The bench may be killed.
process.on('disconnect', () => process.exit())
process.on('message', () => {
  isStopped = true
  reportAtLast()
})
startMs = performance.now()
tick()
