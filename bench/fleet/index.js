'use strict'
// npm run bench -- fleet [flags]
//
// Measures what a scrape of a cluster costs its workers: 4 workers of 1000 series, each series with a method,
// route and status. The figures are the longest block of the loop of the worker that is scraped, and of a
// worker that is asked for its part; the CPU time of all workers; and how long the scrape takes. Beside it,
// the same workers with `fleet: false`, of which the scraped worker answers for itself alone. The watched
// loop has a core of its own, as on a machine with a core for each worker. The other workers and the threads
// of the watched process share the scraper's core. For CPU time and the time of a scrape, all workers share a
// core. A block is the lesser of its wall-clock time and its CPU time: what other processes took of the core
// does not count. V8 collects on the loop's own thread, because helper threads on the same core would delay
// the loop.
//
//   --rounds 60       how many scrapes each figure has
//   --save <name>     saves to bench/results/<name>-node-<major>.json (fleet)

const http = require('node:http')
const path = require('node:path')
const { once } = require('node:events')
const { readFlags } = require('../support/flags')
const { ONE_THREAD, pinLoad, startServer } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { median, percentile, round2 } = require('../support/statistics')
const { headLine, progress, rowLine } = require('../support/terminal')

const WORKERS = 4
const SERIES = 1000
const { rounds: ROUNDS, save: name } = readFlags({ rounds: 60, save: 'fleet' })
const WARM_UP = 10
const SILENT_ROUNDS = 10
const IDLE_MS = 30
const SERVER = path.join(__dirname, 'server.js')

class Cluster {
  scraped = []
  asked = []
  idle = []
  cpuMs = []
  tookMs = []
  bytes = 0

  static async start(name, fleet) {
    const cluster = new Cluster()
    cluster.name = name
    cluster.server = await startServer(SERVER, [String(WORKERS), String(SERIES), String(fleet)], {
      nodeArgs: ONE_THREAD,
    })
    // One connection that stays open, so that the same worker is scraped each time.
    cluster.agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    for (let i = 0; i < WARM_UP; i++) await cluster.scrape()
    await cluster.server.ask('who is scraped')
    return cluster
  }

  async scrape() {
    const { agent, server } = this
    const [res] = await once(
      http.get({ agent, host: '127.0.0.1', port: server.port, path: '/metrics' }),
      'response'
    )
    this.bytes = 0
    res.on('data', (data) => (this.bytes += data.length))
    await once(res, 'end')
  }

  async time() {
    const { answer: before } = await this.server.ask('cpu')
    const sinceMs = performance.now()
    await this.scrape()
    this.tookMs.push(performance.now() - sinceMs)
    const { answer: after } = await this.server.ask('cpu')
    this.cpuMs.push(after - before)
  }

  /**
   * @param {number[]} blocks gets the longest block of the watched loop during a scrape; `idle` gets that of
   *   30 ms without one
   */
  async watch(blocks) {
    await this.server.ask('watch')
    await this.scrape()
    blocks.push((await this.server.ask('longest')).answer.blockMs)
    await this.server.ask('watch')
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    this.idle.push((await this.server.ask('longest')).answer.blockMs)
  }

  /** @returns {Promise<number>} how long a scrape takes while another worker does not answer */
  async tookBesideSilent() {
    await this.server.ask('silence')
    const tookMs = []
    for (let i = 0; i < SILENT_ROUNDS; i++) {
      const sinceMs = performance.now()
      await this.scrape()
      tookMs.push(performance.now() - sinceMs)
    }
    await this.server.ask('speak')
    return Math.round(Math.max(...tookMs))
  }

  summary() {
    const row = (variant, blocks) => ({
      variant,
      blockMs: round2(median(blocks)),
      blockP90Ms: round2(percentile(blocks, 0.9)),
      blockMaxMs: round2(Math.max(...blocks)),
    })
    const cost = {
      cpuMs: round2(median(this.cpuMs)),
      tookMs: round2(median(this.tookMs)),
      kilobytes: Math.round(this.bytes / 1000),
    }
    return [
      { ...row(`${this.name}, the worker that is scraped`, this.scraped), ...cost },
      row(`${this.name}, one of the others`, this.asked),
      row(`${this.name}, idle for ${IDLE_MS} ms`, this.idle),
    ]
  }

  async stop() {
    this.agent.destroy()
    await this.server.stop()
  }
}

/** @type {import('../support/terminal').Column[]} */
const COLUMNS = [
  ['', -40, (row) => row.variant],
  ['longest block ms', 16, (row) => row.blockMs.toFixed(2)],
  ['p90', 7, (row) => row.blockP90Ms.toFixed(2)],
  ['max', 7, (row) => row.blockMaxMs.toFixed(2)],
  ['CPU of all ms', 13, (row) => row.cpuMs?.toFixed(1) ?? ''],
  ['took ms', 8, (row) => row.tookMs?.toFixed(0) ?? ''],
  ['kB', 7, (row) => row.kilobytes?.toFixed(0) ?? ''],
]

async function rounds(what, round) {
  for (let i = 1; i <= ROUNDS; i++) {
    progress(`${what}: round ${i} of ${ROUNDS}`)
    await round()
  }
}

async function inTurn(clusters, step) {
  for (const cluster of clusters) await step(cluster)
}

async function main() {
  pinLoad()
  process.stdout.write(`${machineLine()}\n`)
  progress('filling the workers')
  const clusters = [await Cluster.start('fleet', true), await Cluster.start('fleet: false', false)]
  await rounds('timed', () => inTurn(clusters, (cluster) => cluster.time()))
  await inTurn(clusters, ({ server }) => server.ask('seat the scraped'))
  await rounds('the scraped worker watched', () => inTurn(clusters, (each) => each.watch(each.scraped)))
  await inTurn(clusters, ({ server }) => server.ask('seat one of the others'))
  await rounds('one of the others watched', () => inTurn(clusters, (each) => each.watch(each.asked)))
  progress('')
  const besideSilentMs = await clusters[0].tookBesideSilent()
  const rows = clusters.flatMap((cluster) => cluster.summary())
  for (const cluster of clusters) await cluster.stop()
  process.stdout.write(headLine(COLUMNS))
  for (const row of rows) process.stdout.write(rowLine(COLUMNS, row))
  process.stdout.write(
    `beside a worker that is stopped: at most ${besideSilentMs} ms of ${SILENT_ROUNDS} scrapes\n`
  )
  process.stdout.write(
    `saved ${save(name, { rounds: ROUNDS, workers: WORKERS, series: SERIES, besideSilentMs, rows })}\n`
  )
}

main()
