'use strict'
// npm run bench -- healthy [flags]
//
// Measures what the gate does to services that are not overloaded, and to closed loops. Each row
// (bench/healthy/rows.js) runs with the gate on and off in turn, in rounds, on a fresh server for every run.
// The gate harms a row that misses a bound of rows.js: what it may shed, the goodput it keeps, or its p99.
// socket.io, pg and autocannon are in bench/peers: npm ci --prefix bench/peers
//
//   --rows waiters,cpu    only these rows
//   --clients 10,100      closed loops of only so many clients
//   --modes on,off        of on, off and observe, which adds what the gate would have shed
//   --rounds 3            how many rounds
//   --seconds 8           how long each run counts; half of it in closed loops
//   --attempts 2          how often a run is made at most, if other processes have the server's core
//   --quick               one round of 3 seconds, closed loops of 50 clients
//   --src <folder>        the src/ of another checkout, instead of this one's
//   --koa                 Koa instead of Express; without it, some rows run on both
//   --postgres <url>      the Postgres of the pools. By default the bench starts one if it finds initdb and
//                         postgres, and else uses a stand-in in the process
//   --check               ends with 1 if a row is harmed
//   --soak <minutes>      a healthy mix for so long instead of the rows, with a line each minute of what was shed
//                         and found; with the gate on, or the first of --modes
//   --save <name>         saves to bench/results/<name>-node-<major>.json (healthy; healthy-part if only a part is
//                         measured; healthy-soak)

const path = require('node:path')
const { calibrate } = require('../support/burn')
const { readFlags } = require('../support/flags')
const { hasPeer } = require('../support/peers')
const { pinLoad } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { startPostgres } = require('./postgres')
const { NAMES, chooseRows } = require('./rows')
const { run } = require('./run')
const { soak } = require('./soak')
const { MODES, summarize } = require('./summary')
const { lineOf, tableOf } = require('./table')

const flags = readFlags(
  {
    rows: [String],
    clients: [Number],
    modes: ['on', 'off'],
    rounds: Number,
    seconds: Number,
    attempts: 2,
    quick: false,
    src: String,
    koa: false,
    postgres: String,
    check: false,
    soak: Number,
    save: String,
  },
  { rows: NAMES, modes: MODES }
)
const { modes, attempts } = flags
const rounds = flags.rounds ?? (flags.quick ? 1 : 3)
const seconds = flags.seconds ?? (flags.quick ? 3 : 8)
const clients = flags.clients ?? (flags.quick ? [50] : undefined)
/** Results of a part do not replace those of all rows, which a table shows. */
const isPart =
  ['rows', 'clients', 'src'].some((name) => flags[name] !== undefined) ||
  flags.quick ||
  flags.koa ||
  !['on', 'off'].every((mode) => modes.includes(mode))
const name = flags.save ?? (isPart ? 'healthy-part' : 'healthy')
const print = (line) => process.stdout.write(`${line}\n`)

/** Alternates which mode is first: the second run may find a warmer or busier machine. */
async function measureRound(row, round, options, progress) {
  const results = {}
  for (const mode of round % 2 === 0 ? modes : [...modes].reverse()) {
    const what = `${progress()} ${row.name} ${mode}, round ${round + 1}`
    try {
      results[mode] = await run(row, { ...options, mode })
      print(`${what}: ${lineOf(results[mode])}`)
    } catch (error) {
      print(`${what}: FAILED, ${error.message}`)
    }
  }
  return results
}

async function measureRows(rows, options) {
  const all = rows.length * modes.length * rounds
  let done = 0
  const progress = () => `[${++done}/${all}]`
  const measured = new Map(rows.map((row) => [row, []]))
  for (let round = 0; round < rounds; round++) {
    for (const row of rows) measured.get(row).push(await measureRound(row, round, options, progress))
  }
  return rows.map((row) => summarize(row, measured.get(row)))
}

/**
 * @returns {Promise<{ url?: string, is: string, stop: () => Promise<void> }>} the database behind the pools
 */
async function findDatabase(rows) {
  const none = { stop: async () => {} }
  if (!rows.some(({ pool }) => pool !== undefined)) return { ...none, is: 'not needed' }
  const standIn = (why) => ({ ...none, is: `a stand-in in the process (${why})` })
  if (!hasPeer('pg')) return standIn('pg is not installed in bench/peers')
  if (flags.postgres !== undefined) return { ...none, url: flags.postgres, is: 'a given Postgres' }
  const started = await startPostgres()
  if (started === undefined) return standIn('no Postgres could be started')
  return { ...started, is: 'a Postgres started for it' }
}

async function measureAll() {
  const rows = chooseRows(flags.rows, { clients, koa: flags.koa })
  const database = await findDatabase(rows)
  print(`pools: ${database.is}`)
  try {
    const results = await measureRows(rows, { seconds, attempts, postgresUrl: database.url })
    print(`\n${tableOf(results, modes)}`)
    const harmed = results.filter(({ harm }) => harm !== null)
    print(`${harmed.length} of ${results.length} rows harmed`)
    const file = save(name, { rounds, seconds, modes, pools: database.is, rows: results })
    print(`saved ${file}`)
    return harmed.length === 0
  } finally {
    await database.stop()
  }
}

async function soakAll() {
  const framework = flags.koa ? 'koa' : 'express'
  const [mode] = modes
  const minutes = await soak({ minutes: flags.soak, framework, mode, print })
  const file = save(flags.save ?? 'healthy-soak', { framework, mode, minutes })
  const shed = minutes[minutes.length - 1].shedInAll
  const foundIn = minutes.filter(({ found }) => found.length > 0).length
  const found = foundIn === 0 ? 'nothing was found' : `something was FOUND in ${foundIn} minutes`
  print(`${shed === 0 ? 'nothing was shed' : `${shed} were SHED`}, ${found}; saved ${file}`)
  return shed === 0 && foundIn === 0
}

async function main() {
  print(machineLine())
  // All servers of a bench must burn the same amount of work.
  process.env.BURN_PER_MS = String(Math.round(calibrate()))
  if (flags.src !== undefined) process.env.SPILLWAY_SRC = path.resolve(flags.src)
  pinLoad()
  const isHarmless = flags.soak === undefined ? await measureAll() : await soakAll()
  if (!isHarmless && (flags.check || flags.soak !== undefined)) process.exitCode = 1
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`)
  process.exitCode = 1
})
