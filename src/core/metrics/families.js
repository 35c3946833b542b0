'use strict'
// The metric families as data: name, type, help text, and the function that yields the points of a capture. All formats
// and registries are written from this list and the features' own. Names follow OpenTelemetry's translation for Prometheus. Any other
// name begins with `spillway_` or the user's `metrics.prefix`.

const { ADVISED_BOUNDS, boundsOf } = require('../histogram/buckets')
const { DEFAULTS } = require('../options/table')
const { REQUEST_BYTES, RESPONSE_BYTES } = require('../request/route-series')
const {
  totalByMethod,
  durations,
  errors,
  firstBytes,
  inFlight,
  countsByName,
  natives,
  outcomes,
  overloads,
  queueDelays,
  shed,
  streams,
  unlabelled,
  wouldShed,
} = require('./points')
const { handlerTimes, parts } = require('./part-points')
const {
  LAG_FAMILIES,
  OPENTELEMETRY_FAMILIES,
  PROCESS_FAMILIES,
  STANDARD_FAMILIES,
} = require('./process-families')

/** @import { Family } from './points' */

const { prefix: PREFIX, buckets: BUCKETS } = DEFAULTS.metrics
const DURATIONS = 'http_server_request_duration_seconds'

/** @type {Family[]} */
const FAMILIES = [
  {
    name: DURATIONS,
    type: 'histogram',
    bounds: boundsOf(BUCKETS),
    help: 'Duration of HTTP server requests without streams; the status is empty if the client disconnected before a response.',
    points: durations,
  },
  {
    name: 'http_server_active_requests',
    type: 'gauge',
    help: 'HTTP server requests in flight.',
    across: 'sum',
    points: inFlight,
  },
  {
    name: 'spillway_requests_total',
    type: 'counter',
    help: 'Requests by outcome: completed, errored, aborted by the client, upgraded, timed_out.',
    points: outcomes,
  },
  {
    name: 'spillway_response_first_byte_seconds',
    type: 'summary',
    help: 'Time until the response head was written.',
    points: firstBytes,
  },
  {
    name: 'spillway_request_part_seconds_total',
    type: 'counter',
    help: 'Where the time of requests went: queue, run, loop_busy, gc, wait and body sum to their durations; unread came before.',
    points: parts,
  },
  {
    name: 'spillway_route_loop_seconds_total',
    type: 'counter',
    help: 'Time that handlers ran on the event loop before they first returned, by route.',
    points: handlerTimes,
  },
  {
    name: 'spillway_request_bytes_total',
    type: 'counter',
    help: 'Bytes received for requests, including heads.',
    points: totalByMethod(REQUEST_BYTES),
  },
  {
    name: 'spillway_response_bytes_total',
    type: 'counter',
    help: 'Bytes sent for responses, including heads.',
    points: totalByMethod(RESPONSE_BYTES),
  },
  {
    name: 'spillway_stream_duration_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    help: 'Duration of event streams and other long responses, which the request durations exclude.',
    points: streams,
  },
  {
    name: 'spillway_errors_total',
    type: 'counter',
    help: 'Errors that reached the error handler, by route, response status and error type.',
    points: errors,
  },
  {
    name: 'spillway_shed_requests_total',
    type: 'counter',
    help: 'Requests rejected by load shedding, by reason and class; no other metric counts them.',
    points: shed,
  },
  {
    name: 'spillway_would_shed_requests_total',
    type: 'counter',
    help: 'Requests that load shedding would have rejected in mode adaptive, counted in mode observe.',
    points: wouldShed,
  },
  {
    name: 'spillway_admitted_requests_total',
    type: 'counter',
    help: 'Requests admitted.',
    points: ({ admission }) => unlabelled(admission.admitted),
  },
  {
    name: 'spillway_abandoned_requests_total',
    type: 'counter',
    help: 'Requests whose client disconnected while they were queued; they never ran.',
    points: ({ admission: { abandoned } }) => (abandoned > 0 ? unlabelled(abandoned) : []),
  },
  {
    name: 'spillway_queue_length',
    type: 'gauge',
    help: 'Requests in the queue.',
    across: 'sum',
    points: ({ admission }) => unlabelled(admission.queued),
  },
  {
    name: 'spillway_queue_delay_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    help: 'Time that admitted requests spent in the queue.',
    points: queueDelays,
  },
  {
    name: 'spillway_concurrency_limit',
    type: 'gauge',
    help: 'Requests that may be in flight now; no value if there is no limit.',
    points: ({ admission: { limit } }) => (Number.isFinite(limit) ? unlabelled(limit) : []),
  },
  {
    name: 'spillway_overload',
    type: 'gauge',
    help: 'How overloaded a resource is, from 0 to 1.',
    points: overloads,
  },
  {
    name: 'spillway_overloads_total',
    type: 'counter',
    help: 'Times the process began to reject requests after at least a second without a rejection.',
    points: ({ admission }) => unlabelled(admission.overloads),
  },
  {
    name: 'spillway_overloaded_seconds_total',
    type: 'counter',
    help: 'Time during which the process rejected requests.',
    points: ({ admission }) => unlabelled(admission.overloadedMs / 1000),
  },
  {
    name: 'spillway_routes_folded_total',
    type: 'counter',
    help: 'Requests counted under the shared route label because routes.max was reached.',
    points: ({ folded }) => (folded > 0 ? unlabelled(folded) : []),
  },
  {
    name: 'spillway_labels_folded_total',
    type: 'counter',
    help: 'Requests counted under the shared value of a custom label because the label has too many values, by label.',
    points: countsByName('labelsFolded', 'label'),
  },
  {
    name: 'spillway_client_errors_total',
    type: 'counter',
    help: 'Connection data that was not a valid HTTP request, by error code.',
    points: countsByName('clientErrors', 'code'),
  },
  {
    name: 'spillway_internal_errors_total',
    type: 'counter',
    help: 'Errors caught inside spillway or in callbacks of the application, by place.',
    points: countsByName('internalErrors', 'place'),
  },
  ...PROCESS_FAMILIES,
]

/**
 * Only protobuf can express native histograms. They need a family of their own: beside the classic series of each status, a
 * sum over the family would count every request twice.
 *
 * @type {Family[]}
 */
const NATIVE_FAMILIES = [
  {
    name: 'spillway_request_duration_seconds',
    type: 'native histogram',
    help: 'Duration of HTTP server requests of any status, without streams.',
    points: natives,
  },
]

/** @param {import('../histogram/buckets').Bounds} bounds of the durations @param {readonly Family[]} families */
const familiesWith = (bounds, families) =>
  families.map((family) => (family.name === DURATIONS ? { ...family, bounds } : family))

/** Replaces the `spillway_` prefix by the user's. @param {Family[]} families @param {string} prefix */
function prefixed(families, prefix) {
  if (prefix === PREFIX) return families
  return families.map((family) =>
    family.name.startsWith(PREFIX) ? { ...family, name: prefix + family.name.slice(PREFIX.length) } : family
  )
}

module.exports = {
  FAMILIES,
  LAG_FAMILIES,
  NATIVE_FAMILIES,
  OPENTELEMETRY_FAMILIES,
  STANDARD_FAMILIES,
  familiesWith,
  prefixed,
}
