'use strict'
// The metric families, as data: name, type, help, and where the points of an instant come from. Names follow
// OpenTelemetry's Prometheus translation; what it does not name begins with `spillway_`. Text and registries are
// written from this one list.

const { REQUEST_BYTES, RESPONSE_BYTES } = require('../recording/route-series')
const {
  collections,
  counted,
  durations,
  errors,
  firstBytes,
  inFlight,
  loopTimes,
  named,
  one,
  outcomes,
  overloads,
  queueDelays,
  shedCounts,
  spaces,
  streams,
} = require('./points')

const delays = (prefix, help) =>
  ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map((key) => ({
    name: `${prefix}_${key}_seconds`,
    type: 'gauge',
    help: `${help}, ${key} over the last half minute to minute.`,
    points: ({ loopDelay }) => one(loopDelay[key]),
  }))

const FAMILIES = [
  {
    name: 'http_server_request_duration_seconds',
    type: 'histogram',
    help: 'Duration of HTTP server requests, streams apart; no status where the client left before one was sent.',
    points: durations,
  },
  {
    name: 'http_server_active_requests',
    type: 'gauge',
    help: 'HTTP server requests in flight.',
    points: inFlight,
  },
  {
    name: 'spillway_requests_total',
    type: 'counter',
    help: 'Requests by how they ended: completed, errored, aborted by the client, upgraded, timedOut.',
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
    points: shedCounts('shed'),
  },
  {
    name: 'spillway_would_shed_requests_total',
    type: 'counter',
    help: 'Requests that mode observe would have turned away.',
    points: shedCounts('wouldShed'),
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
    points: ({ admission }) => one(admission.abandoned),
  },
  {
    name: 'spillway_queue_length',
    type: 'gauge',
    help: 'Requests waiting to be let in.',
    points: ({ admission }) => one(admission.waiting),
  },
  {
    name: 'spillway_queue_delay_seconds',
    type: 'histogram',
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
    name: 'spillway_routes_folded_total',
    type: 'counter',
    help: 'Requests whose route label was folded into one, because routes.max was reached.',
    points: ({ folded }) => one(folded),
  },
  {
    name: 'spillway_process_errors_total',
    type: 'counter',
    help: 'Exceptions and rejections that nobody caught.',
    points: named('processErrors', 'event'),
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
  ...delays('nodejs_eventloop_delay', 'Event-loop delay: how long a turn kept the loop from its events'),
  {
    name: 'nodejs_eventloop_utilization_ratio',
    type: 'gauge',
    help: 'Share of the last half minute to minute the event loop was busy.',
    points: ({ utilization }) => one(utilization.loopRatio),
  },
  {
    name: 'nodejs_eventloop_time_seconds_total',
    type: 'counter',
    help: 'Time the event loop was active and idle.',
    points: loopTimes,
  },
  {
    name: 'v8js_gc_duration_seconds',
    type: 'histogram',
    help: 'Garbage collection pauses.',
    points: collections,
  },
  {
    name: 'v8js_memory_heap_used_bytes',
    type: 'gauge',
    help: 'Heap in use, by space.',
    points: spaces('usedBytes'),
  },
  {
    name: 'v8js_memory_heap_space_size_bytes',
    type: 'gauge',
    help: 'Size of each heap space.',
    points: spaces('sizeBytes'),
  },
  {
    name: 'v8js_memory_heap_space_available_size_bytes',
    type: 'gauge',
    help: 'Free size of each heap space.',
    points: spaces('availableBytes'),
  },
  {
    name: 'v8js_memory_heap_space_physical_size_bytes',
    type: 'gauge',
    help: 'Committed size of each heap space.',
    points: spaces('physicalBytes'),
  },
  {
    name: 'spillway_heap_limit_bytes',
    type: 'gauge',
    help: 'The size at which V8 gives up.',
    points: ({ memory }) => one(memory.heapLimitBytes),
  },
  {
    name: 'spillway_heap_after_gc_bytes',
    type: 'gauge',
    help: 'Heap in use after the last major collection.',
    points: ({ collections: { heapAfterBytes } }) =>
      heapAfterBytes === undefined ? [] : one(heapAfterBytes),
  },
  {
    name: 'spillway_rss_bytes',
    type: 'gauge',
    help: 'Resident memory of the process.',
    points: ({ memory }) => one(memory.rssBytes),
  },
  {
    name: 'spillway_memory_limit_bytes',
    type: 'gauge',
    help: 'Memory the process may use: the limit of its container, or the machine.',
    points: ({ memory }) => one(memory.limitBytes),
  },
]

/** The lag families of prom-client's default metrics, fed from the turn clock: the same names, no 10 ms timer. */
const LAG_FAMILIES = [
  {
    name: 'nodejs_eventloop_lag_seconds',
    type: 'gauge',
    help: 'Event-loop lag, mean over the last half minute to minute.',
    points: ({ loopDelay }) => one(loopDelay.mean),
  },
  ...delays('nodejs_eventloop_lag', 'Event-loop lag'),
]

module.exports = { FAMILIES, LAG_FAMILIES }
