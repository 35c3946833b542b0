'use strict'
// node server.js <workers> <series> <fleet>: a cluster whose workers have so many series each. On request of
// the bench, the primary gives a worker a core of its own, watches its loop, stops a worker, and adds up the
// CPU time of all.

const cluster = require('node:cluster')
const http = require('node:http')
const { inject } = require('light-my-request')
const { Spillway } = require('../../src/spillway')
const { Blocks, cpuMs } = require('../support/blocks')
const { leapingClock } = require('../support/leaping-clock')
const { moveToLoadCore, moveLoopToServerCore } = require('../support/pinned')

const [workersText, seriesText, fleetText] = process.argv.slice(2)
const SERIES = Number(seriesText)
const FLEET = fleetText === 'true' ? undefined : false
const REQUESTS = 20_000
const names = Array.from({ length: SERIES }, (_, i) => `/api/v1/resource-${i}/:id/items/:itemId`)

async function runWorker() {
  let next = 0
  const { clock, leap } = leapingClock()
  const routes = { max: SERIES, label: () => names[next++ % SERIES] }
  const spillway = new Spillway({ fleet: FLEET, routes }, clock)
  const listener = spillway.wrap((_req, res) => res.end('ok'))
  for (let i = 0; i < REQUESTS; i++) {
    await inject(listener, { url: '/' })
    // Injected answers close in a later turn.
    if (i % 100 === 99) await new Promise((resolve) => setImmediate(resolve))
  }
  const blocks = new Blocks()
  let scrapes = 0
  const server = http.createServer((req, res) => {
    scrapes++
    leap()
    listener(req, res)
  })
  server.keepAliveTimeout = 0
  const answers = {
    scrapes: () => scrapes,
    cpu: cpuMs,
    watch: () => blocks.start(),
    longest: () => blocks.stop(),
  }
  process.on('message', (/** @type {keyof typeof answers} */ question) =>
    process.send({ answer: answers[question]() })
  )
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
}

async function runPrimary() {
  const workers = Array.from({ length: Number(workersText) }, () => cluster.fork())
  const [{ port }] = await Promise.all(workers.map(answerOf))
  let scraped = workers[0]
  let asked = workers[1]
  let watched = scraped
  /** The watched loop has the server's core. The other workers share the scraper's core. */
  const seat = (worker) => {
    watched = worker
    moveToLoadCore(process.pid)
    for (const each of workers) moveToLoadCore(each.process.pid)
    moveLoopToServerCore(worker.process.pid)
  }
  const answers = {
    /** All scrapes go to one worker. */
    async 'who is scraped'() {
      const scrapes = await Promise.all(workers.map((worker) => ask(worker, 'scrapes')))
      scraped = workers[scrapes.indexOf(Math.max(...scrapes))]
      asked = workers.find((worker) => worker !== scraped)
    },
    'seat the scraped': () => seat(scraped),
    'seat one of the others': () => seat(asked),
    watch: () => ask(watched, 'watch'),
    longest: () => ask(watched, 'longest'),
    silence: () => void asked.process.kill('SIGSTOP'),
    speak: () => void asked.process.kill('SIGCONT'),
    async cpu() {
      const all = await Promise.all(workers.map((worker) => ask(worker, 'cpu')))
      return all.reduce((sum, each) => sum + each, 0)
    },
  }
  process.on('message', async (/** @type {keyof typeof answers} */ question) => {
    process.send({ answer: await answers[question]() })
  })
  process.on('disconnect', () => process.exit())
  process.send({ port })
}

async function ask(worker, question) {
  const answered = answerOf(worker)
  worker.send(question)
  const { answer } = await answered
  return answer
}

/** @returns {Promise<any>} */
const answerOf = (worker) => new Promise((resolve) => worker.once('message', resolve))

if (cluster.isPrimary) runPrimary()
else runWorker()
