'use strict'
// Groups the values of a registry's metric into points. The client libraries list each bucket, quantile, sum
// and count as a separate value. Protobuf needs the values of one series together.

/** @import { MetricsRegistry } from '../../../../index.js' */

/**
 * A metric of a registry, as in its JSON. Its labels hold the bound of a bucket or quantile too.
 *
 * @typedef {{ labelSet: Record<string, string | number>, value: number, timestamp: number }} Exemplar
 * @typedef {{ metricName?: string, labels?: Record<string, string | number>, value: number,
 *   exemplar?: Exemplar | null }} RegistryValue
 * @typedef {{ name: string, help: string, type: string, values: RegistryValue[] }} RegistryFamily
 */

/**
 * The members of a registry of prom-client or @prometheus-io/client that are used. The libraries' types lack
 * `_defaultLabels`. prom-client up to version 14 has another name for `getMetricsAsString`.
 *
 * @typedef {{ name: string, type: string, get(): RegistryFamily | Promise<RegistryFamily>,
 *   getForPromString?(): RegistryFamily | Promise<RegistryFamily> }} ForeignMetric
 * @typedef {{ get(): RegistryFamily }} Slice
 * @typedef {MetricsRegistry & { contentType?: string, _defaultLabels?: Record<string, string>,
 *   getMetricsAsJSON(): Promise<unknown[]>, getMetricsAsString?(metric: Slice): Promise<string>,
 *   getMetricAsPrometheusString?(metric: Slice): Promise<string> }} Registry
 */

/**
 * Points of a metric, as Protobuf has them.
 *
 * @typedef {{ pairs: Record<string, string | number>, value: number, atMs: number }} PointExemplar
 * @typedef {{ labels: { pairs: Record<string, string | number> } }} Labelled
 * @typedef {Labelled & { value: number, exemplar: PointExemplar | undefined }} ForeignValue
 * @typedef {{ bound: number, value: number, exemplar: PointExemplar | undefined }} Bucket
 * @typedef {Labelled & { count: number, sum: number, buckets: Bucket[] }} ForeignGroup
 */

/** The label that distinguishes the values of one series. @type {Record<string, string>} */
const BOUND_LABEL = { histogram: 'le', summary: 'quantile' }

/** @param {RegistryFamily} family @returns {Iterable<ForeignValue | ForeignGroup>} */
function foreignPoints(family) {
  const boundLabel = BOUND_LABEL[family.type]
  return boundLabel === undefined ? family.values.map(simplePoint) : grouped(family, boundLabel)
}

/** @param {RegistryValue} value @returns {ForeignValue} */
const simplePoint = ({ labels, value, exemplar }) => ({
  labels: { pairs: /** @type {Labelled['labels']['pairs']} */ (labels) },
  value,
  exemplar: exemplarOf(exemplar),
})

/**
 * For a summary without labels, @prometheus-io/client omits `labels` from the sum and the count.
 *
 * @param {RegistryFamily} family
 * @param {string} boundLabel
 */
function grouped({ name, values }, boundLabel) {
  /** @type {Map<string, ForeignGroup>} */
  const groups = new Map()
  for (const { metricName = name, labels = {}, value, exemplar } of values) {
    const { [boundLabel]: bound, ...pairs } = labels
    const key = JSON.stringify(pairs)
    if (!groups.has(key)) groups.set(key, { labels: { pairs }, count: 0, sum: 0, buckets: [] })
    const group = /** @type {ForeignGroup} */ (groups.get(key))
    if (metricName === `${name}_sum`) group.sum = value
    else if (metricName === `${name}_count`) group.count = value
    else group.buckets.push({ bound: boundOf(bound), value, exemplar: exemplarOf(exemplar) })
  }
  return groups.values()
}

/** @param {string | number} bound */
const boundOf = (bound) => (bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound))

/** A client lists a missing exemplar as `null` or not at all. @param {Exemplar | null | undefined} given */
function exemplarOf(given) {
  if (!given) return undefined
  const { labelSet, value, timestamp } = given
  return { pairs: labelSet, value, atMs: timestamp * 1000 }
}

module.exports = { foreignPoints }
