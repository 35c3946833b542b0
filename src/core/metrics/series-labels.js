'use strict'
// The labels of a series, made at the first scrape that shows the series and stored on it: each later scrape uses the same
// objects.

const { OUTCOMES } = require('../request/outcome')
const { NO_STATUS } = require('../request/request')
const { Label, Labels, ExtendedLabels } = require('./labels')

/** @import { Series } from '../request/route-series' */

const kLabels = Symbol('spillway.labels')
const BY_OUTCOME = OUTCOMES.map((outcome) => new Label('outcome', outcome))
/** @type {Map<number, Label>} */
const labelOfStatus = new Map()

/**
 * @typedef {Series & { [kLabels]?: ReturnType<typeof makeSeriesLabels> }} LabelledSeries
 * @typedef {Series['statuses'][number] & { [kLabels]?: ExtendedLabels }} LabelledStatus
 */

/** @param {LabelledSeries} series */
const seriesLabels = (series) => (series[kLabels] ??= makeSeriesLabels(series))
/** @param {LabelledSeries} series @param {LabelledStatus} status */
const statusLabels = (series, status) =>
  (status[kLabels] ??= new ExtendedLabels(seriesLabels(series).own, labelOf(status.status)))

/** @param {{ method: string, route: string, labels?: Record<string, string> }} series */
function makeSeriesLabels({ method, route, labels }) {
  const own = new Labels({ http_request_method: method, http_route: route, ...labels })
  return { own, byOutcome: BY_OUTCOME.map((label) => new ExtendedLabels(own, label)) }
}

/** @param {number} status */
function labelOf(status) {
  let label = labelOfStatus.get(status)
  if (label === undefined) {
    label = new Label('http_response_status_code', status === NO_STATUS ? '' : String(status))
    labelOfStatus.set(status, label)
  }
  return label
}

module.exports = { seriesLabels, statusLabels }
