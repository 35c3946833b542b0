'use strict'
// The table of `npm run bench -- gateways`: what a service behind a gateway serves in time, with the gate and
// without.

const { byNode, distinct, share, stamp, table, whole } = require('./markdown')

const NAMES = {
  'x-forwarded-for': 'with `X-Forwarded-For`',
  traceparent: 'with `traceparent`',
  bare: 'with neither of these headers',
  nginx: 'nginx, `keepalive`',
  haproxy: 'HAProxy, `maxconn`',
}

/** "?" marks a run in which other processes took CPU time, or the load fell behind. */
const inTime = ({ ratio, calmRounds }) => `${share(ratio)}${calmRounds === 0 ? ' ?' : ''}`

function sectionOf([{ rows, deadlineMs, ...results }], major) {
  const multiples = distinct(rows.map(({ multiple }) => multiple))
  const of = (multiple, policy) => rows.filter((row) => row.multiple === multiple && row.policy === policy)
  const cellsOf = (gated) =>
    multiples.flatMap((multiple) => {
      const isSame = ({ gateway, connections }) =>
        gateway === gated.gateway && connections === gated.connections
      const [row, free] = [of(multiple, 'attach').find(isSame), of(multiple, 'none').find(isSame)]
      return [`**${inTime(row)}**`, inTime(free), whole(row.p99Ms)]
    })
  return [
    table(
      [
        `Node ${major}: gateway`,
        'connections',
        ...multiples.flatMap((multiple) => [`${multiple}x`, 'without a gate', 'p99 ms']),
      ],
      of(multiples[0], 'attach').map((row) => [NAMES[row.gateway], row.connections, ...cellsOf(row)])
    ),
    '',
    `Shares of the capacity that were answered within ${deadlineMs} ms of the arrival at the gateway, with Spillway's gate (bold) and without. ` +
      `Figures with "?" were disturbed by other processes. ${stamp(results, 'gateways')}`,
  ].join('\n')
}

const gatewaysTable = () => byNode(['gateways'], sectionOf)

module.exports = { gatewaysTable }
