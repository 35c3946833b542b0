'use strict'
// npm run readme: writes the tables of the last saved results between their marks in README.md and docs/benchmarks.md, and
// draws docs/*.svg.

const fs = require('node:fs')
const path = require('node:path')
const { drawGoodput, drawStep } = require('./curves')
const { connectionsTable } = require('./connections')
const { healthyTable } = require('./healthy')
const { settledTable } = require('./settled')
const { autocannonSentence, costSentence, summaryTable } = require('./short')
const { load } = require('../support/results')
const { byRun, cell, distinct, share, stamp, table, whole, worksOf } = require('./markdown')

const ROOT = path.join(__dirname, '..', '..')

function overheadTable() {
  return [
    'CPU per request over a no-op middleware, in µs and as a share of the whole request with the no-op:',
    '',
    ...overheadOf('24'),
    '<details>',
    '<summary>On Node 20</summary>',
    '',
    'Node 20 gives every request and response behind Express hidden classes of its own. The same request takes several times as',
    'long there, and scatters by more than is measured here:',
    '',
    ...overheadOf('20'),
    '</details>',
    '',
    recommendedSentence(),
    '',
    instructionsSentence(),
    '',
    hotPathSentence(),
  ].join('\n')
}

/** @param {string} major of Node */
function overheadOf(major) {
  const results = load(`overhead-node-${major}`)
  const cell = (row) =>
    row === undefined
      ? '–'
      : `${row.addedMicroseconds.toFixed(1)} ± ${row.plusMinusMicroseconds.toFixed(1)} (${row.addedPercent.toFixed(0)} %)`
  const names = [...new Set(results.rows.map(({ variant }) => variant))].filter((name) => name !== 'no-op')
  const columns = [
    ['express', 1],
    ['express', 32],
    ['koa', 1],
    ['koa', 32],
  ]
  const find = (variant, [framework, connections]) =>
    results.rows.find(
      (row) => row.variant === variant && row.framework === framework && row.connections === connections
    )
  const base = columns.map((column) => find('no-op', column).totalMicroseconds.toFixed(0))
  const floor = names.includes('floor')
    ? ' The floor is the least that measuring takes: the times of arrival, answer and end, the bytes, and the loop turn.'
    : ''
  const slept =
    results.load === undefined
      ? ' The load generator slept between answers; the figures of 32 connections include waking it.'
      : ''
  return [
    table(
      [`Node ${major}`, 'Express 5, 1 connection', 'Express 5, 32', 'Koa 3, 1 connection', 'Koa 3, 32'],
      [
        ...names.map((name) => [name, ...columns.map((column) => cell(find(name, column)))]),
        ['the whole request with the no-op', ...base],
      ]
    ),
    '',
    `Medians of ${results.starts} starts, each of ${results.rounds} slices of ${results.slice} requests that alternate with slices of a no-op; ` +
      `half of the starts were within ±. Everything ran on one thread, garbage collection included.${slept}${floor} ` +
      stamp(results, 'npm run bench:overhead'),
    '',
  ]
}

/** What the quick start sets up, in one run with the peer that most applications use. */
function recommendedSentence() {
  const [ours, theirs] = ['spillway attach + express() + errorHandler()', 'express-prom-bundle']
  const ofNode = (major) => {
    const { rows } = load(`overhead-recommended-node-${major}`)
    const added = (variant, connections) =>
      rows
        .find((row) => row.variant === variant && row.connections === connections)
        .addedMicroseconds.toFixed(1)
    return `Node ${major}: ${added(ours, 1)} µs of ${added(theirs, 1)} with one connection, ${added(ours, 32)} of ${added(theirs, 32)} with 32`
  }
  return (
    `The recommended set-up, \`attach\`, \`express()\` and \`errorHandler()\`, beside express-prom-bundle. ${ofNode('24')}. ${ofNode('20')}. ` +
    stamp(load('overhead-recommended-node-20'), 'npm run bench:overhead')
  )
}

/** What scatters less than time. */
function instructionsSentence() {
  const { rows, ...results } = load('instructions')
  const of = (framework) => rows.filter((row) => row.framework === framework)
  const listed = (framework) =>
    of(framework)
      .slice(1)
      .map(({ variant, addedPercent }) => `${variant} ${addedPercent.toFixed(1)} %`)
      .join(', ')
  const thousands = (framework) => Math.round(of(framework)[0].instructions / 1000)
  return (
    `Instructions scatter less than time on a shared machine. Added to the ${thousands('express')} thousand of an Express request: ` +
    `${listed('express')}. Added to the ${thousands('koa')} thousand of a Koa request: ${listed('koa')}. ` +
    stamp(results, 'npm run bench:instructions')
  )
}

