'use strict'
// The metric families of the limits. Without a limit they have no points. Their rejections are in
// spillway_shed_requests_total.

const { ADVISED_BOUNDS, countOf } = require('../../core/histogram/buckets')
const { nameLabels } = require('../../core/metrics/family')
const { Labels } = require('../../core/metrics/labels')

/**
 * @import { FeatureFamily } from '../../core/metrics/family'
 * @import { Bulkheads } from './bulkheads'
 */

/** @typedef {{ bulkheads: ReturnType<Bulkheads['sample']> }} Captured */

/** @type {Map<string, Labels>} */
const labelsOfState = new Map()

/** @param {string} limit @param {'running' | 'queued'} state */
function stateLabels(limit, state) {
  const key = `${state} ${limit}`
  let labels = labelsOfState.get(key)
  if (labels === undefined) labelsOfState.set(key, (labels = new Labels({ limit, state })))
  return labels
}

/** @param {Captured} captured */
function* requests({ bulkheads }) {
  for (const { name, running, queued } of bulkheads) {
    yield { labels: stateLabels(name, 'running'), value: running }
    yield { labels: stateLabels(name, 'queued'), value: queued }
  }
}

/** @param {Captured} captured */
function* slots({ bulkheads }) {
  for (const { name, maxConcurrent } of bulkheads)
    yield { labels: nameLabels('limit', name), value: maxConcurrent }
}

/** @param {Captured} captured */
function* waits({ bulkheads }) {
  for (const { name, waits: values, row } of bulkheads)
    if (countOf(values, row, ADVISED_BOUNDS) > 0) yield { labels: nameLabels('limit', name), values, row }
}

/** @type {FeatureFamily[]} */
const LIMIT_FAMILIES = [
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

module.exports = { LIMIT_FAMILIES }
