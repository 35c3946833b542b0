'use strict'
// npm run bench:scrape: what a scrape costs the server, at 1000 and 10 000 series (one method, route and status each,
// the most lines a series can have): the longest it blocks the loop, the CPU it takes, and the size; as OpenMetrics
// with an exemplar in each bucket that has a value, and as protobuf with a native histogram a series. Against a
// prom-client registry with one histogram of the same buckets and as many series. Every variant is a process of its
// own, its loop on one core, its helper threads and the scraper on the other: a loop that waits for a thread which its own
// core is to run has longer blocks (10 000 series: at most 5.6 ms, and 1.8). Rounds go through all of them in turn, and
// CPU is compared within a round, because other tenants of the machine change its speed twofold by the second.
// All are started anew several times: what one process takes for the same scrape is up to a third more than another.

const http = require('node:http')
const path = require('node:path')
const { once } = require('node:events')
const { answerHelp } = require('../support/help')
const { pinLoad, startServer } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { median, percentile } = require('../support/statistics')

answerHelp()

/** With the `Accept` header of a Prometheus that asks for that format. */
const VARIANTS = {
  'spillway /metrics': undefined,
  'spillway OpenMetrics': 'application/openmetrics-text;version=1.0.0',
  'spillway protobuf':
    'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited',
  'spillway in a registry': undefined,
  'prom-client, as many lines': undefined,
  'prom-client': undefined,
}
const STARTS = Number(process.env.STARTS ?? 3)
/** Of each start. */
const ROUNDS = { 1000: Number(process.env.ROUNDS ?? 35), 10000: Number(process.env.ROUNDS ?? 10) }
/**
 * A process is scraped for weeks; until its code is compiled it takes half as much again, and the compiler's own time. At
 * 10 000 series the first scrape has collections of 6 to 9 ms (labels that stay), the next six blocks of up to 7.
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

  /** The same watch on a loop that does nothing: what the machine itself takes away. */
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
    /** The longest collection in the scrape that had it. */
    gcInMaxMs: round2(blocks[blocksMs.indexOf(Math.max(...blocksMs))].gcMs),
    over5: blocksMs.filter((ms) => ms > 5).length,
    watched: blocksMs.length,
    blockByClockMs: round2(median(blocks.map(({ clockMs }) => clockMs))),
  }
}

const round2 = (value) => Math.round(value * 100) / 100

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

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

const line = (cell) =>
  `${COLUMNS.map((column) => (column[1] < 0 ? cell(column).padEnd(-column[1]) : cell(column).padStart(column[1]))).join('  ')}\n`

/** The table of the README. */
function markdown(rows) {
  const cells = rows.map((row) => [
    row.series,
    row.variant,
    `${row.blockMs.toFixed(1)} (${row.blockP90Ms.toFixed(1)}, ${row.blockMaxMs.toFixed(1)})`,
    row.cpuMs === undefined ? '' : `${row.cpuMs.toFixed(0)} (${(row.cpuOfPromClient * 100).toFixed(0)} %)`,
    row.kilobytes === undefined ? '' : (row.kilobytes / 1000).toFixed(1),
  ])
  const head = ['series', '', 'longest loop block, ms (p90, max)', 'CPU, ms (of prom-client)', 'MB']
  return [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`)
}

async function main() {
  pinLoad()
  process.stdout.write(`${machineLine()}\n`)
  process.stdout.write(line(([title]) => title))
  const rows = []
  for (const series of [1000, 10_000]) {
    const measured = await measure(series)
    for (const row of measured) process.stdout.write(line(([, , text]) => text(row)))
    rows.push(...measured)
  }
  process.stdout.write(`saved ${save('scrape', { rounds: ROUNDS, table: markdown(rows), rows })}\n`)
}

main()
