'use strict'
// Makes the content of the page `/config`: the options that are in force. Only the kind of an object or
// function is shown, because a logger or a registry may contain secrets. An object of `fleet` is shown as a
// group, because it has only a name and a directory.

const { drainOrder } = require('../../core/lifecycle/drain-mode')
const { DEFAULTS } = require('../../core/options/options')

/** @import { ResolvedOptions } from '../../../index.js' */

/** @param {string} name @param {unknown} value */
const isGroup = (name, value) =>
  typeof (/** @type {Record<string, unknown>} */ (DEFAULTS)[name]) === 'object' ||
  (name === 'fleet' && Object(value) === value)

/** @param {ResolvedOptions} options @returns {Record<string, unknown>} */
function describeOptions(options) {
  // Drain options that are not set depend on where the process runs.
  const { mode, timeoutMs, delayMs } = drainOrder(options.drain, 'SIGTERM')
  const inForce = { ...options, drain: { mode, timeout: timeoutMs, delay: delayMs } }
  return Object.fromEntries(
    Object.entries(inForce).map(([name, value]) => [
      name,
      isGroup(name, value)
        ? mapValues(/** @type {Record<string, unknown>} */ (value), describeValue)
        : describeValue(value),
    ])
  )
}

/** @param {Record<string, unknown>} object @param {(value: unknown) => unknown} change */
const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))

/** @param {unknown} value */
function describeValue(value) {
  if (typeof value === 'function') return `[function ${value.name || '(anonymous)'}]`
  if (Array.isArray(value) && value.every(Number.isFinite)) return value.join(', ')
  if (typeof value === 'object' && value !== null) return '[object]'
  // JSON has neither undefined nor Infinity.
  if (value === undefined) return null
  return Number.isFinite(value) || typeof value !== 'number' ? value : String(value)
}

module.exports = { describeOptions }
