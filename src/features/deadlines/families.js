'use strict'
// The metrics of the time in the proxy and of deadlines.

const { ADVISED_BOUNDS, countOf } = require('../../core/histogram/buckets')
const { NO_LABELS } = require('../../core/metrics/labels')

/**
 * @import { Deadlines } from './deadlines'
 * @typedef {{ deadlines: ReturnType<Deadlines['sample']> }} Captured
 */

/** An event that never happened has no series. @param {(sample: Captured['deadlines']) => number} read */
const count = (read) =>
  /** @param {Captured} captured */
  function* ({ deadlines }) {
    const value = read(deadlines)
    if (value > 0) yield { labels: NO_LABELS, value }
  }

/** @param {Captured} captured */
function* ages({ deadlines: { values } }) {
  if (values !== undefined && countOf(values, 0, ADVISED_BOUNDS) > 0)
    yield { labels: NO_LABELS, values, row: 0 }
}

/** @type {import('../../core/metrics/family').FeatureFamily[]} */
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
