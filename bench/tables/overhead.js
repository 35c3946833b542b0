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
    'long there, and scatters by more than is measured here:',
    '',
  ],
}

const overheadTable = () =>
  [
    'CPU per request over a no-op middleware, in µs and as a share of the whole request with the no-op:',
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
      `a no-op; half of the starts were within ±. Everything ran on one thread, garbage collection included.${slept}${floor} ` +
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
      `Node ${major}: ${added(ours, 1)} µs of ${added(theirs, 1)} with one connection, ` +
      `${added(ours, 32)} of ${added(theirs, 32)} with 32. `
    )
  }
  return (
    'The recommended set-up, `attach`, `express()` and `errorHandler()`, beside express-prom-bundle. ' +
    majorsOf(RECOMMENDED).map(ofNode).join('') +
    stamp(leading(RECOMMENDED), 'overhead')
  )
}

/** Instructions scatter less than time. */
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
    `Instructions scatter less than time on a shared machine. Added to the ${thousands('express')} thousand of an Express request: ` +
    `${listed('express')}. Added to the ${thousands('koa')} thousand of a Koa request: ${listed('koa')}. ` +
    stamp(results, 'instructions')
  )
}

function hotPathSentence() {
  const { rows, ...results } = leading('hot-path')
  const added = (framework, variant) => {
    const row = rows.find((each) => each.framework === framework && each.variant === variant)
    return `${row.addedMicros.toFixed(1)} of ${row.micros.toFixed(1)} µs`
  }
  return (
    'Without the kernel, and without the clock that runs once a loop turn however many requests it brings, Spillway adds less. The figures are ' +
    `${added('http', 'attach')} on plain \`http\`, ${added('koa', 'attach')} on Koa with \`attach\`, ` +
    `${added('koa', 'middleware')} with \`koa()\`. ${stamp(results, 'hot-path')}`
  )
}

module.exports = { overheadTable }
