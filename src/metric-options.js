'use strict'
// The option that says of which requests is measured, `ignore`: its rule, for option-table.js to list with all others.

const { isRegExp } = require('node:util/types')

const isFunction = (value) => typeof value === 'function'

const IGNORED_FROM = ['metrics', 'log', 'shed']
// A star would look like a pattern, and match nothing.
const isPath = (value) => typeof value === 'string' && /^\/[!-~]*$/.test(value) && !/[?#*]/.test(value)
const isIgnoreRule = (value) => isPath(value) || isRegExp(value) || isFunction(value)
const areIgnoreRules = (value) => (Array.isArray(value) ? value.every(isIgnoreRule) : isIgnoreRule(value))
const areIgnoreRulesByPart = (value) =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.entries(value).every(
    ([part, rules]) => IGNORED_FROM.includes(part) && (rules === undefined || areIgnoreRules(rules))
  )

const METRIC_RULES = {
  ignore: [
    "a path such as '/healthz' (without ? or *), a RegExp, a function (req), an array of these, or an object with any of " +
      'these for metrics, log or shed',
    (value) => areIgnoreRules(value) || areIgnoreRulesByPart(value),
  ],
}

module.exports = { METRIC_RULES }
