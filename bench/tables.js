'use strict'
// What the tables of npm run readme are made with.

const stamp = ({ date, machine }, command) =>
  `\`${command}\`, ${date}: ${machine.cpu}, ${machine.cores} cores, ${machine.platform}, Node ${machine.node}.`

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const share = (value) => value.toFixed(2)
const distinct = (values) => [...new Set(values)]

const cell = (row) => (row === undefined ? '–' : `${share(row.ratio)}${row.calmRounds === 0 ? ' ?' : ''}`)
const whole = (value) => (value === null ? '–' : String(Math.round(value)))
module.exports = { cell, distinct, share, stamp, table, whole }
