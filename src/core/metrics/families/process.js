'use strict'
// The metrics of the process: event loop, garbage collection and memory. Some appear only under the names of
// prom-client's default metrics, or only in OpenTelemetry.

const { countOf, sumOf } = require('../../histogram/buckets')
const { GC_BOUNDS } = require('../../process/garbage-collection')
const { ifKnown, nameLabels, unlabelled } = require('../family')
const { Labels } = require('../labels')

/**
 * @import { Capture } from '../capture'
 * @import { Family } from '../family'
 */

const LOOP_STATES = ['active', 'idle'].map((state) => new Labels({ nodejs_eventloop_state: state }))

/** @param {Capture} captured */
const loopTimes = ({ utilization }) => [
  { labels: LOOP_STATES[0], value: utilization.loopActiveSeconds },
  { labels: LOOP_STATES[1], value: utilization.loopIdleSeconds },
]

/** @param {Capture} captured */
function* collections({ collections: { kinds, buckets, bounds } }) {
  for (let row = 0; row < kinds.length; row++) {
    const count = countOf(buckets, row, bounds)
    if (count === 0) continue
    const sum = sumOf(buckets, row, bounds)
    yield { labels: nameLabels('v8js_gc_type', kinds[row]), count, sum, values: buckets, row }
  }
}

/** @param {'usedBytes' | 'sizeBytes' | 'availableBytes' | 'physicalBytes'} key */
const heapSpaces = (key) =>
  /** @param {Capture} captured */
  function* ({ memory }) {
    for (const space of memory.spaces) {
      if (space.sizeBytes > 0)
        yield { labels: nameLabels('v8js_heap_space_name', space.name), value: space[key] }
    }
  }

/**
 * @param {(keyof Capture['loopDelay'])[]} keys
 * @param {string} prefix
 * @param {string} help
 * @returns {Family[]}
 */
const delayFamilies = (keys, prefix, help, promClientPrefix = '') =>
  keys.map((key) => ({
    name: `${prefix}_${key}_seconds`,
    ...(promClientPrefix !== '' && { promClientName: `${promClientPrefix}_${key}_seconds` }),
    type: 'gauge',
    convention: [`nodejs.eventloop.delay.${key}`, 's'],
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
    name: 'spillway_start_time_seconds',
    type: 'gauge',
    help: 'When spillway began to measure in this process, in seconds since the epoch.',
    points: ({ startedAtSeconds }) => unlabelled(startedAtSeconds),
  },
  ...delayFamilies(['max', 'mean', 'p50', 'p90', 'p99'], ...DELAY),
  {
    name: 'nodejs_eventloop_utilization_ratio',
    type: 'gauge',
    convention: ['nodejs.eventloop.utilization', '1'],
    help: 'Share of the last 30 to 60 seconds during which the event loop was busy.',
    points: ({ utilization }) => unlabelled(utilization.loopRatio),
  },
  {
    name: 'nodejs_eventloop_time_seconds_total',
    type: 'counter',
    convention: ['nodejs.eventloop.time', 's'],
    help: 'Time the event loop was active and idle.',
    points: loopTimes,
  },
  {
    name: 'v8js_gc_duration_seconds',
    promClientName: 'nodejs_gc_duration_seconds',
    // The bounds are for OpenTelemetry, which shows this family as a histogram.
    type: 'summary',
    bounds: GC_BOUNDS,
    convention: ['v8js.gc.duration', 's', 'histogram'],
    help: 'Garbage collection pauses.',
    points: collections,
  },
  {
    name: 'v8js_memory_heap_used_bytes',
    promClientName: 'nodejs_heap_space_size_used_bytes',
    type: 'gauge',
    convention: ['v8js.memory.heap.used', 'By', 'upDownCounter'],
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
    convention: ['v8js.memory.heap.space.size', 'By', 'upDownCounter'],
    help: 'Size of each heap space.',
    points: heapSpaces('sizeBytes'),
  },
  {
    name: 'v8js_memory_heap_space_available_size_bytes',
    type: 'gauge',
    convention: ['v8js.memory.heap.space.available_size', 'By', 'upDownCounter'],
    help: 'Free size of each heap space.',
    points: heapSpaces('availableBytes'),
  },
  {
    name: 'v8js_memory_heap_space_physical_size_bytes',
    type: 'gauge',
    convention: ['v8js.memory.heap.space.physical_size', 'By', 'upDownCounter'],
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
 * The lag families of prom-client's default metrics, under the same names but measured without a timer of 10
 * ms.
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
