'use strict'
// The database, the load, what is compared, and what Spillway has to say.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { missingFor } = require('../../../bench/gateways/proxies')
const { hasPostgres, startPostgres } = require('../../../bench/healthy/postgres')
const { Watch } = require('../frame/watch')
const { wrapped } = require('../frame/wrapped')

const NO_POSTGRES =
  'This story needs a Postgres: npm ci --prefix examples/stories/auth/postgres (60 MB), or apt-get install postgresql.'
/** A finding about the machine, which the orders service reports already. */
const STARVED = 'host-starved'
const FRONT = /^Front at (\S+)/

module.exports = {
  title: 'Work for nobody',
  summary: 'a slow database behind nginx: work for clients that have left',
  intro:
    'nginx, two processes of a front, a service for orders that they ask, and Postgres. For eight seconds the disk of the database is slow. ' +
    'Visitors leave, and reload. First each service has a timeout of its own. Then each knows when the request came to nginx, when nobody ' +
    'waits for it any more, and how much the database can take.',
  runs: [
    {
      name: 'without',
      what: 'each service has a timeout of its own',
      isTold: ({ watch }) => watch.found.has('work-after-disconnect'),
    },
    {
      name: 'with',
      what: 'age, deadline, signal and limit',
      args: ['--fixed'],
      shortSeconds: 9,
    },
  ],
  seconds: 14,
  load: { script: path.join(__dirname, 'clients.js') },
  missing: () => missingFor('nginx') ?? (hasPostgres() ? undefined : NO_POSTGRES),
  setUp,
  meanwhile,
  learn: [
    'A visitor who leaves takes no work along: the query runs on, and the next visitor waits behind it. `spillway.signal(req)` ends the ' +
      'call and the query when nobody waits for them.',
    'A service that knows the deadline can say no in time. A 503 after some milliseconds costs nothing, and leaves the database to those who are ' +
      'answered.',
    'Timeouts of single services do not add up. A deadline that travels begins when nginx takes the request.',
    'A slow route must not take the others with it. nginx stops asking a front that lets it wait, for every route. With a limit the front ' +
      'always answers in time, and the catalogue stays up.',
  ],
  picture: {
    title: 'Eight seconds of a slow database',
    panels: [
      { title: 'pages that visitors got, a second', of: linesOf(({ answered }) => answered) },
      { title: 'connections of the database that work for nobody', of: linesOf(({ wasted }) => wasted) },
      { title: 'requests that nginx holds', of: linesOf(({ held }) => held) },
    ],
  },
  table: (told) => [...aligned(rowsOf(told)), '', ...wrapped(LEGEND, { first: '  ', indent: '  ' })],
  markdown: (told) => {
    const [head, ...rows] = rowsOf(told).map((cells) => `| ${cells.join(' | ')} |`)
    return [head, `| --- |${' ---: |'.repeat(told.runs.length)}`, ...rows]
  },
}

const LEGEND =
  'For nobody: after the visitor had left or had an answer. The services write down when each query and each handler begins and ends, ' +
  'and the visitors when they are gone. Spillway is not asked.'

async function setUp() {
  const postgres = await startPostgres()
  if (postgres === undefined) throw new Error('Postgres did not start.')
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-story-'))
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  const journal = path.join(folder, 'journal')
  return {
    env: { DATABASE_URL: postgres.url, JOURNAL: journal },
    load: { database: postgres.url, journal },
    end: () => postgres.stop(),
  }
}

/** Also watches the fronts, while the load runs. */
async function meanwhile({ application: { lines }, load, watch }) {
  const front = new Watch({ adminUrls: lines.flatMap((line) => FRONT.exec(line)?.[1] ?? []) })
  await load.ended
  await front.end()
  await watch.end()
  const shed = { front: shedOf(front), orders: shedOf(watch) }
  const nobody = watch.found.get('work-after-disconnect')?.summary
  const said = { front: frontText(front), ...(nobody && { nobody }), rejected: shedText(shed) }
  return { shed, said }
}

/** @returns {Record<string, number>} by reason, of one process */
function shedOf({ snapshot }) {
  const counts = {}
  for (const { count, reason } of snapshot?.admission.shed ?? [])
    counts[reason] = (counts[reason] ?? 0) + count
  return counts
}

const shedText = (shed) =>
  Object.entries(shed)
    .map(([name, counts]) => `${name}: ${countsText(counts)}`)
    .join('; ')
const countsText = (counts) =>
  Object.entries(counts)
    .map(([reason, count]) => `${count} for ${reason}`)
    .join(', ') || 'none'

const frontText = ({ found }) =>
  [...found.values()]
    .filter(({ problem }) => problem !== STARVED)
    .map(({ problem, severity, summary }) => `${severity.toUpperCase()} ${problem}: ${summary}`)
    .join(' ') || 'nothing found'

const number = (value) => (value >= 100 ? String(Math.round(value)) : String(Math.round(value * 10) / 10))
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`
const percent = (share) => (Number.isFinite(share) ? `${Math.round(share * 100)} %` : '-')

function servedOf(part) {
  return ({ visitors }) => {
    const { came, served } = visitors[part]
    return `${percent(served / came)} of ${came}`
  }
}

const ROWS = [
  ['visitors who got their orders', servedOf('GET /orders')],
  ['visitors who got the catalogue', servedOf('GET /catalogue')],
  ['orders answered, disk slow', ({ slowOrdersPerSecond: rate }) => `${number(rate)}/s`],
  ['p99 of what was answered', ({ answeredP99Ms }) => `${number(answeredP99Ms)} ms`],
  [
    'rejected early (503)',
    ({ counts, rejectedP50Ms: ms }) => `${counts.rejected}${ms === null ? '' : `, after ${number(ms)} ms`}`,
  ],
  ['502 or 504', ({ counts }) => String(counts.badGateway + counts.gatewayTimeout)],
  ['turned away by nginx (429)', ({ counts }) => String(counts.refused)],
  ['visitors who left', ({ counts }) => String(counts.left)],
  ['nginx held, at most', ({ held }) => `${Math.max(0, ...held)} requests`],
  ['the database worked', ({ work }) => seconds(work.database.totalMs)],
  ['  of that for nobody', ({ work }) => ofTotal(work.database)],
  ['event loops worked', ({ work }) => seconds(work.loop.totalMs)],
  ['  of that for nobody', ({ work }) => ofTotal(work.loop)],
]
const ofTotal = ({ totalMs, wastedMs }) => `${seconds(wastedMs)} (${percent(wastedMs / totalMs)})`

const rowsOf = ({ runs }) => [
  ['', ...runs.map(({ name }) => name)],
  ...ROWS.map(([head, of]) => [head, ...runs.map(of)]),
]

function aligned(rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((cells) => cells[i].length)) + 2)
  return rows.map((cells) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .join('')
      .trimEnd()
  )
}

function linesOf(figure) {
  return ({ runs }) =>
    runs.map((run) => ({ name: run.name, points: figure(run).map((value, i) => [i + 1, value]) }))
}
