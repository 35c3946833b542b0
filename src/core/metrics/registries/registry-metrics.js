'use strict'
// Registers our families with a metrics registry, of prom-client or @prometheus-io/client, by duck typing.
// Values are made when the registry reads them; all families that are read in one task show the same capture.

const { SpillwayError } = require('../../errors/errors')
const { countOf, sumOf } = require('../../histogram/buckets')

/**
 * @import { MetricsRegistry } from '../../../../index.js'
 * @import { Bounds } from '../../histogram/buckets'
 * @import { Capture, TakeCapture } from '../capture'
 * @import { Family, RowPoint, SummaryPoint, ValuePoint } from '../family'
 */

/**
 * @typedef {ValuePoint & RowPoint & SummaryPoint} Point the type of the family decides which fields it has
 * @typedef {{ metricName?: string, labels: object, sharedLabels: object, value: number }} Sample
 */

/** Recognizes the families of another copy of this package. */
const OURS = 'spillway_requests_total'
const NONE = Object.freeze({})
const LE_INF = Object.freeze({ le: '+Inf' })

class RegistryMetric {
  aggregator = 'sum'
  #family
  #capture
  #isDuplicate
  /** One object per bucket for the lifetime of the metric, because registries cache by identity. */
  #le

  /**
   * @param {Family} family
   * @param {() => Capture} capture
   * @param {() => boolean} isDuplicate whether the registry holds prom-client's version of this family
   */
  constructor(family, capture, isDuplicate) {
    this.name = family.name
    this.help = family.help
    this.type = family.type
    if (family.type === 'gauge') this.aggregator = family.across ?? 'average'
    this.#family = family
    this.#capture = capture
    this.#isDuplicate = isDuplicate
    this.#le = family.bounds?.seconds.map((le) => Object.freeze({ le }))
  }

  /** Called for JSON, where every value has all its labels. */
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

  /**
   * Called for text. The labels of a series are the same object at every scrape, so that the registry renders
   * them once.
   */
  getForPromString() {
    /** @type {Sample[]} */
    const values = []
    const points = this.#isDuplicate() ? [] : this.#family.points(this.#capture())
    for (const point of points) this.#expand(/** @type {Point} */ (point), values)
    return { name: this.name, help: this.help, type: this.type, aggregator: this.aggregator, values }
  }

  /** `resetMetrics()` of a registry calls this on every metric. Ours are views with nothing to reset. */
  reset() {}

  /** @param {Point} point @param {Sample[]} values */
  #expand(point, values) {
    const { name, bounds } = /** @type {Family & { bounds: Bounds }} */ (this.#family)
    const sharedLabels = point.labels.pairs
    /** @param {string} suffix @param {object} labels @param {number} value */
    const push = (suffix, labels, value) =>
      values.push({ metricName: `${name}${suffix}`, labels, sharedLabels, value })
    if (this.type === 'histogram') {
      let cumulative = 0
      for (let i = 0; i < bounds.seconds.length; i++) {
        cumulative += point.values[point.row * bounds.width + i]
        push('_bucket', /** @type {object[]} */ (this.#le)[i], cumulative)
      }
      const count = countOf(point.values, point.row, bounds)
      push('_bucket', LE_INF, count)
      push('_sum', NONE, sumOf(point.values, point.row, bounds))
      push('_count', NONE, count)
    } else if (this.type === 'summary') {
      push('_sum', NONE, point.sum)
      push('_count', NONE, point.count)
    } else {
      // Without `metricName`, because an OpenMetrics registry would append `_total` to it.
      values.push({ labels: NONE, sharedLabels, value: point.value })
    }
  }
}

/**
 * Registers all families, or throws and registers none.
 *
 * @param {MetricsRegistry} registry of either client library
 * @param {Family[]} families
 * @param {TakeCapture} capture
 * @returns {() => void} removes the families from the registry
 */
function registerFamilies(registry, families, capture) {
  const isOurs = (/** @type {unknown} */ metric) => metric instanceof RegistryMetric
  if (registry.getSingleMetric(OURS) !== undefined || registry.getMetricsAsArray().some(isOurs)) {
    throw new SpillwayError(
      'ERR_SPILLWAY_REGISTRY_TAKEN',
      'This `registry` already holds the metrics of another spillway: give each instance a separate registry, ' +
        'leave `registry` out, or close() the other first.'
    )
  }
  const taken = families.find(({ name }) => registry.getSingleMetric(name) !== undefined)
  if (taken !== undefined) {
    throw new SpillwayError(
      'ERR_SPILLWAY_REGISTRY_TAKEN',
      `This \`registry\` already has a metric named '${taken.name}', which spillway exports too: remove that metric, ` +
        'or leave `registry` out.'
    )
  }
  const shared = oncePerTask(capture)
  /** @param {Family} family */
  const isDuplicate = ({ promClientName }) =>
    promClientName !== undefined && registry.getSingleMetric(promClientName) !== undefined
  const metrics = families.map((family) => new RegistryMetric(family, shared, () => isDuplicate(family)))
  for (const metric of metrics) registry.registerMetric(metric)
  return () => {
    for (const { name } of families) registry.removeSingleMetric(name)
  }
}

/** @param {TakeCapture} take @returns {() => Capture} */
function oncePerTask(take) {
  /** @type {Capture | undefined} */
  let captured
  return () => {
    if (captured === undefined) {
      captured = take()
      queueMicrotask(() => {
        captured = undefined
      })
    }
    return captured
  }
}

exports.RegistryMetric = RegistryMetric
exports.registerFamilies = registerFamilies
