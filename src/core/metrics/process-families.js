'use strict'
// The metric families of the process: errors, event loop, garbage collection and memory. Some appear only under the
// names of prom-client's default metrics, or only in OpenTelemetry.

const { GC_BOUNDS } = require('../process/garbage-collection')
const { collections, countsByName, heapSpaces, loopTimes, unlabelled } = require('./points')

/** @import { Family } from './points' */

const ifKnown = (value) => (value === undefined ? [] : unlabelled(value))

/** @returns {Family[]} */
const delayFamilies = (keys, prefix, help, promClientPrefix = '') =>
  keys.map((key) => ({
    name: `${prefix}_${key}_seconds`,
    ...(promClientPrefix !== '' && { promClientName: `${promClientPrefix}_${key}_seconds` }),
    type: 'gauge',
    help: `${help}, ${key} over the last 30 to 60 seconds.`,
    points: ({ loopDelay }) => unlabelled(loopDelay[key]),
  }))

/** @type {[prefix: string, help: string, promClientPrefix: string]} */
const DELAY = [
  'nodejs_eventloop_delay',
  'Event-loop delay: how long a loop turn kept other events waiting',
  'nodejs_eventloop_lag',
]

/** @type {Family[]} */
const PROCESS_FAMILIES = [
  {
    name: 'spillway_process_errors_total',
    type: 'counter',
    help: 'Uncaught exceptions and unhandled rejections.',
    points: countsByName('processErrors', 'event'),
  },
  {
    name: 'spillway_process_warnings_total',
    type: 'counter',
    help: 'Warnings of the process, such as MaxListenersExceededWarning, by name.',
    points: countsByName('warnings', 'name'),
  },
  {
    name: 'spillway_start_time_seconds',
    type: 'gauge',
    help: 'When spillway began to measure in this process, in seconds since the epoch.',
    points: ({ startedAtSeconds }) => unlabelled(startedAtSeconds),
  },
  ...delayFamilies(['max', 'mean', 'p50', 'p90', 'p99'], ...DELAY),
  {
    name: 'nodejs_eventloop_utilization_ratio',
    type: 'gauge',
    help: 'Share of the last 30 to 60 seconds during which the event loop was busy.',
    points: ({ utilization }) => unlabelled(utilization.loopRatio),
  },
  {
    name: 'nodejs_eventloop_time_seconds_total',
    type: 'counter',
    help: 'Time the event loop was active and idle.',
    points: loopTimes,
  },
  {
    name: 'v8js_gc_duration_seconds',
    promClientName: 'nodejs_gc_duration_seconds',
    // The bounds are for OpenTelemetry, which shows this family as a histogram.
    type: 'summary',
    bounds: GC_BOUNDS,
    help: 'Garbage collection pauses.',
    points: collections,
  },
  {
    name: 'v8js_memory_heap_used_bytes',
    promClientName: 'nodejs_heap_space_size_used_bytes',
    type: 'gauge',
    help: 'Heap in use, by space.',
    points: heapSpaces('usedBytes'),
  },
  {
    name: 'spillway_heap_limit_bytes',
    type: 'gauge',
    help: 'Heap size at which V8 ends the process.',
    points: ({ memory }) => unlabelled(memory.heapLimitBytes),
  },
  {
    name: 'spillway_heap_after_gc_bytes',
    type: 'gauge',
    help: 'Heap in use after the last major collection.',
    points: ({ collections: { heapAfterBytes } }) => ifKnown(heapAfterBytes),
  },
  {
    name: 'spillway_heap_growing',
    type: 'gauge',
    help: 'Whether the heap after major collections grows as with a leak (1) or not (0); no value if unknown.',
    points: ({ heapTrend: { verdict } }) =>
      verdict === 'unknown' ? [] : unlabelled(verdict === 'growing' ? 1 : 0),
  },
  {
    name: 'spillway_heap_growth_bytes_per_second',
    type: 'gauge',
    help: 'Growth rate of the heap after major collections.',
    points: ({ heapTrend: { bytesPerSecond } }) => ifKnown(bytesPerSecond),
  },
  {
    name: 'spillway_heap_time_to_limit_seconds',
    type: 'gauge',
    help: 'Time until a growing heap reaches its limit; no value if the heap does not grow.',
    points: ({ heapTrend: { secondsToLimit } }) => ifKnown(secondsToLimit),
  },
  {
    name: 'spillway_memory_limit_bytes',
    type: 'gauge',
    help: 'Memory the process may use: the limit of its container, or the memory of the machine.',
    across: 'max',
    points: ({ memory }) => unlabelled(memory.limitBytes),
  },
]

/**
 * Families that OpenTelemetry's conventions add. Prometheus would get three more series for each heap space.
 *
 * @type {Family[]}
 */
const OPENTELEMETRY_FAMILIES = [
  ...delayFamilies(['min', 'stddev'], ...DELAY),
  {
    name: 'v8js_memory_heap_space_size_bytes',
    type: 'gauge',
    help: 'Size of each heap space.',
    points: heapSpaces('sizeBytes'),
  },
  {
    name: 'v8js_memory_heap_space_available_size_bytes',
    type: 'gauge',
    help: 'Free size of each heap space.',
    points: heapSpaces('availableBytes'),
  },
  {
    name: 'v8js_memory_heap_space_physical_size_bytes',
    type: 'gauge',
    help: 'Committed size of each heap space.',
    points: heapSpaces('physicalBytes'),
  },
  {
    name: 'spillway_rss_bytes',
    type: 'gauge',
    help: 'Resident memory of the process.',
    points: ({ memory }) => unlabelled(memory.rssBytes),
  },
]

/**
 * Names that every Prometheus client library exports. They are not registered in the user's registry, where
 * `collectDefaultMetrics()` would collide with them.
 *
 * @type {Family[]}
 */
const STANDARD_FAMILIES = [
  {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'User and system CPU time of the process.',
    points: ({ utilization }) => unlabelled(utilization.cpuUserSeconds + utilization.cpuSystemSeconds),
  },
  {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    help: 'Resident memory of the process.',
    points: ({ memory }) => unlabelled(memory.rssBytes),
  },
  {
    name: 'process_start_time_seconds',
    type: 'gauge',
    help: 'When the process started, in seconds since the epoch.',
    points: ({ processStartedAtSeconds }) => unlabelled(processStartedAtSeconds),
  },
]

/**
 * The lag families of prom-client's default metrics, under the same names but measured without a timer of 10 ms.
 *
 * @type {Family[]}
 */
const LAG_FAMILIES = [
  {
    name: 'nodejs_eventloop_lag_seconds',
    type: 'gauge',
    help: 'Event-loop lag, mean over the last 30 to 60 seconds.',
    points: ({ loopDelay }) => unlabelled(loopDelay.mean),
  },
  ...delayFamilies(
    ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'],
    'nodejs_eventloop_lag',
    'Event-loop lag'
  ),
]

module.exports = { LAG_FAMILIES, OPENTELEMETRY_FAMILIES, PROCESS_FAMILIES, STANDARD_FAMILIES }
