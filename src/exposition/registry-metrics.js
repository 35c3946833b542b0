'use strict'
// The same families as objects a metrics registry takes: prom-client's and @prometheus-io/client's alike, by duck
// type. Values are made when the registry asks; all families asked in one go show one instant.

const { SpillwayError } = require('../errors')
const { BOUNDS_SECONDS, countOf, sumOf, WIDTH } = require('../histograms/buckets')

const OURS = 'spillway_requests_total'

class RegistryMetric {
  aggregator = 'sum'
  #family
  #takeInstant

  constructor(family, takeInstant) {
    this.name = family.name
    this.help = family.help
    this.type = family.type
    if (family.type === 'gauge' && !family.name.startsWith('http_')) this.aggregator = 'average'
    this.#family = family
    this.#takeInstant = takeInstant
  }

  get() {
    const values = []
    for (const point of this.#family.points(this.#takeInstant())) this.#expand(point, values)
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values }
  }

  /** A registry's resetMetrics() asks this of every metric. Ours are views: there is nothing here to reset. */
  reset() {}

  #expand({ labels: { pairs }, ...point }, values) {
    const { name } = this.#family
    if (this.type === 'histogram') {
      let cumulative = 0
      for (let i = 0; i < BOUNDS_SECONDS.length; i++) {
        cumulative += point.values[point.row * WIDTH + i]
        const labels = { ...pairs, le: BOUNDS_SECONDS[i] }
        values.push({ metricName: `${name}_bucket`, labels, value: cumulative })
      }
      const count = countOf(point.values, point.row)
      values.push({ metricName: `${name}_bucket`, labels: { ...pairs, le: '+Inf' }, value: count })
      values.push({ metricName: `${name}_sum`, labels: pairs, value: sumOf(point.values, point.row) })
      values.push({ metricName: `${name}_count`, labels: pairs, value: count })
    } else if (this.type === 'summary') {
      values.push({ metricName: `${name}_sum`, labels: pairs, value: point.sum })
      values.push({ metricName: `${name}_count`, labels: pairs, value: point.count })
    } else {
      values.push({ labels: pairs, value: point.value })
    }
  }
}

/** Puts the families into the registry, all or none. @returns {() => void} takes them out again */
function registerFamilies(registry, families, takeInstant) {
  if (registry.getSingleMetric(OURS) !== undefined) {
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
  const metrics = families.map((family) => new RegistryMetric(family, shared))
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
