'use strict'
// npm run bench -- pools [flags]
//
// Offers a service .5 to 10 times what its pool of connections can serve, with `spillway.pool()` and without.
// The database is a real Postgres, the load an open loop, and a route beside it needs no connection. The
// capacity of each pool is measured first, in a closed loop. The two policies alternate, each run with a
// fresh server.
//
//   --sizes 5,50          only these pools
//   --multiples 1,10      only these multiples of the capacity
//   --seconds 3           how long each run counts
//   --driver mysql2       that driver in place of pg, on a real MariaDB; `redis` on a real Redis, and `mongodb`
//                         on a server of its wire protocol
//   --acquire             instead: what one use of a connection costs more, with pg or mongodb
//   --save <name>         saves to bench/results/<name>-node-<major>.json (pools, or pools-part for a part)

const path = require('node:path')
const { readFlags } = require('../support/flags')
const { generate } = require('../support/load')
const { pinLoad, startServer } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { ACQUIRED, measureAcquire } = require('./acquire')
const { DRIVERS, reasonAgainst } = require('./drivers')

const SERVER = path.join(__dirname, 'server.js')
const QUERY_MS = { 5: 20, 50: 200 }
const MULTIPLES = [0.5, 1, 2, 5, 10]
/** What a request may take beside its query: 180 ms of waiting, and what a busy machine adds. */
const ALLOWED_MS = 250
const BESIDE_PER_SECOND = 50
/**
 * A process that gets ten times the load from one moment to the next compiles code and opens sockets for more
 * than a second.
 */
const SETTLE_SECONDS = 4

const flags = readFlags(
  { sizes: [Number], multiples: [Number], seconds: 3, acquire: false, driver: 'pg', save: String },
  { driver: Object.keys(DRIVERS) }
)
const { driver, seconds, sizes = [5, 50], multiples = MULTIPLES } = flags
const isWhole = flags.sizes === undefined && flags.multiples === undefined && driver === 'pg'

async function withServer(options, use) {
  const server = await startServer(SERVER, [JSON.stringify(options)])
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

const capacityOf = (settings, size) =>
  withServer({ ...settings, isObserved: false }, async ({ port }) => {
    const phases = [
      { rate: 0, seconds: 1 },
      { rate: 0, seconds: 2 },
    ]
    const load = { port, path: '/db', arrivals: 'closed', closed: 2 * size, warmUpSeconds: 1, phases }
    return (await generate({ ...load, probes: false, deadlineMs: settings.queryMs + ALLOWED_MS })).answered
  })

const measure = (settings, { capacity, multiple }) =>
  withServer(settings, async ({ port, ask }) => {
    const phases = [
      { rate: capacity / 2, seconds: 1 },
      { rate: capacity * multiple, seconds: SETTLE_SECONDS - 1 + seconds },
    ]
    const common = {
      port,
      probes: false,
      warmUpSeconds: SETTLE_SECONDS,
      deadlineMs: settings.queryMs + ALLOWED_MS,
    }
    const besidePhases = phases.map((phase) => ({ ...phase, rate: BESIDE_PER_SECOND }))
    const [db, beside] = await Promise.all([
      generate({ ...common, path: '/db', arrivals: 'poisson', phases }),
      generate({ ...common, path: '/other', warmRequests: 0, phases: besidePhases }),
    ])
    const { shed } = await ask('figures')
    return { ...figuresOf(db, capacity), beside: beside.shed / beside.offered, reasons: shed }
  })

const figuresOf = ({ goodput, p50Ms, p99Ms, shed, failed, offered, sendLagP99Ms }, capacity) => ({
  goodput,
  ofCapacity: goodput / capacity,
  p50Ms,
  p99Ms,
  shed: shed / offered,
  unanswered: failed / offered,
  sendLagP99Ms,
})

const percent = (share) => `${(share * 100).toFixed(1)} %`

function print({ size, multiple, isObserved, ofCapacity, p99Ms, shed, beside, reasons }) {
  const who = `pool of ${size}, ${multiple} times, ${isObserved ? 'with   ' : 'without'}`
  const counts = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`)
  process.stdout.write(
    `${who}  goodput ${ofCapacity.toFixed(2)}  p99 ${p99Ms ?? '-'} ms  shed ${percent(shed)}  beside it ${percent(beside)}  ${counts.join(', ')}\n`
  )
}

async function main() {
  const reason =
    flags.acquire && !ACQUIRED.includes(driver)
      ? `--acquire measures ${ACQUIRED.join(' and ')}, not ${driver}`
      : reasonAgainst(driver, { usesServer: !flags.acquire })
  if (reason !== undefined) {
    process.stderr.write(`${reason}\n`)
    process.exitCode = 1
    return
  }
  process.stdout.write(`${machineLine()}\n`)
  if (flags.acquire) {
    const us = Object.entries(await measureAcquire(driver)).map(
      ([name, value]) => `${name} ${value.toFixed(2)}`
    )
    process.stdout.write(`microseconds of CPU time a use: ${us.join(', ')}\n`)
    return
  }
  const database = await DRIVERS[driver].start()
  if (database === undefined) throw new Error(`the server of ${driver} has not started`)
  pinLoad()
  const rows = []
  try {
    for (const size of sizes) {
      const queryMs = QUERY_MS[size] ?? QUERY_MS[5]
      const settings = { url: database.url, driver, size, queryMs }
      const capacity = await capacityOf(settings, size)
      process.stdout.write(
        `a pool of ${size} with queries of ${queryMs} ms serves ${Math.round(capacity)}/s\n`
      )
      for (const multiple of multiples) {
        for (const isObserved of [false, true]) {
          const found = await measure({ ...settings, isObserved }, { capacity, multiple })
          rows.push({ size, queryMs, capacity, multiple, isObserved, ...found })
          print(rows[rows.length - 1])
        }
      }
    }
  } finally {
    await database.stop()
  }
  process.stdout.write(
    `${save(flags.save ?? (isWhole ? 'pools' : 'pools-part'), { allowedMs: ALLOWED_MS, rows })}\n`
  )
}

main()
