'use strict'
// Part of npm run readme: what bench/overload.js --settle 5 saved. What the other tables show is measured from a second after
// the step, in a process that has never been overloaded: half of the code that runs then is not compiled yet.

const { load } = require('./results')
const { cell, distinct, share, stamp, table, whole } = require('./tables')

const WORKS = ['cpu', 'bimodal', 'await', 'mixed', 'gc', 'upload']
const HEAD = ['work', 'load', 'no policy', '**`attach`**', 'bound', 'shed', 'p99, ms', 'probes']

function settledTable() {
  const all = WORKS.map((work) => load(`overload-settled-${work}`))
  const cellsOf = (row, rows) => [
    row.work,
    `${row.multiple}x`,
    cell(rows.find(({ policy, multiple }) => policy === 'none' && multiple === row.multiple)),
    `**${cell(row)}**`,
    share(row.bound),
    `${(row.shed * 100).toFixed(1)} %`,
    whole(row.p99Ms),
    `${Math.round(row.probes * 100)} %`,
  ]
  const attached = ({ rows }) => rows.filter(({ policy }) => policy === 'attach')
  const lengths = distinct(all.map(({ seconds }) => seconds)).map((seconds) => {
    const works = all.filter((results) => results.seconds === seconds).map(({ work }) => `\`${work}\``)
    return `${seconds} s (${works.join(', ')})`
  })
  const [{ rounds, settle, ...results }] = all
  return [
    table(
      HEAD,
      all.flatMap((each) => attached(each).map((row) => cellsOf(row, each.rows)))
    ),
    '',
    `Medians of ${rounds} rounds of ${lengths.join(' and ')}, from ${settle} s after the step. ` +
      stamp(results, `npm run bench:overload -- --settle ${settle}`),
  ].join('\n')
}

module.exports = { settledTable }
