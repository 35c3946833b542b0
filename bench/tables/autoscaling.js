'use strict'
// The table of `npm run bench -- autoscaling`.

const { byNode, percent, stamp, table } = require('./markdown')

const SERVICES = { awaits: 'waits', burns: 'computes' }
const NAMES = {
  pressure: '`spillway_pressure_ratio`',
  'cpu 1': 'CPU, 1 core requested',
  'cpu 2': 'CPU, 2 cores requested',
  'cpu 0.25': 'CPU, 0.25 cores requested',
}
/** The requests of CPU change nothing of what is said about a service that waits. */
const isShown = ({ name, scaler, load }) =>
  load === 'step' && (name === 'burns' || scaler === 'pressure' || scaler === 'cpu 1')

const autoscalingTable = () =>
  byNode(['autoscaling'], ([results], major) => {
    const head = [`Node ${major}, a service that`, 'scaled by', 'rejected', 'pods, mean', 'pods, most']
    const rows = results.rows
      .filter(isShown)
      .map(({ name, scaler, rejected, pods, mostPods }) => [
        SERVICES[name],
        NAMES[scaler],
        percent(rejected),
        pods.toFixed(1),
        mostPods,
      ])
    return [table(head, rows), '', `In simulated time. ${stamp(results, 'autoscaling')}`].join('\n')
  })

module.exports = { autoscalingTable }
