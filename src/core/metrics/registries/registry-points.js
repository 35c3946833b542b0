'use strict'
// Groups the values of a registry's metric into points. The client libraries list each bucket, quantile, sum and count as a value
// of its own; Protobuf needs the values of one series together.

/**
 * A metric of a registry, as its JSON has it.
 *
 * @typedef {{ name: string, help: string, type: string, values: any[] }} RegistryFamily
 */

/** The label that distinguishes the values of one series. */
const BOUND_LABEL = { histogram: 'le', summary: 'quantile' }

/** @param {RegistryFamily} family @returns {Iterable<any>} */
function foreignPoints(family) {
  const boundLabel = BOUND_LABEL[family.type]
  return boundLabel === undefined ? family.values.map(simplePoint) : grouped(family, boundLabel)
}

const simplePoint = ({ labels, value, exemplar }) => ({
  labels: { pairs: labels },
  value,
  exemplar: exemplarOf(exemplar),
})

/** For a summary without labels, @prometheus-io/client omits `labels` from the sum and the count. */
function grouped({ name, values }, boundLabel) {
  const groups = new Map()
  for (const { metricName = name, labels = {}, value, exemplar } of values) {
    const { [boundLabel]: bound, ...pairs } = labels
    const key = JSON.stringify(pairs)
    if (!groups.has(key)) groups.set(key, { labels: { pairs }, count: 0, sum: 0, buckets: [] })
    const group = groups.get(key)
    if (metricName === `${name}_sum`) group.sum = value
    else if (metricName === `${name}_count`) group.count = value
    else group.buckets.push({ bound: boundOf(bound), value, exemplar: exemplarOf(exemplar) })
  }
  return groups.values()
}

const boundOf = (bound) => (bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound))

/** A client lists a missing exemplar as `null` or not at all. */
function exemplarOf(given) {
  if (!given) return undefined
  const { labelSet, value, timestamp } = given
  return { pairs: labelSet, value, atMs: timestamp * 1000 }
}

module.exports = { foreignPoints }
