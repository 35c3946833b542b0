'use strict'
// Describes the metric families as OpenTelemetry instruments. Metrics of the conventions keep their names and kinds; others begin
// with `spillway.`. A collector that translates the names for Prometheus yields the names of the families.

const { ValueType } = require('@opentelemetry/api')
const { OPENTELEMETRY_FAMILIES, familiesWith } = require('../../core/metrics/families')
const { PROCESS_FAMILIES } = require('../../core/metrics/process-families')

/** @import { Family } from '../../core/metrics/points' */
/**
 * @typedef {{ name: string, unit: string, description: string, kind: string, valueType: number, family: Family }} Instrument
 */

const CONVENTIONS = {
  http_server_request_duration_seconds: ['http.server.request.duration', 's'],
  http_client_request_duration_seconds: ['http.client.request.duration', 's'],
  db_client_connection_count: ['db.client.connection.count', '{connection}', 'upDownCounter'],
  db_client_connection_max: ['db.client.connection.max', '{connection}', 'upDownCounter'],
  db_client_connection_pending_requests: [
    'db.client.connection.pending_requests',
    '{request}',
    'upDownCounter',
  ],
  db_client_connection_timeouts_total: ['db.client.connection.timeouts', '{timeout}', 'counter'],
  db_client_connection_wait_time_seconds: ['db.client.connection.wait_time', 's'],
  db_client_connection_use_time_seconds: ['db.client.connection.use_time', 's'],
  http_server_active_requests: ['http.server.active_requests', '{request}', 'upDownCounter'],
  ...Object.fromEntries(
    ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map((key) => [
      `nodejs_eventloop_delay_${key}_seconds`,
      [`nodejs.eventloop.delay.${key}`, 's'],
    ])
  ),
  nodejs_eventloop_utilization_ratio: ['nodejs.eventloop.utilization', '1'],
  nodejs_eventloop_time_seconds_total: ['nodejs.eventloop.time', 's'],
  v8js_gc_duration_seconds: ['v8js.gc.duration', 's', 'histogram'],
  v8js_memory_heap_used_bytes: ['v8js.memory.heap.used', 'By', 'upDownCounter'],
  v8js_memory_heap_space_size_bytes: ['v8js.memory.heap.space.size', 'By', 'upDownCounter'],
  v8js_memory_heap_space_available_size_bytes: [
    'v8js.memory.heap.space.available_size',
    'By',
    'upDownCounter',
  ],
  v8js_memory_heap_space_physical_size_bytes: ['v8js.memory.heap.space.physical_size', 'By', 'upDownCounter'],
}

/**
 * The unit by the ending of a name. An ending that only repeats the unit is replaced.
 *
 * @type {[ending: RegExp, unit: string, replacement?: string][]}
 */
const UNITS = [
  [/_seconds$/, 's', ''],
  [/_bytes_per_second$/, 'By/s'],
  [/_bytes$/, 'By'],
  [/(requests|routes_folded|labels_folded|queue_length|concurrency_limit)$/, '{request}'],
  [/errors$/, '{error}'],
  [/warnings$/, '{warning}'],
]

/** @param {Family} family @returns {Instrument} */
function instrumentOf(family) {
  const [name, unit, kind = family.type] = CONVENTIONS[family.name] ?? ownNameOf(family.name)
  return describe(family, name, unit, kind)
}

function ownNameOf(name) {
  const stem = name.replace(/^spillway_/, '').replace(/_total$/, '')
  const [ending, unit, replacement] = UNITS.find(([each]) => each.test(stem)) ?? [/$/, '']
  return [`spillway.${replacement === undefined ? stem : stem.replace(ending, replacement)}`, unit]
}

/** @param {Family} family @returns {Instrument} */
function describe(family, name, unit, kind) {
  const isWhole = kind !== 'gauge' && (unit === 'By' || unit.startsWith('{'))
  const valueType = isWhole ? ValueType.INT : ValueType.DOUBLE
  return { name, unit, kind, valueType, description: family.help, family }
}

/** Two counters that replace a summary, which no SDK has, or a histogram that cannot be observed. @param {Instrument} instrument */
function countAndSumOf({ family, name, unit }) {
  return [
    describe(family, `${name}.count`, '{request}', 'counter'),
    describe(family, `${name}.sum`, unit, 'counter'),
  ]
}

const isOfProcess = (family) =>
  family.isOfProcess === true || PROCESS_FAMILIES.includes(family) || OPENTELEMETRY_FAMILIES.includes(family)

/** @param {import('../../core/histogram/buckets').Bounds} bounds of the durations @param {readonly Family[]} families */
const instrumentsWith = (bounds, families) =>
  Object.freeze([...familiesWith(bounds, families), ...OPENTELEMETRY_FAMILIES].map(instrumentOf))

module.exports = { countAndSumOf, instrumentsWith, isOfProcess }
