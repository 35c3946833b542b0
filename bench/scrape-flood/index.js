'use strict'
// npm run bench -- scrape-flood [flags]
//
// Measures whether scrapes starve the requests behind the gate. A server with a thousand routes gets a
// hundred requests a second for a route that awaits 20 ms and burns one. Another process scrapes it 0, 100
// and 300 times a second, all over loopback. The figures are the share of the requests that was rejected, how
// long the others took, and the CPU time of the server. A run in which other processes took more than 5 % of
// the server's core is repeated.
//
//   --rates 0,100,300   the scrapes a second
//   --seconds 10        how long each rate counts
//   --attempts 4        how often a disturbed run is made at most
//   --label after       names what is measured; the file holds a run of each label (before, after)
//   --save <name>       saves to bench/results/<name>-node-<major>.json (scrape-flood)

const path = require('node:path')
const { readFlags } = require('../support/flags')
const { generate, printedBy } = require('../support/load')
const { pinLoad, startServer } = require('../support/pinned')
const { load, machineLine, save } = require('../support/results')
const { round1 } = require('../support/statistics')
const { headLine, rowLine } = require('../support/terminal')

const flags = readFlags({
  rates: [0, 100, 300],
  seconds: 10,
  attempts: 4,
  label: 'after',
  save: 'scrape-flood',
})
const { rates: RATES, seconds: SECONDS, attempts: ATTEMPTS, label: LABEL } = flags
const BYSTANDER_RATE = 100
const WARM_SECONDS = 2
const MAX_FOREIGN = 0.05
const SERVER = path.join(__dirname, 'server.js')
const SCRAPER = path.join(__dirname, 'scraper.js')

async function measure(scrapesPerSecond) {
  const server = await startServer(SERVER, [])
  try {
    const seconds = WARM_SECONDS + SECONDS
    const bystander = generate({
      port: server.port,
      probes: false,
      warmRequests: 500,
      warmUpSeconds: WARM_SECONDS,
      deadlineMs: 1000,
      phases: [{ rate: BYSTANDER_RATE, seconds }],
    })
    const before = await server.ask('usage')
    const sinceMs = performance.now()
    const scraper = await printedBy(SCRAPER, server.port, scrapesPerSecond, seconds)
    const after = await server.ask('usage')
    const elapsedMs = performance.now() - sinceMs
    const { offered, good, late, shed, failed, p50Ms, p99Ms, sendLagP99Ms } = await bystander
    return {
      scrapesPerSecond,
      bystander: { offered, good, late, shed, failed, shedShare: shed / offered, p50Ms, p99Ms, sendLagP99Ms },
      scraper: {
        ...scraper,
        wholePerSecond: round1(scraper.whole / seconds),
        megabytesPerSecond: round1(scraper.bytes / 1e6 / seconds),
      },
      /**
       * The share of the server's core that other processes took. Above some hundredths, the run is no
       * measurement.
       */
      foreign: Math.round(((after.foreignMs - before.foreignMs) / elapsedMs) * 100) / 100,
      cpuShare: Math.round(((after.cpuMs - before.cpuMs) / elapsedMs) * 100) / 100,
      rssMegabytes: Math.round(after.rssBytes / 1e6),
    }
  } finally {
    await server.stop()
  }
}

/** Repeats a run if other processes had the core, whatever its result, and takes the calmest. */
async function measureCalmly(scrapesPerSecond) {
  let calmest
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const row = await measure(scrapesPerSecond)
    if (calmest === undefined || row.foreign < calmest.foreign) calmest = row
    if (row.foreign <= MAX_FOREIGN) break
  }
  return calmest
}

/** @type {import('../support/terminal').Column[]} */
const COLUMNS = [
  ['scrapes/s', 13, (row) => String(row.scrapesPerSecond)],
  ['shed', 13, (row) => `${(row.bystander.shedShare * 100).toFixed(1)} %`],
  ['p50 ms', 13, (row) => row.bystander.p50Ms?.toFixed(1) ?? '–'],
  ['p99 ms', 13, (row) => row.bystander.p99Ms?.toFixed(1) ?? '–'],
  ['CPU', 13, (row) => `${(row.cpuShare * 100).toFixed(0)} %`],
  ['others', 13, (row) => `${(row.foreign * 100).toFixed(0)} %`],
  ['RSS MB', 13, (row) => String(row.rssMegabytes)],
  ['whole/s', 13, (row) => String(row.scraper.wholePerSecond)],
  ['cut', 13, (row) => String(row.scraper.cut)],
  ['unsent', 13, (row) => String(row.scraper.unsent)],
  ['MB/s', 13, (row) => String(row.scraper.megabytesPerSecond)],
  ['scrape p99 ms', 13, (row) => row.scraper.p99Ms?.toFixed(0) ?? '–'],
]

/** The results of other labels, and those of this label at rates that are not measured now. */
function earlier() {
  try {
    const { runs } = load(flags.save)
    return {
      others: runs.filter(({ label }) => label !== LABEL),
      kept: runs
        .filter(({ label }) => label === LABEL)
        .flatMap(({ rows }) => rows.filter(({ scrapesPerSecond }) => !RATES.includes(scrapesPerSecond))),
    }
  } catch {
    return { others: [], kept: [] }
  }
}

async function main() {
  pinLoad()
  process.stdout.write(`${machineLine()}\n`)
  process.stdout.write(headLine(COLUMNS))
  const rows = []
  for (const rate of RATES) {
    const row = await measureCalmly(rate)
    rows.push(row)
    process.stdout.write(rowLine(COLUMNS, row))
  }
  const { others, kept } = earlier()
  const all = [...kept, ...rows].sort((a, b) => a.scrapesPerSecond - b.scrapesPerSecond)
  const runs = [...others, { label: LABEL, seconds: SECONDS, rows: all }]
  process.stdout.write(`saved ${save(flags.save, { bystanderRate: BYSTANDER_RATE, runs })}\n`)
}

main()
