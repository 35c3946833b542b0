'use strict'
// Adds a registry's default labels to our own series, which are rendered without the registry. Both clients keep the labels in
// `_defaultLabels`: the public accessor is asynchronous, and an exiting process cannot wait.
// A registry without default labels costs nothing.

const { Labels, labelText } = require('../labels')

/** @import { Family } from '../family' */

class DefaultLabels {
  #registry
  #text = ''
  /** Extended labels by the labels of a series: fleet reports need the same objects at each scrape. */
  #known = new WeakMap()

  /** @param {any} [registry] of prom-client or @prometheus-io/client; `_defaultLabels` is in no type */
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
      points: (captured) => labelled(family.points(captured), pairs, known),
    }))
  }

  /** A view of another registry with the default labels of this one. */
  onRegistry(registry) {
    const pairs = this.#pairs()
    if (pairs === undefined) return registry
    return Object.create(registry, {
      _defaultLabels: { value: pairs },
      getMetricsAsArray: { value: () => registry.getMetricsAsArray().map(copied) },
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

/** prom-client writes default labels into a counter's stored values, and the process metrics are shared by all instances. */
const copied = (metric) => ({
  name: metric.name,
  type: metric.type,
  async get() {
    const family = await metric.get()
    return { ...family, values: family.values.map((each) => ({ ...each })) }
  },
})

exports.DefaultLabels = DefaultLabels
