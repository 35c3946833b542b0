'use strict'
// The tables and sentences of the benches overhead, instructions and hot-path.

const { load, majorsOf } = require('../support/results')
const { byNode, distinct, leading, stamp, table } = require('./markdown')

const COLUMNS = [
  ['express', 1],
  ['express', 32],
  ['koa', 1],
  ['koa', 32],
]
/** Saved by overhead --save overhead-recommended, with these two variants. */
const RECOMMENDED = 'overhead-recommended'
const RECOMMENDED_VARIANTS = ['spillway attach + express() + errorHandler()', 'express-prom-bundle']
const REMARKS = {
  20: [
    'Node 20 gives every request and response behind Express hidden classes of its own. The same request takes several times as',
    'long there, and its time varies by more than Spillway adds:',
    '',
  ],
}

const overheadTable = () =>
  [
    'CPU per request over a no-op middleware, in µs and as a share of the whole request with the no-op.',
    'In the row `spillway wrap`, the server gets `wrap(listener)`, which does the same as `attach` before the server exists:',
    '',
    byNode(['overhead'], overheadSection),
    '',
    recommendedSentence(),
    '',
    instructionsSentence(),
    '',
    hotPathSentence(),
  ].join('\n')

function overheadSection([results], major) {
  const cell = (row) =>
    row === undefined
      ? '–'
      : `${row.addedMicroseconds.toFixed(1)} ± ${row.plusMinusMicroseconds.toFixed(1)} (${row.addedPercent.toFixed(0)} %)`
  const names = distinct(results.rows.map(({ variant }) => variant)).filter((name) => name !== 'no-op')
  const find = (variant, [framework, connections]) =>
    results.rows.find(
      (row) => row.variant === variant && row.framework === framework && row.connections === connections
    )
  const base = COLUMNS.map((column) => find('no-op', column).totalMicroseconds.toFixed(0))
  const floor = names.includes('floor')
    ? ' The floor is the least that measuring takes: the times of arrival, answer and end, the bytes, and the loop turn.'
    : ''
  const slept =
    results.load === undefined
      ? ' The load generator slept between answers; the figures of 32 connections include waking it.'
      : ''
  return [
    ...(REMARKS[major] ?? []),
    table(
      [`Node ${major}`, 'Express 5, 1 connection', 'Express 5, 32', 'Koa 3, 1 connection', 'Koa 3, 32'],
      [
        ...names.map((name) => [name, ...COLUMNS.map((column) => cell(find(name, column)))]),
        ['the whole request with the no-op', ...base],
      ]
    ),
    '',
    `Medians of ${results.starts} starts, each of ${results.rounds} slices of ${results.slice} requests that alternate with slices of ` +
      `a no-op. The figure after ± is half the distance between the quartiles of the starts. Everything ran on one thread, garbage collection included.${slept}${floor} ` +
      stamp(results, 'overhead'),
  ].join('\n')
}

/** What the quick start sets up, in the same run as the package that most applications use. */
function recommendedSentence() {
  const [ours, theirs] = RECOMMENDED_VARIANTS
  const ofNode = (major) => {
    const { rows } = load(RECOMMENDED, major)
    const added = (variant, connections) =>
      rows
        .find((row) => row.variant === variant && row.connections === connections)
        .addedMicroseconds.toFixed(1)
    return (
      `On Node ${major} it costs ${added(ours, 1)} µs with one connection, and ${added(ours, 32)} µs with 32; ` +
      `express-prom-bundle costs ${added(theirs, 1)} and ${added(theirs, 32)} µs. `
    )
  }
  return (
    'The recommended set-up is `attach`, `express()` and `errorHandler()`. ' +
    'It was measured in another run, so compare it only with the express-prom-bundle of that run. ' +
    majorsOf(RECOMMENDED).map(ofNode).join('') +
    stamp(leading(RECOMMENDED), 'overhead')
  )
}

/** The number of instructions varies less than the time. */
function instructionsSentence() {
  const { rows, ...results } = leading('instructions')
  const of = (framework) => rows.filter((row) => row.framework === framework)
  const listed = (framework) =>
    of(framework)
      .slice(1)
      .map(({ variant, addedPercent }) => `${variant} ${addedPercent.toFixed(1)} %`)
      .join(', ')
  const thousands = (framework) => Math.round(of(framework)[0].instructions / 1000)
  return (
    'The number of CPU instructions varies less than the time on a shared machine. ' +
    `An Express request takes ${thousands('express')} thousand instructions. Added to these: ${listed('express')}. ` +
    `A Koa request takes ${thousands('koa')} thousand. Added to these: ${listed('koa')}. ` +
    stamp(results, 'instructions')
  )
}

function hotPathSentence() {
  const { rows, ...results } = leading('hot-path')
  const added = (framework, variant) => {
    const row = rows.find((each) => each.framework === framework && each.variant === variant)
    return `${row.addedMicros.toFixed(1)} of the ${row.micros.toFixed(1)} µs`
  }
  return (
    "Another bench leaves out the kernel's time, and that of Spillway's clock, which runs once in each loop turn. " +
    `There, Spillway adds ${added('http', 'attach')} of a request on plain \`http\`. ` +
    `On Koa it adds ${added('koa', 'attach')} with \`attach\`, and ${added('koa', 'middleware')} with \`koa()\`. ` +
    stamp(results, 'hot-path')
  )
}

const PAGES = {
  'proxy.requestStart': 'deadlines.md#the-time-in-the-proxy',
  'deadline.header': 'deadlines.md#deadlines',
  'shed.classify.header': 'recipes.md#by-header',
  'shed.key': 'recipes.md#equal-shares-for-tenants',
  'signal()': 'cancellation.md',
  'limit()': 'bulkheads.md',
  'shouldDegrade()': 'brownout.md',
  'balancer.orca': 'balancers.md#a-header-for-orca',
}

/** What a feature adds to a request of Spillway without it. */
function featuresTable() {
  const { rows, ...results } = leading('hot-path')
  const [without, ...features] = rows.filter(({ framework }) => framework === 'feature')
  return [
    table(
      [`Node ${results.machine.node.slice(1, 3)}`, 'µs for each request'],
      features.map(({ variant, micros }) => [
        `[\`${variant}\`](${PAGES[variant]})`,
        Math.max(0, micros - without.micros).toFixed(1),
      ])
    ),
    '',
    `Added to ${without.micros.toFixed(1)} µs of the same request with Spillway alone. \`signal()\`, \`limit()\` and \`shouldDegrade()\` are called once by the handler. Differences below 0.5 µs are noise.`,
    stamp(results, 'hot-path'),
  ].join('\n')
}

module.exports = { featuresTable, overheadTable }
