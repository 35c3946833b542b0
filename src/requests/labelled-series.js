'use strict'
// The series of requests by labels of the user's: one for each combination of a method, a route and values that was seen.
// They replace the plain series in the metrics; the snapshot and its quantiles stay by method and route.
// At most `routes.max` combinations are kept. Past them all labels of a request are folded into the overflow value.

const { NONE, OTHER, RequestLabel } = require('./request-labels')
const { Series } = require('./route-series')

class LabelledSeries extends Series {
  /** Name and value of each. @type {Record<string, string>} */
  labels

  constructor(tables, { method, route }, labels) {
    super(tables, method, route)
    this.labels = labels
  }
}

class LabelledTable {
  /** In the order first seen. @type {LabelledSeries[]} */
  series = []
  #labels
  #others
  /** By the plain series, then by values. @type {Map<any, Map<string, LabelledSeries>>} */
  #bySeries = new Map()
  #max
  #tables
  #named = 0

  /**
   * @param {{ labels: Record<string, Function>, maxLabelValues: number }} metrics
   * @param {{ max: number, overflow: string }} routes
   */
  constructor({ labels, maxLabelValues: most }, { max, overflow: other }, tables, faults) {
    this.#labels = Object.entries(labels).map(
      ([name, ask]) => new RequestLabel({ name, ask, other, most, faults })
    )
    this.#others = this.#labels.map(() => OTHER)
    this.#max = max
    this.#tables = tables
  }

  /** @returns {[name: string, count: number][]} how many requests had a value that is not shown, by label */
  get folded() {
    return this.#labels.map(({ name, folded }) => [name, folded])
  }

  /** @param {InstanceType<typeof import('./route-series').RouteSeries>} series that the request was counted in */
  record(series, request) {
    this.#find(series, this.#indexesOf(request)).count(request)
  }

  /** An upgraded connection has no response, so its labels are empty. */
  #indexesOf({ req, res }) {
    return this.#labels.map((label) => (res === undefined ? NONE : label.indexOf(req, res)))
  }

  #find(series, indexes) {
    return this.#bySeries.get(series)?.get(indexes.join()) ?? this.#open(series, indexes)
  }

  #open(series, indexes) {
    if (indexes.some((index) => index !== OTHER)) {
      if (this.#named >= this.#max) return this.#fold(series, indexes)
      this.#named++
    }
    const labels = this.#labels.map((label, i) => [label.name, label.textOf(indexes[i])])
    const opened = new LabelledSeries(this.#tables, series, Object.fromEntries(labels))
    if (!this.#bySeries.has(series)) this.#bySeries.set(series, new Map())
    this.#bySeries.get(series)?.set(indexes.join(), opened)
    this.series.push(opened)
    return opened
  }

  #fold(series, indexes) {
    for (const [i, index] of indexes.entries()) if (index !== OTHER) this.#labels[i].folded++
    return this.#find(series, this.#others)
  }
}

module.exports = { LabelledTable }
