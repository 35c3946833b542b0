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
    'CPU of a request, as a ratio to the reference. The reference is the same request to an app with the same routes, where errors are',
    "handled otherwise. `own` is the framework's answer, in an app without Spillway. Express and Koa write each stack to stderr. Koa also",
    'does so beside Spillway. In rows with `silent`, no stacks are written.',
    '',
    byNode(['errors'], sectionOf),
  ].join('\n')

module.exports = { errorsTable }
