'use strict'
// The table of `npm run bench -- overload --connections`. It has the rows of all majors of Node, to compare
// them.

const { load, majorsOf } = require('../support/results')
const { median } = require('../support/statistics')
const { distinct, percent, share, stamp, table, whole } = require('./markdown')
const { ratioCell } = require('./overload')

const RESULTS = 'overload-connections'
const CONNECTIONS = {
  plain: 'plain `http`',
  'sched-none': 'a worker of a cluster, `SCHED_NONE`',
  'reuse-port': 'a worker of a cluster, `reusePort`',
  'round-robin': 'a worker of a cluster, round robin',
  'round-robin-shared': 'a worker of a cluster, round robin, with the primary on the same core',
  https: '`https`',
  silent: '4000 silent connections/s beside kept connections',
  'silent-new': '4000 silent connections/s beside new connections',
}
const HEAD = [
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
]

/** What tells the rows with Koa, random arrivals or compiled code from the others. */
const variantOf = ({ framework, arrivals, settle = 1 }) =>
  [
    framework === 'koa' ? ', Koa' : '',
    arrivals === 'poisson' ? ', Poisson arrivals' : '',
    settle > 1 ? `, after ${settle} s` : '',
  ].join('')

const groupOf = (row) => [`${CONNECTIONS[row.name]}${variantOf(row)}`, row.node, `${row.multiple}x`]

function connectionsTable() {
  const majors = majorsOf(RESULTS)
  const all = majors.map((major) => load(RESULTS, major))
  const rows = all.flatMap((results, i) => results.rows.map((row) => ({ ...row, node: majors[i] })))
  const groups = distinct(rows.map((row) => groupOf(row).join())).map((group) =>
    rows.filter((row) => groupOf(row).join() === group)
  )
  const order = Object.keys(CONNECTIONS)
  const rankOf = ([row]) => (variantOf(row) === '' ? 0 : 100) + order.indexOf(row.name)
  groups.sort((a, b) => rankOf(a) - rankOf(b) || majors.indexOf(a[0].node) - majors.indexOf(b[0].node))
  const stamps = all.map((results) => stamp(results, 'overload --connections'))
  return [
    table(HEAD, groups.map(cellsOf)),
    '',
    connectionsSentence(rows),
    '',
    `Rounds of ${distinct(all.map(({ seconds }) => seconds)).join(' or ')} s: ` +
      `${distinct(rows.map(({ rounds }) => rounds)).join(' or ')} each, from a second after the step. Rounds that other processes ` +
      `disturbed are left out. ${stamps.join(' ')}`,
  ].join('\n')
}

function cellsOf(group) {
  const of = (policy) => group.find((row) => row.policy === policy)
  const pair = (row) => (row === undefined ? ['–', '–'] : [ratioCell(row), share(row.bound)])
  const attached = of('attach')
  return [
    ...groupOf(group[0]),
    ...pair(attached),
    ...pair(of('middleware')),
    attached === undefined ? '–' : percent(attached.shed),
    attached === undefined ? '–' : whole(attached.p99Ms),
    attached === undefined ? '–' : percent(attached.probes, 0),
  ]
}

/** Where the bounds come from. */
function connectionsSentence(rows) {
  const micros = (name) => {
    const costs = rows.filter((row) => row.name === name && row.policy === 'attach')
    return Math.round(median(costs.map(({ connectionMs }) => connectionMs)) * 1000)
  }
  return (
    'The bound subtracts the cost of accepting every connection and of rejecting what cannot be served; both are measured apart. ' +
    `A connection costs ${micros('plain')} µs of CPU on a plain server, and ${micros('https')} with a TLS handshake. ` +
    `A connection that the primary hands over on the same core costs ${micros('round-robin-shared')} µs.`
  )
}

module.exports = { connectionsTable }
