'use strict'
// Part of npm run readme: what bench/overload --settle 5 saved. What the other tables show is measured from a second after
// the step, in a process that has never been overloaded: half of the code that runs then is not compiled yet.

const { load } = require('../support/results')
const { byRun, cell, share, stamp, table, whole, worksOf } = require('./markdown')

const WORKS = ['cpu', 'await', 'mixed', 'gc', 'upload']
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
  const runOf = ([{ rounds, seconds, settle, ...results }]) =>
    `medians of ${rounds} rounds of ${seconds} s, from ${settle} s after the step. ` +
    stamp(results, `npm run bench:overload -- --settle ${settle}`)
  return [
    table(
      HEAD,
      all.flatMap((each) => attached(each).map((row) => cellsOf(row, each.rows)))
    ),
    '',
    byRun(all)
      .map((its) => `${worksOf(its)}: ${runOf(its)}`)
      .join('\n\n'),
  ].join('\n')
}

module.exports = { settledTable }
