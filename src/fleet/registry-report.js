'use strict'
// Reads the metrics of a registry into a report, and out of it: the application's metrics and prom-client's default metrics.
// Their `aggregator` says how values of workers are joined. Means and the quantiles of summaries are shown per worker,
// because a mean of p99s is not a p99.

const { Registry } = require('prom-client')

const ACROSS = { sum: 'sum', min: 'min', max: 'max', first: 'first' }
/** A registry without default labels: reported series contain them already. */
const plainRegistry = new Registry()
/** @type {(a: [string, any], b: [string, any]) => number} */
const byName = ([a], [b]) => (a < b ? -1 : 1)

/**
 * @param {{ registry: any, metric: any, name: string }} source
 * @returns {Promise<any[]>} families: two of a summary, whose quantiles are each worker's own
 */
async function readMetric({ registry, metric, name }) {
  // Read through the registry, which adds its default labels, whichever client library it is of.
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

/** Converts reported families to metrics that a registry accepts. @param {Iterable<any>} families */
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
