'use strict'
// The part of bench/overload with a new connection for every request, as behind a proxy that keeps none, for
// each kind of server in bench/support/kinds.js. Also connections that never send anything, beside work on
// kept or new connections. The load is a multiple of what the same server does on kept connections. The cost
// of a connection, with its handshake, is that of a rejection on a new connection less that of a rejection on
// a kept one.

const { canReusePort } = require('../support/kinds')
const results = require('../support/results')
const { lineOf, measurementOf, rowOf } = require('./rows')
const { DEADLINE_MS, OverloadRuns } = require('./run')

const SILENT_PER_SECOND = 4000
const POLICIES = ['none', 'attach', 'middleware']
const CASES = {
  plain: { multiple: 5 },
  'sched-none': { multiple: 5 },
  'reuse-port': { multiple: 5 },
  'round-robin': { multiple: 5 },
  'round-robin-shared': { multiple: 5 },
  https: { multiple: 1.2 },
  silent: { kind: 'plain', multiple: 0.8, connections: 'kept', silentPerSecond: SILENT_PER_SECOND },
  'silent-new': { kind: 'plain', multiple: 0.8, silentPerSecond: SILENT_PER_SECOND },
}
const RESULTS = 'overload-connections'
const keyOf = ({ name, framework, arrivals, settle = 1, multiple, policy }) =>
  [name, framework, arrivals, settle, multiple, policy].join()

async function costsOf(runs, policy) {
  if (policy === 'none') return undefined
  const rejectionMs = await runs.rejectionMs(policy, 'kept')
  return { rejectionMs, connectionMs: (await runs.rejectionMs(policy, 'new')) - rejectionMs }
}

/**
 * @param {string} name of a case
 * @param {{ framework: string, arrivals: string, attempts: number, rounds: number, seconds: number,
 *   settle: number, policies?: string[], multiples?: number[] }} settings
 */
async function measureCase(name, settings) {
  const { framework, arrivals, attempts, rounds, seconds, settle, policies, multiples } = settings
  const { kind = name, connections = 'new', multiple: usual, silentPerSecond = 0 } = CASES[name]
  const runs = new OverloadRuns({ framework, attempts, kind })
  const rows = []
  const costs = new Map()
  for (const policy of policies ?? POLICIES) costs.set(policy, await costsOf(runs, policy))
  for (const multiple of multiples ?? [usual]) {
    const measured = new Map([...costs.keys()].map((policy) => [policy, []]))
    for (let round = 0; round < rounds; round++) {
      const capacity = await runs.capacity('cpu', 'kept', settle)
      for (const [policy, all] of measured) {
        const result = await runs.run({
          policy,
          work: 'cpu',
          connections,
          arrivals,
          silentPerSecond,
          warmUpSeconds: 1 + settle,
          phases: [
            { rate: capacity.rate * 0.5, seconds: 1 },
            { rate: capacity.rate * multiple, seconds: settle + seconds },
          ],
        })
        all.push(measurementOf(result, capacity, 'cpu'))
      }
    }
    for (const [policy, all] of measured) {
      const load = { framework, arrivals, settle, work: 'cpu', connections, silentPerSecond, multiple }
      rows.push(rowOf({ name, ...load, policy }, all, costs.get(policy)))
      process.stdout.write(`${name.padEnd(19)}${lineOf(rows.at(-1))}${costLine(rows.at(-1))}\n`)
    }
  }
  return rows
}

const micros = (ms) => (ms * 1000).toFixed(0)
const costLine = ({ rejectionMs, connectionMs }) =>
  rejectionMs === undefined
    ? ''
    : `  a rejection ${micros(rejectionMs)} µs, a connection ${micros(connectionMs)}`

/**
 * A run measures some of the rows, as those with Koa. Rows that it did not measure undisturbed stay as they
 * were.
 */
function saveRows(rows, settings) {
  const known = new Map()
  try {
    for (const row of results.load(RESULTS).rows) known.set(keyOf(row), row)
  } catch {
    // Nothing was saved yet.
  }
  for (const row of rows) if (row.calmRounds > 0) known.set(keyOf(row), row)
  return results.save(RESULTS, { deadlineMs: DEADLINE_MS, ...settings, rows: [...known.values()] })
}

async function measureConnections(names, { seconds, ...settings }) {
  for (const name of names) {
    if (name === 'reuse-port' && !(await canReusePort())) {
      process.stdout.write(`${name}: Node ${process.version} has no reusePort\n`)
      continue
    }
    const rows = await measureCase(name, { seconds, ...settings })
    process.stdout.write(`saved ${saveRows(rows, { seconds })}\n`)
  }
}

module.exports = { CASES, measureConnections }
