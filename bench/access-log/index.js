'use strict'
// npm run bench -- access-log [flags]
//
// Measures what an access log costs for each request on Express 5, with the headers of a browser, written to
// /dev/null: morgan's "combined" format, pino-http, and ours with `attach` alone, each at its defaults. It
// counts the main thread's instructions (`npm run bench -- instructions`) and CPU time with system calls
// (`overhead`).
//
//   --units microseconds      only one of instructions and microseconds
//   --starts 7, --rounds 10   of the microseconds, as in `overhead`
//   --warm-up 35000           of the instructions, as in `instructions`
//   --save <name>             saves to bench/results/<name>-<unit>-node-<major>.json (access-log)

const { WARM_UP, measure } = require('../instructions/measure')
const { TIMES, compare } = require('../overhead/compare')
const { readFlags } = require('../support/flags')
const { pinLoad } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { round2 } = require('../support/statistics')

const LOGS = [
  { log: 'morgan', base: 'no-op' },
  { log: 'pino-http', base: 'no-op' },
  { log: 'spillway attach, access log by a pino given', base: 'spillway attach' },
  { log: 'spillway attach, access log', base: 'spillway attach' },
]
const VARIANTS = ['no-op', 'spillway attach', ...LOGS.map(({ log }) => log)]
const CONNECTIONS = 16
/** The share of morgan's cost that ours may have. */
const MOST = 0.5

const HEADERS = [
  'Connection: keep-alive',
  'Cache-Control: max-age=0',
  'sec-ch-ua: "Chromium";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-mobile: ?0',
  'sec-ch-ua-platform: "Linux"',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'Referer: http://localhost/',
  'Accept-Encoding: gzip, deflate, br',
  'Accept-Language: en-GB,en;q=0.9',
  'Cookie: session=0123456789abcdef0123456789abcdef; theme=dark',
  '',
].join('\r\n')

const UNITS = ['instructions', 'microseconds']
const flags = readFlags({ units: UNITS, ...TIMES, 'warm-up': WARM_UP, save: 'access-log' }, { units: UNITS })

const MEASURES = {
  instructions: async () => {
    const costs = {}
    for (const variant of VARIANTS)
      costs[variant] = {
        cost: await measure('express', variant, { headers: HEADERS, warmUp: flags['warm-up'] }),
      }
    return costs
  },
  microseconds: async () => {
    const rows = await compare('express', VARIANTS, { connections: CONNECTIONS, headers: HEADERS }, flags)
    return Object.fromEntries(
      rows.map((row) => [row.variant, { cost: row.totalMicroseconds, plusMinus: row.plusMinusMicroseconds }])
    )
  },
}

/** What each log adds to the server without it, and its share of what morgan adds. */
function rowsOf(costs) {
  const rows = LOGS.map(({ log, base }) => ({
    log,
    added: round2(costs[log].cost - costs[base].cost),
    plusMinus: costs[log].plusMinus,
  }))
  return rows.map((row) => ({ ...row, ofMorgan: round2(row.added / rows[0].added) }))
}

async function main() {
  pinLoad()
  process.stdout.write(`${machineLine()}\n`)
  for (const unit of flags.units) {
    const rows = rowsOf(await MEASURES[unit]())
    for (const { log, added, ofMorgan } of rows) {
      process.stdout.write(`${log.padEnd(44)} +${added} ${unit}, ${ofMorgan} of morgan's\n`)
    }
    process.stdout.write(`ours is ${rows[rows.length - 1].ofMorgan} of morgan's; it may be ${MOST}\n`)
    process.stdout.write(`saved ${save(`${flags.save}-${unit}`, { most: MOST, rows })}\n`)
  }
}

main()
