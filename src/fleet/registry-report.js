'use strict'
// Metrics that are not ours, in a report and out of it: those of the application's registry, and prom-client's default
// ones. They say themselves how they are put together (`aggregator`). A mean of workers is never made, and what may not
// be put together at all stays apart, by worker: a mean of p99s is no p99, and a summary's quantiles cannot be added.

const { Registry } = require('prom-client')

const ACROSS = { sum: 'sum', min: 'min', max: 'max', first: 'first' }
/** For what has its default labels already. */
const plainRegistry = new Registry()
/** @type {(a: [string, any], b: [string, any]) => number} */
const byName = ([a], [b]) => (a < b ? -1 : 1)

/**
 * @param {{ registry: any, metric: any, name: string }} source
 * @returns {Promise<any[]>} families: two of a summary, whose quantiles are each worker's own
 */
async function readMetric({ registry, metric, name }) {
  // So that the registry puts its default labels in, whichever client it is of.
  const alone = Object.create(registry, { getMetricsAsArray: { value: () => [metric] } })
  const [{ help, type, aggregator = 'sum', values }] = await alone.getMetricsAsJSON()
  const isQuantile = ({ metricName, labels }) =>
    type === 'summary' && (metricName ?? name) === name && labels.quantile !== undefined
  const family = (across, points) => ({ name, help, type, across, isForeign: true, points: () => points })
  /** @type {{ own: any[], sum: any[] }} */
  const points = { own: [], sum: [] }
  for (const value of values) {
    const labels = Object.entries(value.labels ?? {}).sort(byName)
    const key = JSON.stringify([value.metricName ?? name, labels])
    points[isQuantile(value) ? 'own' : 'sum'].push({ labels: { utf8: key }, value: value.value })
  }
  const families = [family(ACROSS[aggregator] ?? 'worker', points.sum)]
  if (points.own.length > 0) families.push(family('worker', points.own))
  return families
}

/** What was reported of them, as metrics that a registry takes. @param {Iterable<any>} families */
function metricsOf(families) {
  const byMetric = new Map()
  for (const family of families) {
    if (!family.isForeign) continue
    const parts = byMetric.get(family.name)
    if (parts === undefined) byMetric.set(family.name, [family])
    else if (parts[0].type === family.type) parts.push(family)
  }
  return [...byMetric.values()].map((parts) => ({
    registry: plainRegistry,
    metric: metricOf(parts),
    name: parts[0].name,
  }))
}

function metricOf(parts) {
  const { name, help, type } = parts[0]
  const get = () => ({ name, help, type, aggregator: 'sum', values: parts.flatMap((part) => part.samples()) })
  return { name, help, type, aggregator: 'sum', get, reset() {} }
}

module.exports = { metricsOf, readMetric }
