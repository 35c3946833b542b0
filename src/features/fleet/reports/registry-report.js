'use strict'
// Reads the metrics of a registry into a report, and out of it: the application's metrics and prom-client's
// default metrics. Their `aggregator` says how values of workers are joined. Means and the quantiles of
// summaries are shown per worker, because a mean of p99s is not a p99.

const { requireFamily } = require('./report-shapes')
const { BOUND_LABELS, RegistryLabels, boundText } = require('./reported-labels')

/**
 * @import { Registry } from '../../../core/metrics/registries/registry-points'
 * @import { RegistryEntry } from '../../../core/metrics/scrape/prometheus'
 * @import { FamilySum } from './family-sum'
 * @import { ValuePoint } from './point-shapes'
 * @import { Across, Described } from './report-shapes'
 */

/**
 * A registry's record of a metric.
 *
 * @typedef {{ metricName?: string, labels?: Record<string, unknown>, value: number }} Sample
 * @typedef {{ help: string, type: string, aggregator?: string, values: Sample[] }} ReadMetric
 * @typedef {Omit<Described, 'bounds'> & { points(): ValuePoint[] }} ForeignFamily
 */

const JOINED = ['sum', 'min', 'max', 'first']
/** A registry without default labels: reported series contain them already. @type {Registry | undefined} */
let plainRegistry
/** @type {(a: [string, unknown], b: [string, unknown]) => number} */
const byName = ([a], [b]) => (a < b ? -1 : 1)

/**
 * @param {RegistryEntry} source
 * @param {(error: unknown) => void} [onInvalid] called if the metric has invalid series, which are left out
 * @returns {Promise<ForeignFamily[]>} families: two of a summary, whose quantiles are each worker's own
 * @throws {TypeError} if the whole metric is invalid
 */
async function readMetric({ registry, metric, name }, onInvalid = () => {}) {
  // The metric is read through its registry, which adds default labels. This works with every client library.
  const alone = Object.create(registry, { getMetricsAsArray: { value: () => [metric] } })
  /** @type {[ReadMetric]} */
  const [{ help, type, aggregator = 'sum', values }] = await alone.getMetricsAsJSON()
  const across = /** @type {Across} */ (JOINED.includes(aggregator) ? aggregator : 'worker')
  requireFamily({ name, help, type, across, isForeign: true })
  /** @param {Sample} sample */
  const isQuantile = ({ metricName, labels }) =>
    type === 'summary' && (metricName ?? name) === name && labels?.quantile !== undefined
  /** @param {Across} across @param {ValuePoint[]} points @returns {ForeignFamily} */
  const family = (across, points) => ({ name, help, type, across, isForeign: true, points: () => points })
  /** @type {{ own: ValuePoint[], sum: ValuePoint[] }} */
  const points = { own: [], sum: [] }
  const valid = new ValidSeries({ name, type })
  for (const value of values) {
    const utf8 = valid.add(value)
    if (utf8 !== undefined)
      points[isQuantile(value) ? 'own' : 'sum'].push({ labels: { utf8 }, value: value.value })
  }
  if (valid.rejected > 0)
    onInvalid(new Error(`'${name}' has ${valid.rejected} series that Prometheus does not accept`))
  const families = [family(across, points.sum)]
  if (points.own.length > 0) families.push(family('worker', points.own))
  return families
}

/** Filters the series of one metric: a registry accepts some that Prometheus rejects. */
class ValidSeries {
  rejected = 0
  #name
  #boundLabel
  #labels
  #seen = new Set()

  /** @param {{ name: string, type: string }} family */
  constructor(family) {
    this.#name = family.name
    this.#boundLabel = BOUND_LABELS[family.type]
    this.#labels = new RegistryLabels(family)
  }

  /**
   * @param {Sample} sample
   * @returns {string | undefined} the name and labels as JSON; undefined if the series is invalid
   */
  add({ metricName, labels, value }) {
    try {
      const series = [
        metricName ?? this.#name,
        Object.entries(labels ?? {})
          .map(this.#textOf)
          .sort(byName),
      ]
      if (!this.#labels.check(series)(value)) throw new RangeError('the value is invalid')
      const json = JSON.stringify(series)
      if (this.#seen.has(json)) throw new RangeError('the series is a duplicate')
      this.#seen.add(json)
      return json
    } catch {
      this.rejected++
      return undefined
    }
  }

  /** @param {[string, unknown]} pair @returns {[string, string]} */
  #textOf = ([name, value]) => {
    const text = /** @type {string & { toWellFormed(): string }} */ (String(value)).toWellFormed()
    return [name, (name === this.#boundLabel ? boundText(text) : undefined) ?? text]
  }
}

/** Converts reported families to metrics that a registry accepts. @param {Iterable<FamilySum>} families */
function metricsOf(families) {
  /** @type {Map<string, FamilySum[]>} */
  const byMetric = new Map()
  for (const family of families) {
    if (!family.isForeign) continue
    const parts = byMetric.get(family.name)
    if (parts === undefined) byMetric.set(family.name, [family])
    else if (parts[0].type === family.type) parts.push(family)
  }
  if (byMetric.size === 0) return []
  // prom-client is loaded only here, because some worker uses a registry.
  plainRegistry ??= /** @type {Registry} */ (/** @type {unknown} */ (new (require('prom-client').Registry)()))
  const registry = plainRegistry
  return [...byMetric.values()].map((parts) => ({
    registry,
    metric: metricOf(parts),
    name: parts[0].name,
  }))
}

/** @param {FamilySum[]} parts */
function metricOf(parts) {
  const { name, help, type } = parts[0]
  const get = () => ({ name, help, type, aggregator: 'sum', values: valuesOf(parts) })
  return { name, help, type, aggregator: 'sum', get, reset() {} }
}

/**
 * With the worker's label, series of different parts can become equal, so duplicates are removed.
 *
 * @param {FamilySum[]} parts
 */
function valuesOf(parts) {
  const values = parts.flatMap((part) => part.samples())
  if (parts.length === 1) return values
  const byKey = new Map(values.map((value) => [keyOf(value), value]))
  return [...byKey.values()]
}

/** @param {{ metricName: string, labels: Record<string, unknown> }} sample */
const keyOf = ({ metricName, labels }) => JSON.stringify([metricName, Object.entries(labels).sort(byName)])

module.exports = { metricsOf, readMetric }
