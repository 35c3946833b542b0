'use strict'
// Adds a registry's default labels to our own series, which are rendered without the registry. Both client
// libraries keep these labels in `_defaultLabels`. This field is read, because the public accessor is
// asynchronous and an exiting process cannot wait. A registry without default labels costs nothing.

const { Labels, labelText } = require('../labels')

/**
 * @import { Capture } from '../capture'
 * @import { Family, Point, PointLabels } from '../family'
 * @import { ForeignMetric, Registry } from './registry-points'
 */

class DefaultLabels {
  #registry
  #text = ''
  /**
   * Extended labels by the labels of a series. They are kept, because fleet reports need the same objects at
   * each scrape.
   *
   * @type {WeakMap<PointLabels, Labels>}
   */
  #known = new WeakMap()

  /** @param {Registry} [registry] */
  constructor(registry) {
    this.#registry = registry
  }

  /** @param {Family[]} families @returns {Family[]} */
  on(families) {
    const pairs = this.#pairs()
    if (pairs === undefined) return families
    const known = this.#known
    return families.map((family) => ({
      ...family,
      points: (/** @type {Capture} */ captured) => labelled(family.points(captured), pairs, known),
    }))
  }

  /**
   * A view of another registry with the default labels of this one.
   *
   * @param {Registry} registry
   * @returns {Registry}
   */
  onRegistry(registry) {
    const pairs = this.#pairs()
    if (pairs === undefined) return registry
    return Object.create(registry, {
      _defaultLabels: { value: pairs },
      getMetricsAsArray: {
        value: () => /** @type {ForeignMetric[]} */ (registry.getMetricsAsArray()).map(copied),
      },
    })
  }

  #pairs() {
    const pairs = this.#registry?._defaultLabels ?? {}
    const text = labelText(pairs)
    if (text === '') return undefined
    if (text !== this.#text) {
      this.#text = text
      this.#known = new WeakMap()
    }
    return pairs
  }
}

/**
 * @param {Iterable<Point>} points
 * @param {Record<string, string>} pairs
 * @param {WeakMap<PointLabels, Labels>} known
 */
function* labelled(points, pairs, known) {
  for (const point of points) {
    let labels = known.get(point.labels)
    if (labels === undefined) {
      const own = point.labels.pairs
      // A label of the series has precedence, in order and in value.
      labels = new Labels({ ...own, ...pairs, ...own })
      known.set(point.labels, labels)
    }
    yield { ...point, labels }
  }
}

/**
 * Copies the values, because prom-client writes default labels into a counter's stored values. All instances
 * share the process metrics.
 *
 * @param {ForeignMetric} metric
 */
const copied = (metric) => ({
  name: metric.name,
  type: metric.type,
  async get() {
    const family = await metric.get()
    return { ...family, values: family.values.map((each) => ({ ...each })) }
  },
})

exports.DefaultLabels = DefaultLabels
