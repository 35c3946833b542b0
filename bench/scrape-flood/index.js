'use strict'
// npm run bench:scrape-flood: whether scrapes can starve what is gated. A server with a thousand routes to show is asked a
// hundred times a second for a route that awaits 20 ms and burns one, while another process scrapes it 0, 100 and 300 times
// a second. Told is what share of those requests was turned away, how long the rest took, and the CPU of the server.
// All over loopback; some 15 seconds for each rate (RATES, SECONDS). LABEL=before names what was measured; the file holds a
// run of each label. A run in which others took more than 5 % of the server's core is repeated, up to ATTEMPTS times.

const { spawn } = require('node:child_process')
const path = require('node:path')
const { answerHelp } = require('../support/help')
const { pinLoad, startServer } = require('../support/pinned')
const { load, machineLine, save } = require('../support/results')

answerHelp()

const RATES = (process.env.RATES ?? '0,100,300').split(',').map(Number)
const BYSTANDER_RATE = 100
const WARM_SECONDS = 2
const SECONDS = Number(process.env.SECONDS ?? 10)
const ATTEMPTS = Number(process.env.ATTEMPTS ?? 4)
const MOST_FOREIGN = 0.05
const LABEL = process.env.LABEL ?? 'after'
const SERVER = path.join(__dirname, 'server.js')
const BYSTANDER = path.join(__dirname, '..', 'support', 'open-loop.js')
const SCRAPER = path.join(__dirname, 'scraper.js')

/** @returns {Promise<any>} what it has printed */
function run(script, ...args) {
  const child = spawn(process.execPath, [script, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (data) => (text += data))
  return new Promise((resolve, reject) => {
    child.on('close', (code) =>
      code === 0
        ? resolve(JSON.parse(text))
        : reject(new Error(`${path.basename(script)} ended with ${code}`))
    )
  })
}

async function measure(scrapesPerSecond) {
  const server = await startServer(SERVER, [])
  try {
    const seconds = WARM_SECONDS + SECONDS
    const bystander = run(
      BYSTANDER,
      JSON.stringify({
        port: server.port,
        probes: false,
        warmRequests: 500,
        warmUpSeconds: WARM_SECONDS,
        deadlineMs: 1000,
        phases: [{ rate: BYSTANDER_RATE, seconds }],
      })
    )
    const before = await server.ask('usage')
    const sinceMs = performance.now()
    const scraper = await run(SCRAPER, server.port, scrapesPerSecond, seconds)
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
      /** What others took of the server's core: above some hundredths it is no measurement. */
      foreign: Math.round(((after.foreignMs - before.foreignMs) / elapsedMs) * 100) / 100,
      cpuShare: Math.round(((after.cpuMs - before.cpuMs) / elapsedMs) * 100) / 100,
      rssMegabytes: Math.round(after.rssBytes / 1e6),
    }
  } finally {
    await server.stop()
  }
}

/** Repeated where other processes had the core, whatever came out; the calmest counts. */
async function measureCalmly(scrapesPerSecond) {
  let calmest
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const row = await measure(scrapesPerSecond)
    if (calmest === undefined || row.foreign < calmest.foreign) calmest = row
    if (row.foreign <= MOST_FOREIGN) break
  }
  return calmest
}

const round1 = (value) => Math.round(value * 10) / 10

const COLUMNS = [
  ['scrapes/s', (row) => row.scrapesPerSecond],
  ['shed', (row) => `${(row.bystander.shedShare * 100).toFixed(1)} %`],
  ['p50 ms', (row) => row.bystander.p50Ms?.toFixed(1) ?? '–'],
  ['p99 ms', (row) => row.bystander.p99Ms?.toFixed(1) ?? '–'],
  ['CPU', (row) => `${(row.cpuShare * 100).toFixed(0)} %`],
  ['others', (row) => `${(row.foreign * 100).toFixed(0)} %`],
  ['RSS MB', (row) => row.rssMegabytes],
  ['whole/s', (row) => row.scraper.wholePerSecond],
  ['cut', (row) => row.scraper.cut],
  ['unsent', (row) => row.scraper.unsent],
  ['MB/s', (row) => row.scraper.megabytesPerSecond],
  ['scrape p99 ms', (row) => row.scraper.p99Ms?.toFixed(0) ?? '–'],
]

const line = (cell) => `${COLUMNS.map((column) => String(cell(column)).padStart(13)).join('')}\n`

/** What was measured under another label, before a change or after it, and at rates that are not measured now. */
function earlier() {
  try {
    const { runs } = load('scrape-flood')
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
  process.stdout.write(line(([title]) => title))
  const rows = []
  for (const rate of RATES) {
    const row = await measureCalmly(rate)
    rows.push(row)
    process.stdout.write(line(([, text]) => text(row)))
  }
  const { others, kept } = earlier()
  const all = [...kept, ...rows].sort((a, b) => a.scrapesPerSecond - b.scrapesPerSecond)
  const runs = [...others, { label: LABEL, seconds: SECONDS, rows: all }]
  process.stdout.write(`saved ${save('scrape-flood', { bystanderRate: BYSTANDER_RATE, runs })}\n`)
}

main()
