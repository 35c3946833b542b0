'use strict'
// The table of bench/healthy, and its progress lines, as text without colours.
// The table reads the same on a terminal and in a pipe.

const { percent } = require('./summary')

const NONE = '-'
const whole = (value) => (value === null || value === undefined ? NONE : String(Math.round(value)))
const share = (value) => (value === null || value === undefined ? NONE : percent(value))
const ratio = (value) => (value === null || value === undefined ? NONE : value.toFixed(2))

/** @returns {string} the reasons with their counts, most frequent first */
function reasonsOf(counts = {}) {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a)
  return sorted.length === 0 ? NONE : sorted.map(([reason, count]) => `${reason} ${count}`).join(', ')
}

const wouldShedOf = (observed) =>
  observed === undefined ? NONE : `${share(observed.wouldShedShare)} (${reasonsOf(observed.wouldShed)})`

/** Each column: its title, whether it is aligned left, and its cell for a row. */
const COLUMNS = [
  ['row', true, ({ name }) => name],
  ['bystander shed', false, ({ modes: { on } }) => share(on?.bystanderShed)],
  ['others shed', false, ({ modes: { on } }) => share(on?.othersShed)],
  ['200s on', false, ({ modes: { on } }) => whole(on?.goodput)],
  ['off', false, ({ modes: { off } }) => whole(off?.goodput)],
  ['on/off', false, ({ goodputRatio }) => ratio(goodputRatio)],
  ['p99 ms on', false, ({ modes: { on } }) => whole(on?.p99Ms)],
  ['off', false, ({ modes: { off } }) => whole(off?.p99Ms)],
  ['CPU on', false, ({ modes: { on } }) => ratio(on?.cpu)],
  ['off', false, ({ modes: { off } }) => ratio(off?.cpu)],
  ['503s/s', false, ({ modes: { on } }) => whole(on?.shedPerSecond)],
  ['reasons', true, ({ modes: { on } }) => reasonsOf(on?.reasons)],
]
const OBSERVED = ['observe: would shed', true, ({ modes: { observe } }) => wouldShedOf(observe)]
const HARM = ['harm', true, ({ harm }) => harm ?? 'none']

const NOTES = [
  'Shares and 200s a second are medians of the rounds; on/off is the median of the ratios of each round.',
  'Harm goes by the worst round of what was shed, and in closed loops by the ratio of the goodput and the p99.',
  'cold-crowd, half-close, chat: "others shed" is the share not completed, "200s" how many were, at once or in all.',
  "p99 is the bystander's where there is one. CPU is of the server's process, as a share of a core.",
]

/** @param {any[]} results @param {string[]} modes */
function tableOf(results, modes) {
  const columns = [...COLUMNS, ...(modes.includes('observe') ? [OBSERVED] : []), HARM]
  const cells = [
    columns.map(([title]) => title),
    ...results.map((each) => columns.map(([, , cell]) => cell(each))),
  ]
  const widths = columns.map((_column, i) => Math.max(...cells.map((line) => line[i].length)))
  const lines = cells.map((line) =>
    line.map((cell, i) => (columns[i][1] ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ')
  )
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '))
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n\n${NOTES.join('\n')}\n`
}

/** @returns {string} the figures of one run */
function lineOf({ bystander, others, goodput, shedPerSecond, cpu, foreign, reasons, wouldShed }) {
  const p99Ms = bystander.p99Ms ?? others.p99Ms
  const failed = bystander.failed + others.failed
  const figures = [
    ...(bystander.sent > 0 ? [`bystander ${share(bystander.shed / bystander.sent)} shed`] : []),
    `others ${share(others.sent > 0 ? others.shed / others.sent : 0)}`,
    `200s ${whole(goodput)}`,
    `503s/s ${whole(shedPerSecond)}`,
    `p99 ${whole(p99Ms)} ms`,
    `CPU ${ratio(cpu)}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(foreign > 0.05 ? [`other processes on its core ${ratio(foreign)}`] : []),
    ...(Object.keys(reasons).length > 0 ? [reasonsOf(reasons)] : []),
    ...(Object.keys(wouldShed).length > 0 ? [`would shed ${reasonsOf(wouldShed)}`] : []),
  ]
  return figures.join(', ')
}

module.exports = { lineOf, reasonsOf, tableOf }
