'use strict'
// What the tables of npm run readme are made with.

const stamp = ({ date, machine }, command) =>
  `\`${command}\`, ${date}: ${machine.cpu}, ${machine.cores} cores, ${machine.platform}, Node ${machine.node}.`

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const share = (value) => value.toFixed(2)
const distinct = (values) => [...new Set(values)]

/** Results of several works, those that were measured alike on one day and machine together. */
function byRun(all) {
  const keyOf = ({ date, machine, rounds, seconds }) => [date, machine.platform, rounds, seconds].join()
  return distinct(all.map(keyOf)).map((key) => all.filter((results) => keyOf(results) === key))
}

const worksOf = (all) => all.map(({ work }) => `\`${work}\``).join(', ')

const cell = (row) => (row === undefined ? '–' : `${share(row.ratio)}${row.calmRounds === 0 ? ' ?' : ''}`)
const whole = (value) => (value === null ? '–' : String(Math.round(value)))

module.exports = { byRun, cell, distinct, share, stamp, table, whole, worksOf }
