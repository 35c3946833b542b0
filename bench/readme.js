'use strict'
// npm run readme: writes the tables of the last saved results between their marks in the README.

const fs = require('node:fs')
const path = require('node:path')
const { load } = require('./results')

const README = path.join(__dirname, '..', 'README.md')

const stamp = ({ date, machine }, command) =>
  `\`${command}\`, ${date}: ${machine.cpu}, ${machine.cores} cores, ${machine.platform}, Node ${machine.node}.`

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

function overheadTable() {
  const results = load('overhead')
  const cell = (row) =>
    row === undefined ? '–' : `${row.addedMicroseconds.toFixed(1)} ± ${row.plusMinusMicroseconds.toFixed(1)}`
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
  return [
    'CPU per request over a no-op middleware, in µs:',
    '',
    table(
      ['', 'Express 5, 1 connection', 'Express 5, 32', 'Koa 3, 1 connection', 'Koa 3, 32'],
      [
        ...names.map((name) => [name, ...columns.map((column) => cell(find(name, column)))]),
        ['(the whole request with the no-op)', ...base],
      ]
    ),
    '',
    `Medians of ${results.starts} starts of all of them, each of ${results.rounds} interleaved slices of ${results.slice} requests against the ` +
      'no-op slices beside them; half of the starts were within ±. ' +
      stamp(results, 'npm run bench:overhead'),
  ].join('\n')
}

function scrapeTable() {
  const results = load('scrape')
  return [results.table.join('\n'), '', stamp(results, 'npm run bench:scrape')].join('\n')
}

function fill(text, name, content) {
  const [open, shut] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const from = text.indexOf(open)
  const to = text.indexOf(shut)
  if (from === -1 || to === -1) throw new Error(`README.md has no marks for '${name}'`)
  return `${text.slice(0, from + open.length)}\n${content}\n${text.slice(to)}`
}

let text = fs.readFileSync(README, 'utf8')
for (const [name, content] of [
  ['overhead', overheadTable],
  ['scrape', scrapeTable],
]) {
  text = fill(text, name, content())
}
fs.writeFileSync(README, text)