function hotPathSentence() {
  const { rows, ...results } = load('hot-path')
  const added = (framework, variant) => {
    const row = rows.find((each) => each.framework === framework && each.variant === variant)
    return `${row.addedMicros.toFixed(1)} of ${row.micros.toFixed(1)} µs`
  }
  return (
    `Without the kernel and without the clock of loop turns, which runs once a loop turn however many requests it brings: ${added('http', 'attach')} on plain ` +
    `\`http\`, ${added('koa', 'attach')} on Koa with \`attach\`, ${added('koa', 'middleware')} with \`koa()\`. ` +
    stamp(results, 'npm run bench:hot-path')
  )
}

function errorsTable() {
  const { rows, ...results } = load('errors')
  return [
    'CPU of a request, as a ratio to the same request in the same app with another error handler:',
    '',
    table(
      ['', 'compared with', 'its CPU, µs', 'ratio'],
      rows.map((row) => [
        `${row.framework}, ${row.path === '/hello' ? 'a request that does not fail' : 'a handler that throws'}: ${row.variant}`,
        row.base,
        row.baseMicroseconds.toFixed(0),
        `${row.ratio.toFixed(2)} ± ${row.plusMinus.toFixed(2)}`,
      ])
    ),
    '',
    "`own` is the framework's answer, in an app without Spillway. It writes each stack to stderr, and Koa goes on doing so beside Spillway. " +
      '`silent` is without that. ' +
      stamp(results, 'npm run bench:errors'),
  ].join('\n')
}

function fleetTable() {
  const results = load('fleet')
  const silent = `If one worker is stopped, a scrape takes at most ${results.besideSilentMs} ms. `
  return [results.table.join('\n'), '', silent + stamp(results, 'npm run bench:fleet')].join('\n')
}

function scrapeFloodTable() {
  const results = load('scrape-flood')
  const rows = results.runs.flatMap(({ label, rows }) =>
    rows.map(({ scrapesPerSecond, bystander, cpuShare, scraper }) => [
      scrapesPerSecond,
      label === 'before' ? 'one for each scrape' : 'shared',
      `${(bystander.shedShare * 100).toFixed(1)} %`,
      Math.round(bystander.p99Ms),
      `${Math.round(cpuShare * 100)} %`,
      scraper.wholePerSecond,
    ])
  )
  const head = ['scrapes/s', 'renderings', 'rejected', 'p99, ms', 'CPU', 'scrapes answered/s']
  const sorted = rows.sort((a, b) => a[0] - b[0])
  return [table(head, sorted), '', stamp(results, 'npm run bench:scrape-flood')].join('\n')
}

function scrapeTable() {
  const results = load('scrape')
  return [results.table.join('\n'), '', stamp(results, 'npm run bench:scrape')].join('\n')
}

function accessLogTable() {
  const sentence =
    'What a line a request costs on Express 5, with the headers of a browser, written to `/dev/null`:'
  return [sentence, '', accessLogOf('24'), '', accessLogOf('20')].join('\n')
}

/** @param {string} major of Node */
function accessLogOf(major) {
  const timed = load(`access-log-microseconds-node-${major}`)
  const cells = ({ log, added, plusMinus, ofMorgan }) => [
    log,
    `${added.toFixed(1)} ± ${plusMinus.toFixed(1)}`,
    ofMorgan.toFixed(2),
  ]
  const head = [`Node ${major}`, 'CPU, µs', 'of morgan']
  return [table(head, timed.rows.map(cells)), '', stamp(timed, 'npm run bench:access-log')].join('\n')
}

const POLICIES = {
  none: 'no policy',
  attach: '**spillway, `attach`**',
  middleware: '**spillway, `express()` alone**',
  behind: 'the same behind another middleware',
  'overload-protection': 'overload-protection',
  'overload-protection-100': 'overload-protection, 100 ms',
  'toobusy-js': 'toobusy-js',
  'toobusy-js-20': 'toobusy-js, 20 ms',
  'under-pressure': '@fastify/under-pressure, 100 ms',
  heavy: "@hapi/heavy's rule, 100 ms",
}
const findIn = (rows) => (work, multiple, policy) =>
  rows.find((row) => row.work === work && row.multiple === multiple && row.policy === policy)

