'use strict'
// The same families as objects a metrics registry takes: prom-client's and @prometheus-io/client's alike, by duck
// type. Values are made when the registry asks; all families asked in one go show one instant.

const { SpillwayError } = require('../../errors')
const { countOf, sumOf } = require('../../histograms/buckets')

const OURS = 'spillway_requests_total'
const NONE = Object.freeze({})
const LE_INF = Object.freeze({ le: '+Inf' })

class RegistryMetric {
  aggregator = 'sum'
  #family
  #takeInstant
  #isSaid
  /** One object a bucket for ever, by whose identity a registry caches. */
  #le

  /** @param {any} family @param {() => any} takeInstant @param {() => boolean} isSaid whether its double is shown */
  constructor(family, takeInstant, isSaid) {
    this.name = family.name
    this.help = family.help
    this.type = family.type
    if (family.type === 'gauge') this.aggregator = family.across ?? 'average'
    this.#family = family
    this.#takeInstant = takeInstant
    this.#isSaid = isSaid
    this.#le = family.bounds?.seconds.map((le) => Object.freeze({ le }))
  }

  /** For JSON: every value with all its labels. */
  get() {
    const { values, ...family } = this.getForPromString()
    return {
      ...family,
      values: values.map(({ sharedLabels, labels, ...rest }) => ({
        ...rest,
        labels: { ...sharedLabels, ...labels },
      })),
    }
  }

  /** For text: the labels of a series are one object at every scrape, whose text a registry makes only once. */
  getForPromString() {
    const values = []
    const points = this.#isSaid() ? [] : this.#family.points(this.#takeInstant())
    for (const point of points) this.#expand(point, values)
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values }
  }

  /** A registry's resetMetrics() asks this of every metric. Ours are views: there is nothing here to reset. */
  reset() {}

  #expand(point, values) {
    const { name, bounds } = this.#family
    const sharedLabels = point.labels.pairs
    const push = (suffix, labels, value) =>
      values.push({ metricName: `${name}${suffix}`, labels, sharedLabels, value })
    if (this.type === 'histogram') {
      let cumulative = 0
      for (let i = 0; i < bounds.seconds.length; i++) {
        cumulative += point.values[point.row * bounds.width + i]
        push('_bucket', this.#le[i], cumulative)
      }
      const count = countOf(point.values, point.row, bounds)
      push('_bucket', LE_INF, count)
      push('_sum', NONE, sumOf(point.values, point.row, bounds))
      push('_count', NONE, count)
    } else if (this.type === 'summary') {
      push('_sum', NONE, point.sum)
      push('_count', NONE, point.count)
    } else {
      // Without a name of its own: an OpenMetrics registry puts `_total` after one.
      values.push({ labels: NONE, sharedLabels, value: point.value })
    }
  }
}

/** Puts the families into the registry, all or none. @returns {() => void} takes them out again */
function registerFamilies(registry, families, takeInstant) {
  const isOurs = (metric) => metric instanceof RegistryMetric
  if (registry.getSingleMetric(OURS) !== undefined || registry.getMetricsAsArray().some(isOurs)) {
    throw new SpillwayError(
      'ERR_SPILLWAY_REGISTRY_TAKEN',
      'This `registry` already holds the metrics of another spillway: give each instance a registry of its own, ' +
        'leave `registry` out, or close() the other first.'
    )
  }
  const taken = families.find(({ name }) => registry.getSingleMetric(name) !== undefined)
  if (taken !== undefined) {
    throw new SpillwayError(
      'ERR_SPILLWAY_REGISTRY_TAKEN',
      `This \`registry\` already has a metric named '${taken.name}', which spillway exports too: remove that one, ` +
        'or leave `registry` out.'
    )
  }
  const shared = oncePerTask(takeInstant)
  const isSaid = ({ double }) => double !== undefined && registry.getSingleMetric(double) !== undefined
  const metrics = families.map((family) => new RegistryMetric(family, shared, () => isSaid(family)))
  for (const metric of metrics) registry.registerMetric(metric)
  return () => {
    for (const { name } of families) registry.removeSingleMetric(name)
  }
}

function oncePerTask(take) {
  let instant
  return () => {
    if (instant === undefined) {
      instant = take()
      queueMicrotask(() => {
        instant = undefined
      })
    }
    return instant
  }
}

module.exports = { RegistryMetric, registerFamilies }
