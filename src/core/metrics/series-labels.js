'use strict'
// The labels of a series, made at the first scrape that shows the series and stored on it: each later scrape uses the same
// objects.

const { OUTCOMES } = require('../request/outcome')
const { NO_STATUS } = require('../request/request')
const { Label, Labels, ExtendedLabels } = require('./labels')

const kLabels = Symbol('spillway.labels')
const BY_OUTCOME = OUTCOMES.map((outcome) => new Label('outcome', outcome))
const labelOfStatus = new Map()

const seriesLabels = (series) => (series[kLabels] ??= makeSeriesLabels(series))
const statusLabels = (series, status) =>
  (status[kLabels] ??= new ExtendedLabels(seriesLabels(series).own, labelOf(status.status)))

function makeSeriesLabels({ method, route, labels }) {
  const own = new Labels({ http_request_method: method, http_route: route, ...labels })
  return { own, byOutcome: BY_OUTCOME.map((label) => new ExtendedLabels(own, label)) }
}

function labelOf(status) {
  let label = labelOfStatus.get(status)
  if (label === undefined) {
    label = new Label('http_response_status_code', status === NO_STATUS ? '' : String(status))
    labelOfStatus.set(status, label)
  }
  return label
}

module.exports = { seriesLabels, statusLabels }
