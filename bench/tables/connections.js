'use strict'
// Part of npm run readme: the table of what bench/overload --connections saved.

const { load } = require('../support/results')
const { median } = require('../support/statistics')
const { cell, distinct, share, stamp, table, whole } = require('./markdown')

const CONNECTIONS = {
  plain: 'plain `http`',
  'sched-none': 'a worker of a cluster, `SCHED_NONE`',
  'reuse-port': 'a worker of a cluster, `reusePort`',
  'round-robin': 'a worker of a cluster, round robin',
  'round-robin-shared': 'the same, the primary on its core',
  https: '`https`',
  silent: '4000 silent connections/s beside kept ones',
  'silent-new': '4000 silent connections/s beside new ones',
}

/** How those with Koa, random arrivals or compiled code are told from the others. */
const variantOf = ({ framework, arrivals, settle = 1 }) =>
  [
    framework === 'koa' ? ', Koa' : '',
    arrivals === 'poisson' ? ', Poisson arrivals' : '',
    settle > 1 ? `, after ${settle} s` : '',
  ].join('')

function connectionsTable() {
  const { rows, seconds, ...results } = load('overload-connections')
  const nameOf = (row) => `${CONNECTIONS[row.name]}${variantOf(row)}`
  const groupOf = (row) => [nameOf(row), row.node, `${row.multiple}x`]
  const groups = distinct(rows.map((row) => groupOf(row).join(' | '))).map((group) =>
    rows.filter((row) => groupOf(row).join(' | ') === group)
  )
  const order = Object.keys(CONNECTIONS)
  const rankOf = ([row]) => (variantOf(row) === '' ? 0 : 100) + order.indexOf(row.name)
  groups.sort((a, b) => rankOf(a) - rankOf(b) || a[0].node - b[0].node)
  const pair = (row) => (row === undefined ? ['–', '–'] : [cell(row), share(row.bound)])
  return [
    table(
      [
        'a new connection for every request',
        'Node',
        'load',
        '**`attach`**',
        'bound',
        '`express()` alone',
        'bound',
        'shed with `attach`',
        'p99, ms',
        'probes',
      ],
      groups.map((group) => {
        const of = (policy) => group.find((row) => row.policy === policy)
        const attached = of('attach')
        return [
          ...groupOf(group[0]),
          ...pair(attached),
          ...pair(of('middleware')),
          attached === undefined ? '–' : `${(attached.shed * 100).toFixed(1)} %`,
          attached === undefined ? '–' : whole(attached.p99Ms),
          attached === undefined ? '–' : `${Math.round(attached.probes * 100)} %`,
        ]
      })
    ),
    '',
    connectionsSentence(rows),
    '',
    `Rounds of ${seconds} s: ${distinct(rows.map(({ rounds }) => rounds)).join(' or ')} each, from a second after the step. Rounds that other processes disturbed are left out. ` +
      stamp(results, 'npm run bench:overload -- --connections'),
  ].join('\n')
}

/** Where the bounds come from. */
function connectionsSentence(rows) {
  const micros = (name) => {
    const its = rows.filter((row) => row.name === name && row.policy === 'attach')
    return Math.round(median(its.map(({ connectionMs }) => connectionMs)) * 1000)
  }
  return (
    `The bound subtracts the cost of accepting every connection and of rejecting what cannot be served; both are measured apart. A connection costs ${micros('plain')} µs of CPU on a plain ` +
    `server, ${micros('https')} with its handshake, ${micros('round-robin-shared')} where the primary hands it over on the same core.`
  )
}

module.exports = { connectionsTable }