/** Goodput of every policy over the load, on the work that shows most. */
function overloadTable() {
  const { rows, deadlineMs, rejections, ...results } = load('overload-cpu')
  const find = findIn(rows)
  const cpu = rows.filter(({ policy }) => policy in POLICIES)
  const multiples = distinct(cpu.map(({ multiple }) => multiple))
  const most = multiples.at(-1)
  const micros = (name) => (rejections[name] * 1000).toFixed(0)
  return [
    `Requests answered within ${deadlineMs} ms, as a share of the capacity. Each request burns 2 ms of CPU behind Express 5:`,
    '',
    table(
      [
        'offered load',
        ...multiples.map((multiple) => `${multiple}x`),
        `p99 at ${most}x, ms`,
        'probes answered',
      ],
      distinct(cpu.map(({ policy }) => policy)).map((policy) => [
        POLICIES[policy],
        ...multiples.map((multiple) => cell(find('cpu', multiple, policy))),
        whole(find('cpu', most, policy).p99Ms),
        `${Math.round(find('cpu', most, policy).probes * 100)} %`,
      ])
    ),
    '',
    `A rejection costs ${micros('attach')} µs of CPU with \`attach\`, ${micros('middleware')} with \`express()\` alone, ${micros('behind')} behind another middleware, ` +
      `and ${micros('bare')} in a bare \`http\` server that sends the same bytes. ` +
      `At ${most} times the load most requests have to be rejected, which takes CPU too. The best possible goodput there is ` +
      `${share(find('cpu', most, 'attach').bound)} with \`attach\`, ${share(find('cpu', most, 'middleware').bound)} with \`express()\` alone and ` +
      `${share(find('cpu', most, 'behind').bound)} behind another middleware. ` +
      roundsOf(results),
  ].join('\n')
}

const WORKS = ['bimodal', 'await', 'pool', 'mixed', 'gc', 'upload']

function worksTable() {
  const all = WORKS.map((work) => load(`overload-${work}`))
  const rows = all.flatMap((results) => results.rows)
  const find = findIn(rows)
  return [
    table(
      [
        'work',
        'load',
        'no policy',
        'overload-protection',
        '**spillway**',
        'bound',
        'shed',
        'p99, ms',
        'probes',
        '**`express()` alone**',
        'bound',
        'p99, ms',
      ],
      rows
        .filter(({ policy }) => policy === 'attach')
        .map((row) => {
          const of = (policy) => find(row.work, row.multiple, policy)
          return [
            row.work,
            `${row.multiple}x`,
            cell(of('none')),
            cell(of('overload-protection')),
            `**${cell(row)}**`,
            boundCell(row),
            `${(row.shed * 100).toFixed(1)} %`,
            whole(row.p99Ms),
            `${Math.round(row.probes * 100)} %`,
            `**${cell(of('middleware'))}**`,
            boundCell(of('middleware')),
            whole(of('middleware').p99Ms),
          ]
        })
    ),
    '',
    ...['gc', 'upload'].flatMap((work) => [costLine(all.find((each) => each.work === work)), '']),
    runsOf(all),
  ].join('\n')
}

/** Where memory is short a rejection costs more than in a loop of 16 connections: bench/overload/grid.js. */
function costLine({ work, rows, rejections }) {
  const micros = (ms) => (ms * 1000).toFixed(0)
  const atLoad = (policy) => {
    const costs = rows.filter((row) => row.policy === policy && row.multiple > 1)
    return `${costs.map(({ rejectionMs, multiple }) => `${micros(rejectionMs)} µs at ${multiple}x`).join(' and ')} (${micros(rejections[policy])} alone)`
  }
  return (
    `For \`${work}\`, a rejection under load costs ${atLoad('attach')}; with \`express()\` alone ${atLoad('middleware')}. The bound subtracts this.` +
    (work === 'upload'
      ? ' It includes reading the body, and depends on how many bodies are read in one loop turn, so the bound is a rough one.'
      : '')
  )
}

/** Works are measured one by one, and not all on one day. */
function runsOf(all) {
  return byRun(all)
    .map((its) => `${worksOf(its)}: ${roundsOf(its[0])}`)
    .join('\n\n')
}

const boundCell = ({ bound }) => (bound === null ? '–' : share(bound))

const roundsOf = ({ rounds, seconds, ...results }) =>
  `${rounds === 1 ? 'One round' : `Medians of ${rounds} interleaved rounds`} of ${seconds} s, from a second after the step. "?" marks figures where other processes on the machine ` +
  `disturbed every round. ${stamp(results, 'npm run bench:overload')}`

/** Which page has the marks of which tables. */
const PAGES = {
  'README.md': {
    summary: summaryTable,
    autocannon: autocannonSentence,
    cost: costSentence,
  },
  'docs/benchmarks.md': {
    overload: overloadTable,
    works: worksTable,
    healthy: healthyTable,
    settled: settledTable,
    connections: connectionsTable,
    overhead: overheadTable,
    errors: errorsTable,
    scrape: scrapeTable,
    'scrape-flood': scrapeFloodTable,
    fleet: fleetTable,
    'access-log': accessLogTable,
  },
}

function fill(text, name, content, page) {
  const [open, shut] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const from = text.indexOf(open)
  const to = text.indexOf(shut)
  if (from === -1 || to === -1) throw new Error(`${page} has no marks for '${name}'`)
  return `${text.slice(0, from + open.length)}\n${content}\n${text.slice(to)}`
}

for (const [page, tables] of Object.entries(PAGES)) {
  const file = path.join(ROOT, page)
  let text = fs.readFileSync(file, 'utf8')
  for (const [name, content] of Object.entries(tables)) text = fill(text, name, content(), page)
  fs.writeFileSync(file, text)
}
drawGoodput()
drawStep()
