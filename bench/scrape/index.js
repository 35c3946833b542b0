'use strict'
// npm run bench -- scrape [flags]
//
// Measures what a scrape costs the server, at 1000 and 10 000 series. A series has a method, a route, a
// status and as many lines as a series can have. The figures are the longest block of the loop, the CPU time,
// and the size: of the text format, of OpenMetrics with an exemplar in each bucket that has a value, and of
// protobuf with a native histogram for each series. The reference is a prom-client registry with a histogram
// of the same buckets and as many series. Each variant has a process. Its loop is on one core; its helper
// threads and the scraper are on the other, because a loop that waits for a thread on its own core has longer
// blocks. Rounds go through all variants in turn, and CPU times are compared within a round. All processes
// start several times: the same scrape costs up to a third more in one than in another.
//
//   --starts 3        how often all processes start
//   --rounds <n>      how many rounds a start has (35 of 1000 series, 10 of 10 000)
//   --save <name>     saves to bench/results/<name>-node-<major>.json (scrape)

const http = require('node:http')
const path = require('node:path')
const { once } = require('node:events')
const { readFlags } = require('../support/flags')
const { pinLoad, startServer } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { median, percentile, round2 } = require('../support/statistics')
const { headLine, progress, rowLine } = require('../support/terminal')

/** The `Accept` header of a Prometheus that asks for the format of each. */
const VARIANTS = {
  'spillway /metrics': undefined,
  'spillway OpenMetrics': 'application/openmetrics-text;version=1.0.0',
  'spillway protobuf':
    'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited',
  'spillway in a registry': undefined,
  'prom-client, as many lines': undefined,
  'prom-client': undefined,
}
const flags = readFlags({ starts: 3, rounds: Number, save: 'scrape' })
const STARTS = flags.starts
/** Of each start, by the number of series. */
const ROUNDS = { 1000: flags.rounds ?? 35, 10000: flags.rounds ?? 10 }
/**
 * A process is scraped for weeks. Until its code is compiled, a scrape takes half as long again, and the
 * compiler its own time. At 10 000 series, the first scrape has collections of 6 to 9 ms, and the next six
 * have blocks of up to 7 ms.
 */
const WARM_UP = { 1000: 60, 10000: 20 }
const SERVER = path.join(__dirname, 'server.js')

class Variant {
  cpuMs = []
  blocks = []
  idleBlocks = []
  ratios = []
  bytes = 0

  constructor(name) {
    this.name = name
  }

  async start(series) {
    this.server = await startServer(SERVER, [this.name, String(series)], { nodeArgs: ['--expose-gc'] })
    this.agent = new http.Agent({ keepAlive: true })
    for (let i = 0; i < WARM_UP[series]; i++) await this.scrape()
  }

  async scrape() {
    const { agent, name, server } = this
    const headers = VARIANTS[name] === undefined ? {} : { accept: VARIANTS[name] }
    const [res] = await once(
      http.get({ agent, host: '127.0.0.1', port: server.port, path: '/metrics', headers }),
      'response'
    )
    this.bytes = 0
    res.on('data', (data) => (this.bytes += data.length))
    await once(res, 'end')
  }

  async measureBlock() {
    await this.server.ask('watch')
    const sinceMs = performance.now()
    await this.scrape()
    const tookMs = performance.now() - sinceMs
    this.blocks.push(await this.server.ask('longest'))
    return tookMs
  }

  /** Watches a loop that does nothing, which shows what the machine itself takes. */
  async measureIdleBlock(lengthMs) {
    await this.server.ask('watch')
    await new Promise((resolve) => setTimeout(resolve, lengthMs))
    this.idleBlocks.push(await this.server.ask('longest'))
  }

  async measureCpu() {
    const before = await this.server.ask('cpu')
    await this.scrape()
    const after = await this.server.ask('cpu')
    this.cpuMs.push(after.cpuMs - before.cpuMs)
  }

  async stop() {
    this.agent.destroy()
    await this.server.stop()
  }
}

async function measure(series) {
  const variants = Object.keys(VARIANTS).map((name) => new Variant(name))
  const ours = variants[0]
  for (let start = 1; start <= STARTS; start++) {
    for (const variant of variants) await variant.start(series)
    for (let round = 1; round <= ROUNDS[series]; round++) {
      progress(`${series} series: start ${start} of ${STARTS}, round ${round} of ${ROUNDS[series]}`)
      await measureRound(variants)
    }
    for (const variant of variants) await variant.stop()
  }
  progress('')
  const rows = variants.map(({ name, cpuMs, ratios, blocks, bytes }) => ({
    series,
    variant: name,
    ...summary(blocks),
    cpuMs: round2(median(cpuMs)),
    cpuOfPromClient: round2(median(ratios)),
    kilobytes: Math.round(bytes / 1000),
  }))
  return [...rows, { series, variant: 'an idle loop, as long', ...summary(ours.idleBlocks) }]
}

async function measureRound(variants) {
  for (const variant of variants) {
    await variant.measureCpu()
    const tookMs = await variant.measureBlock()
    if (variant === variants[0]) await variant.measureIdleBlock(tookMs)
  }
  const reference = variants.at(-1).cpuMs.at(-1)
  for (const variant of variants) variant.ratios.push(variant.cpuMs.at(-1) / reference)
}

function summary(blocks) {
  const blocksMs = blocks.map(({ blockMs }) => blockMs)
  return {
    blockMs: round2(median(blocksMs)),
    blockP90Ms: round2(percentile(blocksMs, 0.9)),
    blockMaxMs: round2(Math.max(...blocksMs)),
    /** The longest collection in the scrape that had the longest block. */
    gcInMaxMs: round2(blocks[blocksMs.indexOf(Math.max(...blocksMs))].gcMs),
    over5: blocksMs.filter((ms) => ms > 5).length,
    watched: blocksMs.length,
    blockByClockMs: round2(median(blocks.map(({ clockMs }) => clockMs))),
  }
}

/** @type {import('../support/terminal').Column[]} */
const COLUMNS = [
  ['series', 6, (row) => String(row.series)],
  ['variant', -24, (row) => row.variant],
  ['longest block ms', 16, (row) => row.blockMs.toFixed(2)],
  ['p90', 7, (row) => row.blockP90Ms.toFixed(2)],
  ['max', 7, (row) => row.blockMaxMs.toFixed(2)],
  ['its GC', 6, (row) => row.gcInMaxMs.toFixed(1)],
  ['over 5', 9, (row) => `${row.over5} of ${row.watched}`],
  ['by the clock', 12, (row) => row.blockByClockMs.toFixed(2)],
  ['CPU ms', 8, (row) => row.cpuMs?.toFixed(1) ?? ''],
  ['of prom-client', 14, (row) => (row.cpuMs ? `${(row.cpuOfPromClient * 100).toFixed(0)} %` : '')],
  ['kB', 7, (row) => row.kilobytes?.toFixed(0) ?? ''],
]

async function main() {
  pinLoad()
  process.stdout.write(`${machineLine()}\n`)
  process.stdout.write(headLine(COLUMNS))
  const rows = []
  for (const series of [1000, 10_000]) {
    const measured = await measure(series)
    for (const row of measured) process.stdout.write(rowLine(COLUMNS, row))
    rows.push(...measured)
  }
  process.stdout.write(`saved ${save(flags.save, { starts: STARTS, rounds: ROUNDS, rows })}\n`)
}

main()
