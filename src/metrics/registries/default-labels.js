'use strict'
// The default labels of a registry, on our own series too: it adds them to what it writes itself, and /metrics is written past
// it. Both clients keep them in `_defaultLabels`; the public way to read them is asynchronous, and a process that ends cannot
// wait. Without any nothing is paid, with some a second Labels for each series.

const { Labels, labelText } = require('../labels')

class DefaultLabels {
  #registry
  #text = ''
  /** By the labels of a series, so that they are the same objects at each scrape: a report goes by that. */
  #known = new WeakMap()

  /** @param {any} [registry] */
  constructor(registry) {
    this.#registry = registry
  }

  /** @param {any[]} families @returns {any[]} */
  on(families) {
    const pairs = this.#pairs()
    if (pairs === undefined) return families
    const known = this.#known
    return families.map((family) => ({
      ...family,
      points: (instant) => labelled(family.points(instant), pairs, known),
    }))
  }

  /** Another registry, as one that has them. */
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
      // Our own come first, and win.
      labels = new Labels({ ...own, ...pairs, ...own })
      known.set(point.labels, labels)
    }
    yield { ...point, labels }
  }
}

/** prom-client writes default labels into the values that a counter keeps: those of the process are of every instance. */
const copied = (metric) => ({
  name: metric.name,
  type: metric.type,
  async get() {
    const family = await metric.get()
    return { ...family, values: family.values.map((each) => ({ ...each })) }
  },
})

module.exports = { DefaultLabels }
