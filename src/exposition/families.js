'use strict'
// The metric families, as data: name, type, help, and the points of an instant. Names follow OpenTelemetry's
// Prometheus translation; what it does not name begins with `spillway_`. Text and registries are written from this
// one list. A point is `{ labels, value }`, or for a histogram `{ labels, values, row }`, for a summary
// `{ labels, count, sum }`.

const { METHODS } = require('../recording/methods')
const { OUTCOMES } = require('../recording/outcome')
const { SCHEMES } = require('../recording/recorder')
const { NO_STATUS } = require('../recording/request')
const {
  COUNTERS,
  FIRST_BYTE_COUNT,
  FIRST_BYTE_SUM,
  REQUEST_BYTES,
  RESPONSE_BYTES,
} = require('../recording/route-series')
const { Labels, NO_LABELS } = require('./labels')

const labelled = (name, values) => values.map((value) => new Labels({ [name]: value }))
const one = (value) => [{ labels: NO_LABELS, value }]

// Labels of what never changes are made once a process, those of a series once a series.
const LOOP_STATES = labelled('nodejs_eventloop_state', ['active', 'idle'])
const IN_FLIGHT = METHODS.flatMap((method) =>
  SCHEMES.map((scheme) => new Labels({ http_request_method: method, url_scheme: scheme }))
)
const labelsOfSeries = new WeakMap()
const labelsOfStatus = new WeakMap()
const labelsOfName = new Map()

function seriesLabels(series) {
  let labels = labelsOfSeries.get(series)
  if (labels === undefined) {
    const own = { http_request_method: series.method, http_route: series.route }
    const byOutcome = OUTCOMES.map((outcome) => new Labels({ ...own, outcome }))
    labels = { own: new Labels(own), byOutcome }
    labelsOfSeries.set(series, labels)
  }
  return labels
}

function statusLabels(series, status) {
  let labels = labelsOfStatus.get(status)
  if (labels === undefined) {
    labels = new Labels({
      http_request_method: series.method,
      http_route: series.route,
      http_response_status_code: status.status === NO_STATUS ? '' : String(status.status),
    })
    labelsOfStatus.set(status, labels)
  }
  return labels
}

function nameLabels(label, value) {
  const key = `${label} ${value}`
  let labels = labelsOfName.get(key)
  if (labels === undefined) labelsOfName.set(key, (labels = new Labels({ [label]: value })))
  return labels
}

function* durations({ series, durations: values }) {
  for (const { of, statuses } of series) {
    for (let i = 0; i < statuses; i++) {
      const status = of.statuses[i]
      yield { labels: statusLabels(of, status), values, row: status.row }
    }
  }
}

function* streams({ series, streams: values }) {
  for (const { of, streamRow } of series) {
    if (streamRow !== undefined) yield { labels: seriesLabels(of).own, values, row: streamRow }
  }
}

function* outcomes({ series, counters }) {
  for (const { of, row } of series) {
    const labels = seriesLabels(of).byOutcome
    for (let i = 0; i < OUTCOMES.length; i++) {
      yield { labels: labels[i], value: counters[row * COUNTERS + i] }
    }
  }
}

const counted = (column) =>
  function* ({ series, counters }) {
    for (const { of, row } of series) {
      yield { labels: seriesLabels(of).own, value: counters[row * COUNTERS + column] }
    }
  }

function* firstBytes({ series, counters }) {
  for (const { of, row } of series) {
    const start = row * COUNTERS
    yield {
      labels: seriesLabels(of).own,
      count: counters[start + FIRST_BYTE_COUNT],
      sum: counters[start + FIRST_BYTE_SUM],
    }
  }
}

/** A method is listed from its first request on, then always, so that a gauge falls to 0 and does not vanish. */
function* inFlight({ series, inFlight: counts }) {
  const seen = new Set(series.map(({ of }) => of.method))
  for (let i = 0; i < counts.length; i++) {
    const labels = IN_FLIGHT[i]
    if (counts[i] > 0 || seen.has(labels.pairs.http_request_method)) yield { labels, value: counts[i] }
  }
}

function* collections({ collections: { kinds, buckets } }) {
  for (let row = 0; row < kinds.length; row++) {
    yield { labels: nameLabels('v8js_gc_type', kinds[row]), values: buckets, row }
  }
}

const spaces = (key) =>
  function* ({ memory }) {
    for (const space of memory.spaces) {
      yield { labels: nameLabels('v8js_heap_space_name', space.name), value: space[key] }
    }
  }

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
    help: 'Requests by how they ended: completed, errored, aborted by the client, upgraded.',
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
    name: 'spillway_routes_folded_total',
    type: 'counter',
    help: 'Requests whose route label was folded into one, because routes.max was reached.',
    points: ({ folded }) => one(folded),
  },
  {
    name: 'spillway_internal_errors_total',
    type: 'counter',
    help: 'Failures inside spillway or a callback it was given, which it survived, by place.',
    points: ({ faults }) => faults.map(([place, value]) => ({ labels: nameLabels('place', place), value })),
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
    points: ({ utilization }) => [
      { labels: LOOP_STATES[0], value: utilization.loopActiveSeconds },
      { labels: LOOP_STATES[1], value: utilization.loopIdleSeconds },
    ],
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
