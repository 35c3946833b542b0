'use strict'
// The table of `npm run bench -- access-log`.

const { byNode, stamp, table } = require('./markdown')

function sectionOf([results], major) {
  const cells = ({ log, added, plusMinus, ofMorgan }) => [
    log,
    `${added.toFixed(1)} ± ${plusMinus.toFixed(1)}`,
    ofMorgan.toFixed(2),
  ]
  const head = [`Node ${major}`, 'CPU, µs', 'of morgan']
  return [table(head, results.rows.map(cells)), '', stamp(results, 'access-log')].join('\n')
}

const accessLogTable = () =>
  [
    'CPU cost of one log line for each request, on Express 5. Requests have the headers of a browser. The log goes to `/dev/null`:',
    '',
    byNode(['access-log-microseconds'], sectionOf),
  ].join('\n')

module.exports = { accessLogTable }
