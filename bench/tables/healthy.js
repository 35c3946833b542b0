'use strict'
// The table of healthy services for docs/benchmarks.md: what the gate does to traffic that the process can serve, worst row named.

const { load } = require('../support/results')
const { stamp, table } = require('./markdown')

const HEAD = ['service', 'rejected', '200s/s with / without', 'ratio', 'p99 with / without, ms', 'CPU']
const whole = (value) => (value === null ? '–' : String(Math.round(value)))
const shedOf = ({ on }) => Math.max(on.bystanderShed ?? 0, on.othersShed)
const percent = (share) => `${(share * 100).toFixed(1)} %`

/** Of the gate off, an event may leave some unanswered: only what the gate adds is its doing. */
const addedOf = ({ isEvent, modes }) => shedOf(modes) - (isEvent ? modes.off.othersShed : 0)

const cellsOf = (row) => {
  const { on, off } = row.modes
  return [
    row.name,
    percent(Math.max(0, addedOf(row))),
    `${whole(on.goodput)} / ${whole(off.goodput)}`,
    row.goodputRatio.toFixed(2),
    `${whole(on.p99Ms)} / ${whole(off.p99Ms)}`,
    percent(on.cpu),
  ]
}

function healthyTable() {
  const { rows, ...results } = load('healthy')
  const closed = rows.filter(({ name }) => /\d( koa)?$/.test(name))
  const healthy = rows.filter((row) => !closed.includes(row))
  const worst = healthy.reduce((found, row) => (addedOf(row) > addedOf(found) ? row : found))
  const remarks = rows
    .filter(({ remark }) => remark !== undefined)
    .map(({ name, remark }) => `\`${name}\`: ${remark}. `)
  const least = closed.reduce((found, row) => (row.goodputRatio < found.goodputRatio ? row : found))
  return [
    `The worst row of ${healthy.length} healthy services: \`${worst.name}\`, ${percent(Math.max(0, addedOf(worst)))} rejected. Closed loops at full load: ` +
      `at least ${least.goodputRatio.toFixed(2)} of the goodput without a gate (\`${least.name}\`).`,
    '',
    '<details>',
    '<summary>Every row</summary>',
    '',
    table(HEAD, healthy.map(cellsOf)),
    '',
    'Closed loops. The number is how many kept connections send the next request as soon as they have an answer:',
    '',
    table(HEAD, closed.map(cellsOf)),
    '',
    `${results.rounds === 1 ? 'One round' : `Medians of ${results.rounds} rounds`} of ${results.seconds} s. Rows such as \`half-close\` and \`chat\` count everything that was completed. ${remarks.join('')}${stamp(results, 'npm run bench:healthy')}`,
    '',
    '</details>',
  ].join('\n')
}

module.exports = { healthyTable }
