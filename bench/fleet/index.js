'use strict'
// npm run bench:fleet: what a scrape of a cluster costs its workers, at 4 workers of 1000 series each (one method, route and
// status each): the longest the loop of the worker that is scraped was blocked, the longest of one that was asked, CPU of
// all, and how long the scrape took. Beside it the same workers with `fleet: false`, of which one answers for itself.
// The loop that is watched has a core to itself, as on a machine with a core for each worker: four on one take it from each
// other for 3 ms at a time, and so do the threads of its own process, which write its reports. All others share the scraper's core
// meanwhile; for CPU and time of a scrape all workers share one.
// A block is the lesser of what it took by the clock and in CPU time: what others took of the core was not the scrape's.
// V8 collects on the loop's own thread: helper threads pinned to the same core keep it waiting (scavenges of 1.1 ms took 4 to 6).

const http = require('node:http')
const path = require('node:path')
const { once } = require('node:events')
const { answerHelp } = require('../support/help')
const { ONE_THREAD, pinLoad, startServer } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { median, percentile } = require('../support/statistics')

answerHelp()

const WORKERS = 4
const SERIES = 1000
const ROUNDS = Number(process.env.ROUNDS ?? 60)
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
    // Kept alive, so that it is always the same worker that is scraped.
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

  /** @param {number[]} blocks what a scrape did to the loop that is seated; what nothing does to it in 30 ms goes to `idle` */
  async watch(blocks) {
    await this.server.ask('watch')
    await this.scrape()
    blocks.push((await this.server.ask('longest')).answer.blockMs)
    await this.server.ask('watch')
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    this.idle.push((await this.server.ask('longest')).answer.blockMs)
  }

  /** @returns {Promise<number>} how long a scrape takes while one of the others does not answer */
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

const round2 = (value) => Math.round(value * 100) / 100

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

const COLUMNS = [
  ['', -40, (row) => row.variant],
  ['longest block ms', 16, (row) => row.blockMs.toFixed(2)],
  ['p90', 7, (row) => row.blockP90Ms.toFixed(2)],
  ['max', 7, (row) => row.blockMaxMs.toFixed(2)],
  ['CPU of all ms', 13, (row) => row.cpuMs?.toFixed(1) ?? ''],
  ['took ms', 8, (row) => row.tookMs?.toFixed(0) ?? ''],
  ['kB', 7, (row) => row.kilobytes?.toFixed(0) ?? ''],
]

const line = (cell) =>
  `${COLUMNS.map((column) => (column[1] < 0 ? cell(column).padEnd(-column[1]) : cell(column).padStart(column[1]))).join('  ')}\n`

/** The table of the README. */
function markdown(rows) {
  const cells = rows.map((row) => [
    row.variant,
    `${row.blockMs.toFixed(1)} (${row.blockP90Ms.toFixed(1)}, ${row.blockMaxMs.toFixed(1)})`,
    row.cpuMs === undefined ? '' : row.cpuMs.toFixed(0),
    row.tookMs === undefined ? '' : row.tookMs.toFixed(0),
  ])
  const head = [
    `${WORKERS} workers, ${SERIES} series each`,
    'longest loop block, ms (p90, max)',
    'CPU of all, ms',
    'took, ms',
  ]
  return [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`)
}

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
  process.stdout.write(line(([title]) => title))
  for (const row of rows) process.stdout.write(line(([, , text]) => text(row)))
  process.stdout.write(
    `beside a worker that is stopped: at most ${besideSilentMs} ms of ${SILENT_ROUNDS} scrapes\n`
  )
  process.stdout.write(
    `saved ${save('fleet', { rounds: ROUNDS, besideSilentMs, table: markdown(rows), rows })}\n`
  )
}

main()
