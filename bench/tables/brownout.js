'use strict'
// The tables of `npm run bench -- brownout` and `npm run bench -- balancers`.

const { byNode, stamp, table } = require('./markdown')

const percent = (share) => `${(share * 100).toFixed(1)} %`
const roundsOf = ({ rounds, seconds }) =>
  `${rounds === 1 ? 'One round' : `Medians of ${rounds} interleaved rounds`} of ${seconds} s. `

const NAMES = {
  none: 'no policy',
  gate: 'spillway, which rejects',
  brownout: 'spillway with `shouldDegrade()`',
}

const brownoutTable = () =>
  byNode(['brownout'], ([results], major) => {
    const head = [`Node ${major}, load`, 'policy', 'in time', 'rejected', 'degraded', 'p99, ms']
    const rows = results.rows.map(({ multiple, policy, inTime, rejected, degradedShare, p99Ms }) => [
      `${multiple}x`,
      NAMES[policy],
      percent(inTime),
      percent(rejected),
      percent(degradedShare),
      p99Ms.toFixed(0),
    ])
    const how =
      'In simulated time, with the code of the gate and of the pressure. In time: answered within 250 ms, of all requests. '
    return [table(head, rows), '', how + stamp(results, 'brownout')].join('\n')
  })

const balancersTable = () =>
  byNode(['balancers'], ([results], major) => {
    const head = [`Node ${major}, HAProxy`, 'errors', 'p50, ms', 'p99, ms']
    const rows = results.rows.map(({ policy, errors, p50Ms, p99Ms }) => [
      policy,
      percent(errors),
      p50Ms.toFixed(0),
      p99Ms.toFixed(0),
    ])
    return [table(head, rows), '', roundsOf(results) + stamp(results, 'balancers')].join('\n')
  })

module.exports = { balancersTable, brownoutTable }
