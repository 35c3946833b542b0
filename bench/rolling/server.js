'use strict'
// node server.js <options as JSON>: our primary with its workers, Express 5 behind `attach`, where a request
// takes 0.5 ms of CPU. `leakPerSecond` bytes stay in the heap of each worker for every second with requests.
// Over IPC, it reports its port and what happens to its workers, and takes the messages 'restart' and 'stop'.

const cluster = require('node:cluster')
const { clusterPrimary, createSpillway } = require('../../src/index.js')

const BURN_MS = 0.5
/** A page of 1000 characters, its string, object and entry. */
const SESSION_BYTES = 1100
const options = JSON.parse(process.argv[2])

if (cluster.isPrimary) lead()
else serve()

function lead() {
  const primary = clusterPrimary({ workers: options.workers, logger: false })
  for (const event of ['degraded', 'replaced', 'crashed'])
    primary.on(event, (details) => process.send({ event, ...details }))
  cluster.on('listening', (_worker, { port }) => {
    options.port = port
  })
  primary.on('ready', () => process.send({ event: 'ready', port: options.port }))
  // The bench may be killed.
  process.on('disconnect', () => process.exit())
  process.on('message', async (message) => {
    if (message === 'restart') {
      await primary.restart()
      process.send({ event: 'restarted' })
    } else {
      await primary.stop()
      process.send({ event: 'stopped', ...primary.snapshot() }, () => process.exit())
    }
  })
}

function serve() {
  const express = require('express')
  const { recycleAt, shed = 'adaptive', drainTimeout, keepAliveTimeout } = options
  const spillway = createSpillway({
    logger: false,
    shed: { mode: shed },
    drain: { timeout: drainTimeout },
    memory: { recycleAt, recycleAfter: 2000, minUptime: 10_000 },
  })
  const app = express()
  const pid = String(process.pid)
  app.get('/', (_req, res) => {
    leak()
    for (const untilMs = performance.now() + BURN_MS; performance.now() < untilMs; );
    res.set('X-Pid', pid).json({ hello: 'world' })
  })
  const server = app.listen(0, '127.0.0.1')
  if (keepAliveTimeout !== undefined) server.keepAliveTimeout = keepAliveTimeout
  spillway.attach(server, { signals: true })
}

const sessions = new Map()
const body = 'x'.repeat(1000)
let leakedMs = performance.now()

/** Sessions of a kilobyte that nothing ends. */
function leak() {
  if (!options.leakPerSecond) return
  const nowMs = performance.now()
  const due = Math.floor(((nowMs - leakedMs) / 1000) * (options.leakPerSecond / SESSION_BYTES))
  leakedMs += (due * SESSION_BYTES * 1000) / options.leakPerSecond
  for (let i = 0; i < due; i++)
    sessions.set(sessions.size, { since: nowMs, page: Buffer.from(body).latin1Slice() })
}
