'use strict'
// npm run bench -- stalls [flags]
//
// Measures what it costs to watch for stalls, and how long the loop is interrupted to read its stack. A
// process serves without a stall, then blocks its loop for 150 ms again and again. The blocked code reads the
// clock as fast as it can: the longest gap between two readings is the interruption, or the time that the
// machine gave to others. A second process without a watcher blocks in turn, and shows the latter.
//
//   --stalls 100      how many
//   --every 850       milliseconds between two; with --stalls 600 a soak of ten minutes
//   --save <name>     saves to bench/results/<name>-node-<major>.json (stalls)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')
const { percentile } = require('../support/statistics')

const STALL_MS = 150
const IDLE_MS = 5000
const REQUESTS = 5000
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const round = (value) => Math.round(value * 100) / 100

function serve() {
  // For whoever starts the server: it is no process of a test runner.
  const { createSpillway } = require('../../src/index.js')
  const insight = process.argv[3] === 'watched' ? {} : false
  const spillway = createSpillway({ logger: false, fleet: false, insight, shed: { mode: 'off' } })
  let longestMs = 0
  const server = http.createServer(
    spillway.wrap(function handle(req, res) {
      if (req.url === '/block') longestMs = blockLoop()
      res.end()
    })
  )
  const named = { stalls: 0, named: 0, host: 0 }
  spillway.on('stall', ({ cause, function: blocked }) => {
    named.stalls++
    if (blocked === 'blockLoop') named.named++
    if (cause === 'host') named.host++
  })
  const answers = {
    gap: () => longestMs,
    named: () => named,
    usage: () => {
      globalThis.gc?.()
      const { user, system } = process.cpuUsage()
      return { cpuMs: (user + system) / 1000, rssMb: process.memoryUsage.rss() / 2 ** 20 }
    },
  }
  process.on('message', (/** @type {string} */ key) => process.send?.(answers[key]()))
  process.on('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
}

function blockLoop() {
  let longestMs = 0
  let lastMs = performance.now()
  const endMs = lastMs + STALL_MS
  while (lastMs < endMs) {
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
  }
  return longestMs
}

async function start(kind) {
  const child = fork(__filename, ['serve', kind], { execArgv: ['--expose-gc'] })
  const [port] = await once(child, 'message')
  const agent = new http.Agent({ keepAlive: true })
  const get = async (path) => {
    const [res] = await once(http.get({ host: '127.0.0.1', port, path, agent }), 'response')
    res.resume()
    await once(res, 'end')
  }
  const ask = async (key) => {
    child.send(key)
    const [answer] = await once(child, 'message')
    return answer
  }
  return { child, agent, get, ask }
}

/** Of an idle process and of one that serves: CPU and memory. */
async function measure({ get, ask }) {
  await wait(1000)
  const before = await ask('usage')
  await wait(IDLE_MS)
  const idle = await ask('usage')
  for (let i = 0; i < REQUESTS; i++) await get('/')
  const after = await ask('usage')
  return {
    idleCpuPercent: round(((idle.cpuMs - before.cpuMs) / IDLE_MS) * 100),
    requestMicroseconds: round(((after.cpuMs - idle.cpuMs) / REQUESTS) * 1000),
    rssMb: round(after.rssMb),
  }
}

async function run({ stalls: count, every: everyMs, save: name }) {
  process.stdout.write(`${machineLine()}\n`)
  const server = await start('watched')
  const other = await start('unwatched')
  for (let i = 0; i < REQUESTS; i++) await server.get('/')
  const unwatched = await measure(server)
  process.stdout.write(`without a watcher  ${JSON.stringify(unwatched)}\n`)
  // The first starts the watcher.
  await server.get('/block')
  const gaps = { watched: /** @type {number[]} */ ([]), unwatched: /** @type {number[]} */ ([]) }
  await wait(1000)
  /** After each hundred stalls: whether the process grows. */
  const rssMb = []
  for (let i = 0; i < count; i++) {
    for (const [kind, each] of /** @type {const} */ ([
      ['watched', server],
      ['unwatched', other],
    ])) {
      await each.get('/block')
      gaps[kind].push(await each.ask('gap'))
      await wait(everyMs / 2)
    }
    if ((i + 1) % 100 !== 0) continue
    rssMb.push(round((await server.ask('usage')).rssMb))
    process.stdout.write(`${i + 1} stalls  ${rssMb.at(-1)} MB\n`)
  }
  const watched = await measure(server)
  process.stdout.write(`with a watcher     ${JSON.stringify(watched)}\n`)
  const named = await server.ask('named')
  const interruptions = { unwatched: summaryOf(gaps.unwatched), watched: summaryOf(gaps.watched) }
  process.stdout.write(`gaps, unwatched    ${JSON.stringify(interruptions.unwatched)}\n`)
  process.stdout.write(`gaps, watched      ${JSON.stringify(interruptions.watched)}\n`)
  process.stdout.write(`stalls             ${JSON.stringify(named)}\n`)
  process.stdout.write(`saved ${save(name, { unwatched, watched, interruptions, named, rssMb })}\n`)
  for (const { agent, child } of [server, other]) {
    agent.destroy()
    child.disconnect()
  }
}

const summaryOf = (gaps) => ({
  p50Ms: round(percentile(gaps, 0.5)),
  p99Ms: round(percentile(gaps, 0.99)),
  maxMs: round(Math.max(...gaps)),
})

if (process.argv[2] === 'serve') serve()
else run(readFlags({ stalls: 100, every: 850, save: 'stalls' }))
