'use strict'
// The tables of `npm run bench -- services`: what measuring costs services in CPU.

const { SERVICES } = require('../services/services')
const { byNode, leading, majorOf, stamp, table } = require('./markdown')

const COLUMNS = {
  prometheus: 'Prometheus metrics',
  opentelemetry: 'OpenTelemetry',
  spillway: '**spillway**',
  'spillway attach': '**spillway, `attach` alone**',
}
/** The services and columns of README.md. */
const SHORT_SERVICES = ['streams', 'streams-heap', 'proxy', 'graphql', 'koa-session', 'postgres']
const SHORT_COLUMNS = ['prometheus', 'opentelemetry', 'spillway']

const added = ({ ratio }) => {
  const percent = Math.round((ratio - 1) * 100)
  return percent < 0 ? `−${-percent} %` : `+${percent} %`
}
/** One round has no scatter. */
const addedWithScatter = (row, rounds) =>
  `${added(row)}${rounds === 1 ? '' : ` ± ${Math.round(row.plusMinus * 100)}`}${row.isDisturbed || row.rejected > 0 ? ' ?' : ''}`
const ms = (value) => (value < 10 ? value.toFixed(1) : String(Math.round(value)))
const find = (rows, variant) => rows.find((row) => row.variant === variant)

/** In the order of the services, whatever the order of the file. */
const known = (services) => services.filter(({ name }) => name in SERVICES)

const WHAT =
  'Prometheus metrics are express-prom-bundle, on Koa a middleware of prom-client. OpenTelemetry is its instrumentation of http and the ' +
  'framework, with spans that go to an exporter which sends nothing. Spillway is `express()` or `koa()`, `errorHandler()` and `attach`.'

function measuredHow(services) {
  const rounds = Math.max(...services.map((service) => service.rounds))
  const seconds = [...new Set(services.map((service) => service.seconds))].join(' or ')
  const taken =
    rounds === 1
      ? `One round, counted for ${seconds} s.`
      : `Medians of up to ${rounds} rounds in turn, each counted for ${seconds} s. The figure after ± is half the distance between the quartiles.`
  return (
    `${taken} Everything in the server runs on one thread, garbage collection included. ` +
    '"?" marks figures that other processes on the machine disturbed. It also marks a service whose core the package filled: requests were rejected.'
  )
}

function rejectedSentence(services) {
  const refused = services.flatMap(({ name, rows }) => {
    const counts = rows
      .filter(({ rejected, failed }) => rejected + failed > 0)
      .map(({ variant, rejected, failed }) => `${rejected + failed} with ${variant}`)
    return counts.length === 0
      ? []
      : `Requests of "${SERVICES[name].title}" that were rejected or failed: ${counts.join(', ')}.`
  })
  return refused.length === 0 ? 'No request was rejected.' : refused.join(' ')
}

function section([{ services: all, ...results }], major) {
  const services = known(all)
  return [
    table(
      [`Node ${major}`, 'core busy without', ...Object.values(COLUMNS), 'p99 without, with spillway, ms'],
      services.map(({ name, rounds, rows }) => {
        const base = find(rows, 'none')
        return [
          SERVICES[name].title,
          `${Math.round(base.busy * 100)} %`,
          ...Object.keys(COLUMNS).map((variant) => addedWithScatter(find(rows, variant), rounds)),
          `${ms(base.p99Ms)}, ${ms(find(rows, 'spillway').p99Ms)}`,
        ]
      })
    ),
    '',
    `${measuredHow(services)} ${rejectedSentence(services)} ${WHAT} ${stamp(results, 'services')}`,
  ].join('\n')
}

const servicesTable = () =>
  [
    'CPU time that each package adds, as a share of the CPU time of the same service without a package:',
    '',
    byNode(['services'], section),
  ].join('\n')

/** The same figures of the leading Node, with fewer rows and columns. */
function servicesShortTable() {
  const { services: all, ...results } = leading('services')
  const services = known(all).filter(({ name }) => SHORT_SERVICES.includes(name))
  return [
    'CPU time that each package adds to complete services. "Prometheus metrics" is express-prom-bundle, or on Koa a middleware of prom-client. "?" marks figures that other processes disturbed. It also marks a service that filled its core and therefore rejected requests. Streams pay a smaller share if the application keeps more heap: [why](docs/costs.md#what-services-pay-in-cpu).',
    '',
    table(
      [`Node ${majorOf(results)}, service`, ...SHORT_COLUMNS.map((variant) => COLUMNS[variant])],
      services.map(({ name, rows }) => [
        SERVICES[name].title,
        ...SHORT_COLUMNS.map((variant) => addedWithScatter(find(rows, variant), 1)),
      ])
    ),
    '',
    stamp(results, 'services'),
  ].join('\n')
}

module.exports = { servicesShortTable, servicesTable }
