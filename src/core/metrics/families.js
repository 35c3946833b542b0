'use strict'
// The metric families of the core. All formats and registries are written from this list and the lists of the
// features. Names follow OpenTelemetry's translation for Prometheus. Any other name begins with `spillway_`
// or the user's `metrics.prefix`.

const { DEFAULTS } = require('../options/table')
const { ERROR_FAMILIES, PROCESS_ERROR_FAMILIES } = require('./families/errors')
const { GATE_FAMILIES } = require('./families/gate')
const { PART_FAMILIES } = require('./families/parts')
const {
  LAG_FAMILIES,
  OPENTELEMETRY_FAMILIES,
  PROCESS_FAMILIES: OF_PROCESS,
  STANDARD_FAMILIES,
} = require('./families/process')
const { DURATIONS, NATIVE_FAMILIES, REQUEST_FAMILIES } = require('./families/requests')

/** @import { Family } from './family' */

const { prefix: PREFIX } = DEFAULTS.metrics

/**
 * For OpenTelemetry, the second instance of a process leaves these families out.
 *
 * @type {readonly Family[]}
 */
const PROCESS_FAMILIES = [...PROCESS_ERROR_FAMILIES, ...OF_PROCESS]

/** @type {readonly Family[]} */
const FAMILIES = [
  ...REQUEST_FAMILIES,
  ...PART_FAMILIES,
  ...ERROR_FAMILIES,
  ...GATE_FAMILIES,
  ...PROCESS_FAMILIES,
]

/**
 * @param {import('../histogram/buckets').Bounds} bounds of the durations
 * @param {readonly Family[]} families
 */
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
  PROCESS_FAMILIES,
  STANDARD_FAMILIES,
  familiesWith,
  prefixed,
}
