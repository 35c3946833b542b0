'use strict'
// npm run bench -- autoscaling
//
// Two services whose pods a HorizontalPodAutoscaler adds and removes, by spillway_pressure_ratio and by CPU, with a
// target of 60 %. In simulated time (test/simulation/scaled-service.js): the code of the metric, the arithmetic
// of Kubernetes, a scrape and a decision every 15 s, and 20 s until a new pod is ready.
//   awaits    50 ms on one of 10 connections, 1 ms of CPU: full at 200 requests a second and a fifth of a core
//   burns     4 ms of CPU: full at 250 requests a second
//   cpu N     by CPU, where a pod requests N cores
//   step      after ten minutes, five times the load of one pod
//   day       an hour from the load of one pod to that of six, and back
//   steady    the load of 2.75 pods

const { LOADS, SERVICES, scaledService } = require('../../test/simulation/scaled-service')
const { readFlags } = require('../support/flags')
const { save } = require('../support/results')
const { headLine, rowLine } = require('../support/terminal')

const HOUR_SECONDS = 3600
const TARGET = 0.6
const SCALERS = {
  pressure: { by: 'pods' },
  'cpu 1': { by: 'cpu', requested: 1 },
  'cpu 2': { by: 'cpu', requested: 2 },
  'cpu 0.25': { by: 'cpu', requested: 0.25 },
}
const SHOWN = ['steady', 'day', 'step']

const percent = (share) => `${(share * 100).toFixed(1)} %`
/** @type {import('../support/terminal').Column[]} */
const COLUMNS = [
  ['service', -7, ({ name }) => name],
  ['load', -6, ({ load }) => load],
  ['scaled by', -9, ({ scaler }) => scaler],
  ['rejected', 8, ({ rejected }) => percent(rejected)],
  ['pods', 5, ({ pods }) => pods.toFixed(1)],
  ['most', 4, ({ mostPods }) => String(mostPods)],
  ['changes', 7, ({ changes }) => String(changes)],
]

readFlags({})
const rows = Object.entries(SERVICES).flatMap(([name, service]) =>
  SHOWN.flatMap((load) =>
    Object.entries(SCALERS).map(([scaler, how]) => ({
      name,
      load,
      scaler,
      ...scaledService({
        service,
        perSecond: LOADS[load](service),
        seconds: HOUR_SECONDS,
        target: TARGET,
        ...how,
      }),
    }))
  )
)
process.stdout.write(headLine(COLUMNS))
for (const row of rows) process.stdout.write(rowLine(COLUMNS, row))
process.stdout.write(`saved ${save('autoscaling', { target: TARGET, isSimulated: true, rows })}\n`)
