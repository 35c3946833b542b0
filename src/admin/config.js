'use strict'
// The options in force, to be shown. What is not a plain value is shown as what it is and never as what it holds: a
// logger or a registry may hold anything.

const { DEFAULTS } = require('../options/options')

const isGroup = (name) => typeof DEFAULTS[name] === 'object'

/** @param {Readonly<Record<string, any>>} options */
function describeOptions(options) {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      isGroup(name) ? mapValues(value, describeValue) : describeValue(value),
    ])
  )
}

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))

function describeValue(value) {
  if (typeof value === 'function') return `[function ${value.name || '(anonymous)'}]`
  if (typeof value === 'object' && value !== null) return '[object]'
  // JSON has no word for these.
  if (value === undefined) return null
  return Number.isFinite(value) || typeof value !== 'number' ? value : String(value)
}

module.exports = { describeOptions }
