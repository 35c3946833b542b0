'use strict'
// The series of `metrics.labels`: one for each combination of method, route and label values that was seen.
// They replace the plain series in the metrics; the snapshot and its quantiles stay by method and route.
// At most `routes.max` combinations exist. Beyond that all labels of a request get the overflow value.

const { NONE, OTHER, RequestLabel } = require('./request-labels')
const { Series } = require('./route-series')

/**
 * @import { InternalErrors } from '../errors/internal-errors'
 * @import { RequestRecord } from './request-record'
 * @import { RouteSeries, SeriesTables } from './route-series'
 */

class LabelledSeries extends Series {
  /** Name and value of each label. @type {Record<string, string>} */
  labels

  /** @param {SeriesTables} tables @param {RouteSeries} series @param {Record<string, string>} labels */
  constructor(tables, { method, route }, labels) {
    super(tables, method, route)
    this.labels = labels
  }
}

class LabelledTable {
  /** All labelled series, in the order first seen. @type {LabelledSeries[]} */
  series = []
  #labels
  /** The indexes of a request whose labels are all folded. */
  #others
  /**
   * The labelled series, by plain series and then by label values.
   *
   * @type {Map<RouteSeries, Map<string, LabelledSeries>>}
   */
  #bySeries = new Map()
  #max
  #tables
  #named = 0

  /**
   * @param {{ labels: Readonly<Record<string, import('../../../index.js').RequestLabel>>,
   *   maxLabelValues: number }} metrics
   * @param {{ max: number, overflow: string }} routes
   * @param {SeriesTables} tables
   * @param {InternalErrors} internalErrors
   */
  constructor({ labels, maxLabelValues: maxValues }, { max, overflow: other }, tables, internalErrors) {
    this.#labels = Object.entries(labels).map(
      ([name, valueFor]) => new RequestLabel({ name, valueFor, other, maxValues, internalErrors })
    )
    this.#others = this.#labels.map(() => OTHER)
    this.#max = max
    this.#tables = tables
  }

  /**
   * @returns {[name: string, count: number][]} for each label, how many requests had a value that was folded
   */
  get folded() {
    return this.#labels.map(({ name, folded }) => [name, folded])
  }

  /** @param {RouteSeries} series the plain series that counted the request @param {RequestRecord} request */
  record(series, request) {
    this.#find(series, this.#indexesOf(request)).count(request)
  }

  /** An upgraded connection has no response, so its labels are empty. @param {RequestRecord} request */
  #indexesOf({ req, res }) {
    return this.#labels.map((label) => (res === undefined ? NONE : label.indexOf(req, res)))
  }

  /** @param {RouteSeries} series @param {number[]} indexes @returns {LabelledSeries} */
  #find(series, indexes) {
    return this.#bySeries.get(series)?.get(indexes.join()) ?? this.#create(series, indexes)
  }

  /** @param {RouteSeries} series @param {number[]} indexes */
  #create(series, indexes) {
    if (indexes.some((index) => index !== OTHER)) {
      if (this.#named >= this.#max) return this.#fold(series, indexes)
      this.#named++
    }
    const labels = this.#labels.map((label, i) => [label.name, label.textOf(indexes[i])])
    const created = new LabelledSeries(this.#tables, series, Object.fromEntries(labels))
    if (!this.#bySeries.has(series)) this.#bySeries.set(series, new Map())
    this.#bySeries.get(series)?.set(indexes.join(), created)
    this.series.push(created)
    return created
  }

  /** @param {RouteSeries} series @param {number[]} indexes */
  #fold(series, indexes) {
    for (const [i, index] of indexes.entries()) if (index !== OTHER) this.#labels[i].folded++
    return this.#find(series, this.#others)
  }
}

exports.LabelledTable = LabelledTable
