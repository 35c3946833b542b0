'use strict'
// The table of `npm run bench -- healthy`: what the gate does to traffic that the process can serve, with the
// worst row named.

const { byNode, folded, leading, majorOf, percent, stamp, table, whole } = require('./markdown')

const headOf = (major) => [
  `Node ${major}, service`,
  'rejected',
  '2xx/s with / without',
  'ratio',
  'p99 with / without, ms',
  'CPU',
]
const shedOf = ({ on }) => Math.max(on.bystanderShed ?? 0, on.othersShed)
/** Without the gate, an event may leave some requests without an answer. Only what the gate adds counts. */
const addedOf = ({ isEvent, modes }) => Math.max(0, shedOf(modes) - (isEvent ? modes.off.othersShed : 0))

const cellsOf = (row) => {
  const { on, off } = row.modes
  return [
    row.name,
    percent(addedOf(row)),
    `${whole(on.goodput)} / ${whole(off.goodput)}`,
    row.goodputRatio.toFixed(2),
    `${whole(on.p99Ms)} / ${whole(off.p99Ms)}`,
    percent(on.cpu),
  ]
}

function sectionOf([{ rows: measured, ...results }], major) {
  // A run that failed has no figures.
  const rows = measured.filter(({ modes }) => modes.on !== undefined && modes.off !== undefined)
  const closed = rows.filter(({ name }) => /\d( koa)?$/.test(name))
  const healthy = rows.filter((row) => !closed.includes(row))
  const worst = healthy.reduce((found, row) => (addedOf(row) > addedOf(found) ? row : found))
  const least = closed.reduce((found, row) => (row.goodputRatio < found.goodputRatio ? row : found))
  const remarks = rows
    .filter(({ remark }) => remark !== undefined)
    .map(({ name, remark }) => `\`${name}\`: ${remark}. `)
  const rounds = results.rounds === 1 ? 'One round' : `Medians of ${results.rounds} rounds`
  const all = [
    table(headOf(major), healthy.map(cellsOf)),
    '',
    'Closed loops. The number is how many kept connections send the next request as soon as they have an answer:',
    '',
    table(headOf(major), closed.map(cellsOf)),
    '',
    `${rounds} of ${results.seconds} s. Rows such as \`half-close\` and \`chat\` count everything that was completed. ` +
      remarks.join('') +
      stamp(results, 'healthy'),
  ]
  return [
    `The worst row of ${healthy.length} healthy services: \`${worst.name}\`, ${percent(addedOf(worst))} rejected. Closed loops at ` +
      `full load: at least ${least.goodputRatio.toFixed(2)} of the goodput without a gate (\`${least.name}\`).`,
    '',
    folded('Every row', all.join('\n')),
  ].join('\n')
}

/** The rows of README.md. A row that is not in the results yet is left out. */
const LOADS = {
  'cpu 100': '100 clients in closed loops, requests of 2 ms',
  'cpu 300': '300 clients',
  'cpu 1000': '1000 clients',
  'burst-cpu': 'bursts of 300 requests of 1 ms, every 3 s',
  'burst-new': 'the same bursts, each request on a new connection',
  streams: '400 event streams, on Express',
}

/** Closed loops, bursts and streams of the leading Node. */
function loadsTable() {
  const { rows, ...results } = leading('healthy')
  const shown = Object.keys(LOADS).flatMap((name) => rows.filter((row) => row.name === name))
  return [
    'Closed loops, bursts and streams, with Spillway and without. In the rows of bursts and streams, 100 other requests a second run too, and p99 is theirs. ' +
      `2xx/s includes the requests of the bursts. In closed loops, p99 is of the answers with status 200:`,
    '',
    table(
      [`Node ${majorOf(results)}, load`, ...headOf().slice(1, -1)],
      shown.map((row) => [LOADS[row.name], ...cellsOf(row).slice(1, -1)])
    ),
    '',
    stamp(results, 'healthy'),
  ].join('\n')
}

const healthyTable = () => byNode(['healthy'], sectionOf)

module.exports = { healthyTable, loadsTable }
