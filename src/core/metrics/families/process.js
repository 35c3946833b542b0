'use strict'
// The metrics of the process: event loop, garbage collection and memory. Some appear only under the names of
// prom-client's default metrics, or only in OpenTelemetry.

const { ADVISED_BOUNDS, countOf } = require('../../histogram/buckets')
const { cpuLimitOnce } = require('../../process/cpu-limit')
const { conventional } = require('../conventions')
const { ifKnown, nameLabels, unlabelled } = require('../family')
const { Labels } = require('../labels')

/**
 * @import { Capture } from '../capture'
 * @import { Family } from '../family'
 */

const CPU_MODES = ['user', 'system'].map((mode) => new Labels({ cpu_mode: mode }))
const LOOP_STATES = ['active', 'idle'].map((state) => new Labels({ nodejs_eventloop_state: state }))

/** @param {Capture} captured */
const loopTimes = ({ utilization }) => [
  { labels: LOOP_STATES[0], value: utilization.loopActiveSeconds },
  { labels: LOOP_STATES[1], value: utilization.loopIdleSeconds },
]

/** @param {Capture} captured */
function* collections({ collections: { kinds, buckets, bounds } }) {
  for (let row = 0; row < kinds.length; row++) {
    if (countOf(buckets, row, bounds) > 0)
      yield { labels: nameLabels('v8js_gc_type', kinds[row]), values: buckets, row }
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

/** @param {Capture} captured */
const cpuTimes = ({ utilization: { cpuUserSeconds, cpuSystemSeconds } }) => [
  { labels: CPU_MODES[0], value: cpuUserSeconds },
  { labels: CPU_MODES[1], value: cpuSystemSeconds },
]

/** Shares of the CPUs that the process may use. @param {Capture} captured */
const cpuShares = ({ utilization: { cpuUserRatio, cpuSystemRatio } }) => [
  { labels: CPU_MODES[0], value: cpuUserRatio / cpuLimitOnce() },
  { labels: CPU_MODES[1], value: cpuSystemRatio / cpuLimitOnce() },
]

/**
 * The trend that reaches its limit first: of the heap, or of memory outside it. Without growth, that of the
 * heap.
 *
 * @param {Capture} captured
 */
function trendOf({ heapTrend, externalTrend }) {
  if (externalTrend.verdict !== 'growing') return heapTrend
  return Number(heapTrend.secondsToLimit) < Number(externalTrend.secondsToLimit) ? heapTrend : externalTrend
}

/** Reads the active resources, but not for snapshots: reading takes 1 ms with 10 000 connections. */
function* activeResources() {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1)
  for (const [type, value] of counts) yield { labels: nameLabels('v8js_resource_type', type), value }
}

const DELAYS = /** @type {const} */ (['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'])

/**
 * @param {(key: string) => Pick<Family, 'name' | 'type' | 'convention' | 'promClientName'>} named
 * @param {string} help
 * @returns {Family[]}
 */
const delayFamilies = (named, help) =>
  DELAYS.map((key) => ({
    ...named(key),
    help: `${help}, ${key} over the last 30 to 60 seconds.`,
    points: ({ loopDelay }) => unlabelled(loopDelay[key]),
  }))

/** @param {string} key */
const lagName = (key) => `nodejs_eventloop_lag_${key}_seconds`

const CPU_UTILIZATION = {
  ...conventional('process.cpu.utilization'),
  help: 'CPU time over the last 30 to 60 seconds, as a share of the CPUs that the process may use.',
  points: cpuShares,
}

/** @type {Family[]} */
const PROCESS_FAMILIES = [
  {
    name: 'spillway_start_time_seconds',
    type: 'gauge',
    help: 'When spillway began to measure in this process, in seconds since the epoch.',
    points: ({ startedAtSeconds }) => unlabelled(startedAtSeconds),
  },
  ...delayFamilies(
    (key) => ({ ...conventional(`nodejs.eventloop.delay.${key}`), promClientName: lagName(key) }),
    'Event-loop delay: how long a loop turn kept other events waiting'
  ),
  {
    ...conventional('nodejs.eventloop.utilization'),
    help: 'Share of the last 30 to 60 seconds during which the event loop was busy.',
    points: ({ utilization }) => unlabelled(utilization.loopRatio),
  },
  {
    ...conventional('nodejs.eventloop.time'),
    help: 'Time the event loop was active and idle.',
    points: loopTimes,
  },
  {
    ...conventional('v8js.gc.duration'),
    promClientName: 'nodejs_gc_duration_seconds',
    bounds: ADVISED_BOUNDS,
    help: 'Garbage collection pauses.',
    points: collections,
  },
  {
    ...conventional('v8js.memory.heap.used'),
    promClientName: 'nodejs_heap_space_size_used_bytes',
    help: 'Heap in use, by space.',
    points: heapSpaces('usedBytes'),
  },
  {
    ...conventional('v8js.resource.active'),
    promClientName: 'nodejs_active_resources',
    across: 'sum',
    help: 'Resources that keep the event loop alive, by type.',
    points: activeResources,
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
    help: 'Whether the heap after major collections, or memory outside it, grows as with a leak (1) or not (0); no value if unknown.',
    points(captured) {
      const { verdict } = trendOf(captured)
      return verdict === 'unknown' ? [] : unlabelled(verdict === 'growing' ? 1 : 0)
    },
  },
  {
    name: 'spillway_heap_growth_bytes_per_second',
    type: 'gauge',
    help: 'Growth rate of the heap after major collections, or of memory outside it if that reaches its limit first.',
    points: (captured) => ifKnown(trendOf(captured).bytesPerSecond),
  },
  {
    name: 'spillway_heap_time_to_limit_seconds',
    type: 'gauge',
    help: 'Time until a growing heap, or growing memory outside it, reaches its limit; no value if neither grows.',
    points: (captured) => ifKnown(trendOf(captured).secondsToLimit),
  },
  {
    name: 'spillway_external_memory_bytes',
    type: 'gauge',
    help: 'Memory outside the heap, such as that of Buffers and ArrayBuffers.',
    points: ({ memory }) => unlabelled(memory.externalBytes),
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
 * Families that only OpenTelemetry shows. In Prometheus the heap would be three more series for each space.
 * In Prometheus, CPU time and memory have the names that every client library of Prometheus exports.
 *
 * @type {Family[]}
 */
const OPENTELEMETRY_FAMILIES = [
  {
    ...conventional('v8js.memory.heap.space.size'),
    help: 'Size of each heap space.',
    points: heapSpaces('sizeBytes'),
  },
  {
    ...conventional('v8js.memory.heap.space.available_size'),
    help: 'Free size of each heap space.',
    points: heapSpaces('availableBytes'),
  },
  {
    ...conventional('v8js.memory.heap.space.physical_size'),
    help: 'Committed size of each heap space.',
    points: heapSpaces('physicalBytes'),
  },
  {
    ...conventional('process.cpu.time'),
    help: 'CPU time of the process, by mode.',
    points: cpuTimes,
  },
  CPU_UTILIZATION,
  {
    ...conventional('process.memory.usage'),
    help: 'Resident memory of the process.',
    points: ({ memory }) => unlabelled(memory.rssBytes),
  },
]

/**
 * Figures of the whole process, most of them under names that every client library of Prometheus exports.
 * They are not registered in the user's registry, where `collectDefaultMetrics()` would collide with them.
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
  CPU_UTILIZATION,
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
  ...delayFamilies((key) => ({ name: lagName(key), type: 'gauge' }), 'Event-loop lag'),
]

module.exports = { LAG_FAMILIES, OPENTELEMETRY_FAMILIES, PROCESS_FAMILIES, STANDARD_FAMILIES }
