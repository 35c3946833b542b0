'use strict'
// The families of the process, as data like those of its requests: errors, release, event loop, garbage collection, memory.
// And those of them that are not everywhere: by names that prom-client has for them, or for OpenTelemetry alone.

const { GC_BOUNDS } = require('../signals/garbage-collection')
const { builds, collections, loopTimes, named, one, spaces } = require('./points')

const known = (value) => (value === undefined ? [] : one(value))

const delays = (keys, prefix, help, doubles) =>
  keys.map((key) => ({
    name: `${prefix}_${key}_seconds`,
    double: doubles && `${doubles}_${key}_seconds`,
    type: 'gauge',
    help: `${help}, ${key} over the last half minute to minute.`,
    points: ({ loopDelay }) => one(loopDelay[key]),
  }))

/** @type {[string, string, string]} */
const DELAY = [
  'nodejs_eventloop_delay',
  'Event-loop delay: how long a turn kept the loop from its events',
  'nodejs_eventloop_lag',
]

const PROCESS_FAMILIES = [
  {
    name: 'spillway_process_errors_total',
    type: 'counter',
    help: 'Exceptions and rejections that nobody caught.',
    points: named('processErrors', 'event'),
  },
  {
    name: 'spillway_build_info',
    type: 'gauge',
    help: 'Always 1; its labels say which release this process is.',
    points: builds,
  },
  {
    name: 'spillway_start_time_seconds',
    type: 'gauge',
    help: 'When this process began to measure, in seconds since the epoch.',
    points: ({ startedAtSeconds }) => one(startedAtSeconds),
  },
  ...delays(['max', 'mean', 'p50', 'p90', 'p99'], ...DELAY),
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
    double: 'nodejs_gc_duration_seconds',
    // To OpenTelemetry a histogram.
    type: 'summary',
    bounds: GC_BOUNDS,
    help: 'Garbage collection pauses.',
    points: collections,
  },
  {
    name: 'v8js_memory_heap_used_bytes',
    double: 'nodejs_heap_space_size_used_bytes',
    type: 'gauge',
    help: 'Heap in use, by space.',
    points: spaces('usedBytes'),
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
    points: ({ collections: { heapAfterBytes } }) => known(heapAfterBytes),
  },
  {
    name: 'spillway_heap_growing',
    type: 'gauge',
    help: 'Whether the heap after major collections grows, as a leak does; without a value it is not known.',
    points: ({ heapTrend: { verdict } }) => (verdict === 'unknown' ? [] : one(verdict === 'growing' ? 1 : 0)),
  },
  {
    name: 'spillway_heap_growth_bytes_per_second',
    type: 'gauge',
    help: 'How fast the heap after major collections rises.',
    points: ({ heapTrend: { bytesPerSecond } }) => known(bytesPerSecond),
  },
  {
    name: 'spillway_heap_time_to_limit_seconds',
    type: 'gauge',
    help: 'When a heap that grows will be at its limit; without a value it does not grow.',
    points: ({ heapTrend: { secondsToLimit } }) => known(secondsToLimit),
  },
  {
    name: 'spillway_memory_limit_bytes',
    type: 'gauge',
    help: 'Memory the process may use: the limit of its container, or the machine.',
    across: 'max',
    points: ({ memory }) => one(memory.limitBytes),
  },
]

/** What its conventions have besides: in Prometheus three more series of each heap space and the like, which nobody looks at. */
const OPENTELEMETRY_FAMILIES = [
  ...delays(['min', 'stddev'], ...DELAY),
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
    name: 'spillway_rss_bytes',
    type: 'gauge',
    help: 'Resident memory of the process.',
    points: ({ memory }) => one(memory.rssBytes),
  },
]

/** Names that every library of Prometheus has. No registry is given them: `collectDefaultMetrics()` brings its own. */
const STANDARD_FAMILIES = [
  {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'CPU time of the process, of user and system.',
    points: ({ utilization }) => one(utilization.cpuUserSeconds + utilization.cpuSystemSeconds),
  },
  {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    help: 'Resident memory of the process.',
    points: ({ memory }) => one(memory.rssBytes),
  },
  {
    name: 'process_start_time_seconds',
    type: 'gauge',
    help: 'When the process started, in seconds since the epoch.',
    points: ({ processStartedAtSeconds }) => one(processStartedAtSeconds),
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
  ...delays(['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'], 'nodejs_eventloop_lag', 'Event-loop lag'),
]

module.exports = { LAG_FAMILIES, OPENTELEMETRY_FAMILIES, PROCESS_FAMILIES, STANDARD_FAMILIES }
