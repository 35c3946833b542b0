'use strict'
// The metric families of the limits that `limit()` sets. Without a limit they have no points. Their
// rejections are in spillway_shed_requests_total.

const { ADVISED_BOUNDS, countOf } = require('../../core/histogram/buckets')
const { nameLabels } = require('../../core/metrics/family')
const { Labels } = require('../../core/metrics/labels')

/**
 * @import { FeatureFamily } from '../../core/metrics/family'
 * @import { Bulkheads } from './bulkheads'
 */

/** @typedef {ReturnType<Bulkheads['sample']>} Sample */

/** @type {Map<string, Labels>} */
const labelsOfState = new Map()

/** @param {string} limit @param {'running' | 'queued'} state */
function stateLabels(limit, state) {
  const key = `${state} ${limit}`
  let labels = labelsOfState.get(key)
  if (labels === undefined) labelsOfState.set(key, (labels = new Labels({ limit, state })))
  return labels
}

/** @param {Sample} bulkheads */
function* requests(bulkheads) {
  for (const { name, running, queued } of bulkheads) {
    yield { labels: stateLabels(name, 'running'), value: running }
    yield { labels: stateLabels(name, 'queued'), value: queued }
  }
}

/** @param {Sample} bulkheads */
function* slots(bulkheads) {
  for (const { name, maxConcurrent } of bulkheads)
    yield { labels: nameLabels('limit', name), value: maxConcurrent }
}

/** @param {Sample} bulkheads */
function* waits(bulkheads) {
  for (const { name, waits: values, row } of bulkheads)
    if (countOf(values, row, ADVISED_BOUNDS) > 0) yield { labels: nameLabels('limit', name), values, row }
}

/** @type {FeatureFamily<Sample>[]} */
const BULKHEAD_FAMILIES = [
  {
    name: 'spillway_limit_requests',
    type: 'gauge',
    across: 'sum',
    help: 'Requests of a limit, by state: running or queued.',
    points: requests,
  },
  {
    name: 'spillway_limit_slots',
    type: 'gauge',
    across: 'sum',
    help: 'How many requests a limit lets run at the same time.',
    points: slots,
  },
  {
    name: 'spillway_limit_wait_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    help: 'Time that requests waited for a slot of a limit before they ran.',
    points: waits,
  },
]

module.exports = { BULKHEAD_FAMILIES }
