'use strict'
// node fleet-server.js <workers> <series> <fleet>: a cluster whose workers have that many series each, and say what a
// scrape did to them when the primary asks them for the benchmark.

const cluster = require('node:cluster')
const http = require('node:http')
const { inject } = require('light-my-request')
const { createSpillway } = require('../src/index.js')
const { Blocks, cpuMs } = require('./blocks')

const [workersText, seriesText, fleetText] = process.argv.slice(2)
const SERIES = Number(seriesText)
const FLEET = fleetText === 'true' ? undefined : false
const REQUESTS = 20_000
/** To one of the workers that were not scraped last. */
const SIGNALS = { silence: 'SIGSTOP', speak: 'SIGCONT' }
const names = Array.from({ length: SERIES }, (_, i) => `/api/v1/resource-${i}/:id/items/:itemId`)

async function runWorker() {
  let next = 0
  const spillway = createSpillway({
    fleet: FLEET,
    routes: { max: SERIES, label: () => names[next++ % SERIES] },
  })
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
    listener(req, res)
  })
  server.keepAliveTimeout = 0
  const answers = {
    cpu: () => ({ cpuMs: cpuMs() }),
    watch() {
      scrapes = 0
      blocks.start()
      return {}
    },
    longest: () => ({ ...blocks.stop(), isScraped: scrapes > 0 }),
  }
  process.on('message', (/** @type {keyof typeof answers} */ question) => process.send(answers[question]()))
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
}

async function runPrimary() {
  const workers = Array.from({ length: Number(workersText) }, () => cluster.fork())
  const [{ port }] = await Promise.all(workers.map(answerOf))
  let asked
  const together = {
    cpu: (answers) => ({ cpuMs: answers.reduce((sum, each) => sum + each.cpuMs, 0) }),
    watch: () => ({}),
    longest(blocks) {
      asked = workers[blocks.findIndex(({ isScraped }) => !isScraped)]
      return { blocks }
    },
  }
  process.on('message', async (/** @type {keyof typeof together | keyof typeof SIGNALS} */ question) => {
    if (question in SIGNALS) {
      asked.process.kill(SIGNALS[question])
      return process.send({})
    }
    const answers = workers.map(answerOf)
    for (const worker of workers) worker.send(question)
    process.send(together[question](await Promise.all(answers)))
  })
  process.on('disconnect', () => process.exit())
  process.send({ port })
}

/** @returns {Promise<any>} */
const answerOf = (worker) => new Promise((resolve) => worker.once('message', resolve))

if (cluster.isPrimary) runPrimary()
else runWorker()
