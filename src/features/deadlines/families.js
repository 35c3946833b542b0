'use strict'
// The metrics of the time in the proxy and of deadlines.

const { ADVISED_BOUNDS, countOf } = require('../../core/histogram/buckets')
const { NO_LABELS } = require('../../core/metrics/labels')

/**
 * @import { FeatureFamily } from '../../core/metrics/family'
 * @import { Deadlines } from './deadlines'
 * @typedef {ReturnType<Deadlines['sample']>} Sample
 */

/** An event that never happened has no series. @param {(sample: Sample) => number} read */
const count = (read) =>
  /** @param {Sample} sample */
  function* (sample) {
    const value = read(sample)
    if (value > 0) yield { labels: NO_LABELS, value }
  }

/** @param {Sample} sample */
function* ages({ values }) {
  if (values !== undefined && countOf(values, 0, ADVISED_BOUNDS) > 0)
    yield { labels: NO_LABELS, values, row: 0 }
}

/** @type {FeatureFamily<Sample>[]} */
const DEADLINE_FAMILIES = [
  {
    name: 'spillway_proxy_wait_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    help: 'Time from the timestamp of the proxy until a request arrived.',
    points: ages,
  },
  {
    name: 'spillway_proxy_seconds_total',
    type: 'counter',
    help: 'Total time that requests were in the proxy before they arrived.',
    points: count(({ totalMs }) => totalMs / 1000),
  },
  {
    name: 'spillway_implausible_request_starts_total',
    type: 'counter',
    help: 'Requests whose proxy timestamp was ignored as implausible.',
    points: count(({ implausible }) => implausible),
  },
  {
    name: 'spillway_requests_with_deadline_total',
    type: 'counter',
    help: 'Requests that came with a deadline.',
    points: count(({ withDeadline }) => withDeadline),
  },
  {
    name: 'spillway_forwarded_deadlines_total',
    type: 'counter',
    help: 'Outgoing calls with a header that says how much time remains until the deadline.',
    points: count(({ forwarded }) => forwarded),
  },
]

module.exports = { DEADLINE_FAMILIES }
