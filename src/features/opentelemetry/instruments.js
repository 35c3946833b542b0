'use strict'
// Describes the metric families as OpenTelemetry instruments. Metrics of the conventions keep their names and
// kinds; others begin with `spillway.`. A collector that translates the names for Prometheus yields the names
// of the families.

const { ValueType } = require('@opentelemetry/api')
const { OPENTELEMETRY_FAMILIES, PROCESS_FAMILIES, familiesWith } = require('../../core/metrics/families')

/**
 * @import { Family } from '../../core/metrics/family'
 * @import { Attributes } from './attributes'
 */

/**
 * @typedef {Parameters<Attributes['of']>[0] & { value: number, count: number, sum: number,
 *   values: Float64Array, row: number }} Point a point with the members of all types of families
 * @typedef {{ name: string, unit: string, description: string, kind: string, valueType: number,
 *   family: Family }} Instrument
 */

/**
 * Units by the ending of a name. An ending that only repeats the unit is replaced.
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
  const [name, unit, kind = family.type] = family.convention ?? ownNameOf(family.name)
  return describe(family, name, unit, kind)
}

/** @param {string} name */
function ownNameOf(name) {
  const stem = name.replace(/^spillway_/, '').replace(/_total$/, '')
  const [ending, unit, replacement] = UNITS.find(([each]) => each.test(stem)) ?? [/$/, '']
  return [`spillway.${replacement === undefined ? stem : stem.replace(ending, replacement)}`, unit]
}

/**
 * @param {Family} family
 * @param {string} name
 * @param {string} unit
 * @param {string} kind
 * @returns {Instrument}
 */
function describe(family, name, unit, kind) {
  const isWhole = kind !== 'gauge' && (unit === 'By' || unit.startsWith('{'))
  const valueType = isWhole ? ValueType.INT : ValueType.DOUBLE
  return { name, unit, kind, valueType, description: family.help, family }
}

/**
 * Returns two counters that replace a summary or a histogram. No SDK has summaries, and a histogram cannot be
 * observed.
 *
 * @param {Instrument} instrument
 */
function countAndSumOf({ family, name, unit }) {
  return [
    describe(family, `${name}.count`, '{request}', 'counter'),
    describe(family, `${name}.sum`, unit, 'counter'),
  ]
}

/** @param {Family} family */
const isOfProcess = (family) =>
  family.isOfProcess === true || PROCESS_FAMILIES.includes(family) || OPENTELEMETRY_FAMILIES.includes(family)

/**
 * @param {import('../../core/histogram/buckets').Bounds} bounds of the durations
 * @param {readonly Family[]} families
 */
const instrumentsWith = (bounds, families) =>
  Object.freeze([...familiesWith(bounds, families), ...OPENTELEMETRY_FAMILIES].map(instrumentOf))

module.exports = { countAndSumOf, instrumentsWith, isOfProcess }
