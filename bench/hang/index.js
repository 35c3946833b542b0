'use strict'
// npm run bench -- hang [flags]
//
// Measures what the thread costs that watches for a hang: CPU and memory of an idle process, CPU of a
// request, and CPU of a stall. A server without it, one that is watched, and one with all that may follow a
// hang (blockedPort, hangReport, exitAfter) are measured in turn. A stall sleeps in Atomics.wait(), so all
// CPU time in it is the thread's, and that of the questions which the blocked thread answers. It is longer
// than `insight.blockedAfter` and `hangAfter`: a line is written in it, and a report where that is asked for.
//
//   --rounds 3        how often each is measured, in a new process
//   --idle 10         seconds without a request
//   --stalls 5        in each round
//   --save <name>     saves to bench/results/<name>-node-<major>.json (hang)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')
const { median } = require('../support/statistics')

const VARIANTS = ['not watched', 'watched', 'watched, with blockedPort, hangReport and exitAfter']
const STALL_MS = 1500
const REST_MS = 1000
const REQUESTS = 5000
/** After the start: V8 collects once more, and the thread is up. */
const SETTLE_MS = 10_000
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

function insightOf(variant, directory) {
  if (variant === VARIANTS[0]) return { stalls: false }
  if (variant === VARIANTS[1]) return { stalls: 'always' }
  return { hangAfter: 1000, hangReport: directory, exitAfter: 600_000 }
}

function serve([variant, directory]) {
  const { createSpillway } = require('../../src/index.js')
  const spillway = createSpillway({ fleet: false, insight: insightOf(variant, directory) })
  if (variant === VARIANTS[2]) spillway.listen({ port: 0, blockedPort: 0 })
  const server = http.createServer(
    spillway.wrap((req, res) => {
      if (req.url === '/block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS)
      res.end()
    })
  )
  process.on('message', (collects) => {
    if (collects) globalThis.gc?.()
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / 2 ** 20 })
  })
  process.on('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
}

async function measure(variant, { idle: idleSeconds, stalls }) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-hang-'))
  // The thread writes its lines to standard output.
  const child = fork(__filename, ['serve', variant, directory], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [port] = await once(child, 'message')
  const agent = new http.Agent({ keepAlive: true })
  const get = async (url) => {
    const [res] = await once(http.get({ host: '127.0.0.1', port, path: url, agent }), 'response')
    res.resume()
    await once(res, 'end')
  }
  // A collection would cost as much as what is measured in a stall.
  const usage = async (collects = true) => {
    child.send(collects)
    return (await once(child, 'message'))[0]
  }
  for (let i = 0; i < REQUESTS; i++) await get('/')
  await wait(SETTLE_MS)
  const before = await usage()
  await wait(idleSeconds * 1000)
  const rested = await usage()
  for (let i = 0; i < REQUESTS; i++) await get('/')
  const served = await usage()
  let stallMs = 0
  for (let i = 0; i < stalls; i++) {
    const began = await usage(false)
    await get('/block')
    stallMs += (await usage(false)).cpuMs - began.cpuMs
    await wait(REST_MS)
  }
  const reports = fs.readdirSync(directory).length
  agent.destroy()
  child.disconnect()
  await once(child, 'exit')
  fs.rmSync(directory, { recursive: true })
  return {
    idlePercent: (rested.cpuMs - before.cpuMs) / idleSeconds / 10,
    rssMb: rested.rssMb,
    requestMicroseconds: ((served.cpuMs - rested.cpuMs) / REQUESTS) * 1000,
    stallMs: stallMs / stalls,
    reports,
  }
}

async function run({ rounds, save: name, ...flags }) {
  process.stdout.write(`${machineLine()}\n`)
  const measured = VARIANTS.map(() => /** @type {Awaited<ReturnType<typeof measure>>[]} */ ([]))
  for (let round = 0; round < rounds; round++) {
    for (const [index, variant] of VARIANTS.entries()) {
      const figures = await measure(variant, flags)
      measured[index].push(figures)
      process.stdout.write(`${variant}: ${JSON.stringify(figures)}\n`)
    }
  }
  const rows = VARIANTS.map((variant, index) => {
    const medianOf = (key) => median(measured[index].map((figures) => figures[key]))
    return {
      variant,
      idlePercent: medianOf('idlePercent'),
      rssMb: medianOf('rssMb'),
      requestMicroseconds: medianOf('requestMicroseconds'),
      stallMs: medianOf('stallMs'),
    }
  })
  process.stdout.write(`saved ${save(name, { rounds, ...flags, stallMs: STALL_MS, rows })}\n`)
}

if (process.argv[2] === 'serve') serve(process.argv.slice(3))
else run(readFlags({ rounds: 3, idle: 10, stalls: 5, save: 'hang' }))
