'use strict'
// The table of `npm run bench -- errors`.

const { byNode, stamp, table } = require('./markdown')

function sectionOf([{ rows, ...results }], major) {
  return [
    table(
      [`Node ${major}`, 'reference', 'CPU of the reference, µs', 'ratio'],
      rows.map((row) => [
        `${row.framework}, ${row.path === '/hello' ? 'a request that does not fail' : 'a handler that throws'}: ${row.variant}`,
        row.base,
        row.baseMicroseconds.toFixed(0),
        `${row.ratio.toFixed(2)} ± ${row.plusMinus.toFixed(2)}`,
      ])
    ),
    '',
    stamp(results, 'errors'),
  ].join('\n')
}

const errorsTable = () =>
  [
    'CPU of a request, as a ratio to the reference: the same request in the same app with another error handler.',
    "`own` is the framework's answer, in an app without Spillway. It writes each stack to stderr, and Koa goes on doing so beside",
    'Spillway. `silent` is the same without these stacks.',
    '',
    byNode(['errors'], sectionOf),
  ].join('\n')

module.exports = { errorsTable }
