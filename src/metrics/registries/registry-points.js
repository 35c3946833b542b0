'use strict'
// What a registry says of one of its metrics, as points: the client libraries list every bucket, quantile, sum and
// count as a value by itself, where a format that has messages wants those of a series together.

/** The label that tells the values of one series apart. */
const BOUND_LABEL = { histogram: 'le', summary: 'quantile' }

/** @param {{ name: string, type: string, values: any[] }} family */
function foreignPoints(family) {
  const boundLabel = BOUND_LABEL[family.type]
  return boundLabel === undefined ? family.values.map(simplePoint) : grouped(family, boundLabel)
}

const simplePoint = ({ labels, value, exemplar }) => ({
  labels: { pairs: labels },
  value,
  exemplar: exemplarOf(exemplar),
})

/** In @prometheus-io/client the sum and the count of a summary without labels come without any, its quantiles with them. */
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

/** None, where its labels are empty: OpenMetrics' clients then have set none. */
function exemplarOf(given) {
  if (!given) return undefined
  const { labelSet, value, timestamp } = given
  return { pairs: labelSet, value, atMs: timestamp * 1000 }
}

module.exports = { foreignPoints }
