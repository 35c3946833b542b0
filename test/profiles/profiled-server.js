'use strict'
// A server to take profiles of, in a process of its own: `node profiled-server.js [options] [token]`. It
// tells its ports, and answers questions about itself.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { once } = require('node:events')
const { performance } = require('node:perf_hooks')
const express = require('express')
const { createSpillway } = require('../../src/index.js')
const { systemClock } = require('../../src/core/clock.js')
const { schedulerWait } = require('../../src/core/process/scheduler-wait.js')

const [options = '{}', token, timeout] = process.argv.slice(2)
const BURN_MS = 5
const KEPT = 200

function burnCpu() {
  const begun = process.cpuUsage()
  let used = 0
  do {
    for (let i = 0; i < 1e4; i++) used += i
    const { user, system } = process.cpuUsage(begun)
    used = (user + system) / 1000
  } while (used < BURN_MS)
}

/** So much that a request of it takes milliseconds, beside which Express is little. */
const PIECES = 1000

/** Work whose share is known without a clock. @param {number} pieces */
function sortNumbers(pieces) {
  let sum = 0
  for (let i = 0; i < pieces; i++) {
    const numbers = []
    for (let k = 0; k < 64; k++) numbers.push((k * 7919 + i) % 101)
    numbers.sort((a, b) => a - b)
    sum += numbers[7]
  }
  return sum
}

/** A package of a temporary application. @param {string} name @param {string} source */
function loadPackage(name, source) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-profiles-'))
  const file = path.join(folder, 'node_modules', name, 'index.js')
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, source)
  try {
    return require(file)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}
const slowPackage = loadPackage(
  '@scope/slow-package',
  `const BURN_MS = ${BURN_MS}\nexports.work = ${burnCpu}\n`
)
const logger = loadPackage(
  'costly-logger',
  `exports.info = (pieces) => sortNumbers(pieces)\n${sortNumbers}\n`
)
const driver = loadPackage(
  'costly-driver',
  `exports.query = (pieces) => sortNumbers(pieces)\n${sortNumbers}\n`
)

const kept = []
function keepSome() {
  kept.push(Array.from({ length: KEPT }, (_, i) => ({ i })))
}

async function main() {
  const spillway = createSpillway({ logger: false, fleet: false, ...JSON.parse(options) })
  const stalls = []
  spillway.on('stall', ({ cause, function: name }) => stalls.push({ cause, name }))
  const app = express()
  app.use(function passOn(_req, _res, next) {
    next()
  })
  app.get('/burn', function burnHandler(_req, res) {
    burnCpu()
    res.end()
  })
  app.get('/package', function packageHandler(_req, res) {
    slowPackage.work()
    res.end()
  })
  app.get('/logged', function loggedHandler(_req, res) {
    sortNumbers(PIECES * 0.95)
    logger.info(PIECES * 0.05)
    res.end()
  })
  app.get('/queried', function queriedHandler(_req, res) {
    driver.query(PIECES * 0.2)
    sortNumbers(PIECES * 0.8)
    res.end()
  })
  app.get('/keep', function keepHandler(_req, res) {
    for (let i = 0; i < KEPT; i++) keepSome()
    res.end(`${JSON.stringify(Array.from({ length: KEPT * KEPT }, (_, i) => i)).length}`)
  })
  app.get('/hello', (_req, res) => res.end())
  const server = app.listen(0, '127.0.0.1')
  spillway.attach(server)
  await once(server, 'listening')
  const admin = await spillway.listen({
    port: 0,
    maxRequestsPerSecond: 1000,
    ...(token && { token }),
    ...(timeout && { timeout: Number(timeout) }),
  })
  const answers = {
    idle: () => ({
      atMs: performance.now(),
      idleMs: systemClock.idleMs(),
      nodeMs: performance.nodeTiming.idleTime,
    }),
    state: () => ({
      stalls,
      shed: spillway.snapshot().admission.shed.length,
      atMs: performance.now(),
      waitedMs: schedulerWait()?.waitedMs ?? 0,
    }),
    exit: () => process.exit(3),
    kill: () => process.kill(process.pid, 'SIGTERM'),
    close: () => spillway.close(),
  }
  // A key without a value is lost on its way.
  process.on('message', (/** @type {string} */ question) =>
    process.send?.({ answer: answers[question]() ?? null })
  )
  process.on('disconnect', () => process.exit())
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.({ ports: { port, adminPort: admin.port } })
}

main()
