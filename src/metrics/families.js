'use strict'
// The metric families, as data: name, type, help, and where the points of an instant come from. Names follow
// OpenTelemetry's Prometheus translation; what it does not name begins with `spillway_`, or the user's `metrics.prefix`. Text
// and registries are written from this one list. Of a fleet counters are added up; a gauge is each worker's own (`worker`),
// unless it says by `across` how those of all are one number. What prom-client's default metrics say too has their name
// for it as its `double`, and is shown only where that is not.

const { ADVISED_BOUNDS, boundsOf } = require('../histograms/buckets')
const { DEFAULTS } = require('../options/table')
const { REQUEST_BYTES, RESPONSE_BYTES } = require('../requests/route-series')
const {
  counted,
  durations,
  errors,
  firstBytes,
  inFlight,
  named,
  natives,
  one,
  outcomes,
  overloads,
  queueDelays,
  shed,
  streams,
  wouldShed,
} = require('./points')
const {
  LAG_FAMILIES,
  OPENTELEMETRY_FAMILIES,
  PROCESS_FAMILIES,
  STANDARD_FAMILIES,
} = require('./process-families')

const { prefix: PREFIX, buckets: BUCKETS } = DEFAULTS.metrics
const DURATIONS = 'http_server_request_duration_seconds'

const FAMILIES = [
  {
    name: DURATIONS,
    type: 'histogram',
    bounds: boundsOf(BUCKETS),
    help: 'Duration of HTTP server requests, streams apart; no status where the client left before one was sent.',
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
    help: 'Requests by how they ended: completed, errored, aborted by the client, upgraded, timed_out.',
    points: outcomes,
  },
  {
    name: 'spillway_response_first_byte_seconds',
    type: 'summary',
    help: 'Time until the head of the answer was written.',
    points: firstBytes,
  },
  {
    name: 'spillway_request_bytes_total',
    type: 'counter',
    help: 'Bytes the connection received for requests, heads included.',
    points: counted(REQUEST_BYTES),
  },
  {
    name: 'spillway_response_bytes_total',
    type: 'counter',
    help: 'Bytes the connection sent for answers, heads included.',
    points: counted(RESPONSE_BYTES),
  },
  {
    name: 'spillway_stream_duration_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    help: 'Duration of event streams and other long bodies, which are kept out of the request durations.',
    points: streams,
  },
  {
    name: 'spillway_errors_total',
    type: 'counter',
    help: 'Errors that reached the error handler, by the route and status of the answer and the type of the error.',
    points: errors,
  },
  {
    name: 'spillway_shed_requests_total',
    type: 'counter',
    help: 'Requests turned away, by why and by class; they are in no other series.',
    points: shed,
  },
  {
    name: 'spillway_would_shed_requests_total',
    type: 'counter',
    help: 'Requests that mode observe would have turned away.',
    points: wouldShed,
  },
  {
    name: 'spillway_admitted_requests_total',
    type: 'counter',
    help: 'Requests let in.',
    points: ({ admission }) => one(admission.admitted),
  },
  {
    name: 'spillway_abandoned_requests_total',
    type: 'counter',
    help: 'Requests whose client left while they waited in the queue; they were never run.',
    points: ({ admission: { abandoned } }) => (abandoned > 0 ? one(abandoned) : []),
  },
  {
    name: 'spillway_queue_length',
    type: 'gauge',
    help: 'Requests waiting to be let in.',
    across: 'sum',
    points: ({ admission }) => one(admission.waiting),
  },
  {
    name: 'spillway_queue_delay_seconds',
    type: 'histogram',
    bounds: ADVISED_BOUNDS,
    help: 'How long requests waited that were let in from the queue.',
    points: queueDelays,
  },
  {
    name: 'spillway_concurrency_limit',
    type: 'gauge',
    help: 'How many requests may be in flight now; without a value there is no limit.',
    points: ({ admission: { limit } }) => (Number.isFinite(limit) ? one(limit) : []),
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
    help: 'How often the process began to turn requests away, after a second or more without.',
    points: ({ admission }) => one(admission.overloads),
  },
  {
    name: 'spillway_overloaded_seconds_total',
    type: 'counter',
    help: 'How long the process was turning requests away.',
    points: ({ admission }) => one(admission.overloadedMs / 1000),
  },
  {
    name: 'spillway_routes_folded_total',
    type: 'counter',
    help: 'Requests whose route label was folded into one, because routes.max was reached.',
    points: ({ folded }) => (folded > 0 ? one(folded) : []),
  },
  {
    name: 'spillway_labels_folded_total',
    type: 'counter',
    help: 'Requests whose value of one of your labels was folded into one, by that label.',
    points: named('labelsFolded', 'label'),
  },
  {
    name: 'spillway_client_errors_total',
    type: 'counter',
    help: 'What came on a connection and was no HTTP request, by the code of its error.',
    points: named('clientErrors', 'code'),
  },
  {
    name: 'spillway_internal_errors_total',
    type: 'counter',
    help: 'Failures inside spillway or a callback it was given, which it survived, by place.',
    points: named('faults', 'place'),
  },
  ...PROCESS_FAMILIES,
]

/**
 * Only protobuf can say these. They have a name of their own: beside the series of each status under one name, a sum would
 * be twice the truth.
 */
const NATIVE_FAMILIES = [
  {
    name: 'spillway_request_duration_seconds',
    type: 'native histogram',
    help: 'Duration of HTTP server requests of any status, streams apart.',
    points: natives,
  },
]

/** @param {import('../histograms/buckets').Bounds} bounds of the durations */
const familiesWith = (bounds) =>
  FAMILIES.map((family) => (family.name === DURATIONS ? { ...family, bounds } : family))

/** Ours under another prefix. @param {any[]} families @param {string} prefix */
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
