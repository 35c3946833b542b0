'use strict'
// npm run bench:access-log: what a line a request costs on Express 5, written to /dev/null, for a request with the headers of a
// browser. Each as it comes: morgan's "combined" format, pino-http, and ours over the same server with `attach` alone. In
// instructions of the main thread (see bench:instructions), and in CPU time, system calls included (see bench:overhead);
// `-- instructions` or `-- microseconds` for one of them.

const { answerHelp } = require('../support/help')
const { compare } = require('../overhead/index')
const { measure } = require('../instructions/index')
const { pinLoad } = require('../support/pinned')
const { machineLine, save } = require('../support/results')

answerHelp()

const LOGS = [
  { log: 'morgan', base: 'no-op' },
  { log: 'pino-http', base: 'no-op' },
  { log: 'spillway attach, access log by a pino given', base: 'spillway attach' },
  { log: 'spillway attach, access log', base: 'spillway attach' },
]
const VARIANTS = ['no-op', 'spillway attach', ...LOGS.map(({ log }) => log)]
const CONNECTIONS = 16
/** Of what morgan costs. */
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

const MEASURES = {
  instructions: async () => {
    const costs = {}
    for (const variant of VARIANTS) costs[variant] = { cost: await measure('express', variant, HEADERS) }
    return costs
  },
  microseconds: async () => {
    const rows = await compare('express', VARIANTS, { connections: CONNECTIONS, headers: HEADERS })
    return Object.fromEntries(
      rows.map((row) => [row.variant, { cost: row.totalMicroseconds, plusMinus: row.plusMinusMicroseconds }])
    )
  },
}

/** What each log adds to the server without it, and that as a share of what morgan adds. */
function rowsOf(costs) {
  const rows = LOGS.map(({ log, base }) => ({
    log,
    added: round2(costs[log].cost - costs[base].cost),
    plusMinus: costs[log].plusMinus,
  }))
  return rows.map((row) => ({ ...row, ofMorgan: round2(row.added / rows[0].added) }))
}

const round2 = (value) => Math.round(value * 100) / 100

async function main([only]) {
  const [major] = process.versions.node.split('.')
  pinLoad()
  process.stdout.write(`${machineLine()}\n`)
  for (const [unit, measureAll] of Object.entries(MEASURES)) {
    if (only !== undefined && only !== unit) continue
    const rows = rowsOf(await measureAll())
    for (const { log, added, ofMorgan } of rows) {
      process.stdout.write(`${log.padEnd(44)} +${added} ${unit}, ${ofMorgan} of morgan's\n`)
    }
    process.stdout.write(`ours is ${rows[rows.length - 1].ofMorgan} of morgan's; ${MOST} is what it may be\n`)
    process.stdout.write(`saved ${save(`access-log-${unit}-node-${major}`, { most: MOST, rows })}\n`)
  }
}

main(process.argv.slice(2))
