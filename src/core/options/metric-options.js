'use strict'
// The defaults and rules of the options `metrics` and `ignore`. table.js joins them with the other options.

const { isFilter } = require('./path-filter')

/** @import { Rule } from './rules' */

/**
 * OpenTelemetry's bounds, and 1 and 2.5 ms. Without these two, every quantile of a route that answers in 1 ms
 * would be 5 ms.
 */
const BUCKETS = Object.freeze([
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
])
const MAX_BUCKETS = 100

const METRIC_DEFAULTS = Object.freeze({
  bodySizes: false,
  buckets: BUCKETS,
  defaults: false,
  labels: undefined,
  maxLabelValues: 100,
  prefix: 'spillway_',
})

/** @param {unknown} value */
const isFunction = (value) => typeof value === 'function'
/** @param {number} value @param {number} index @param {readonly number[]} all */
const isRising = (value, index, all) => index === 0 || value > all[index - 1]
/** @param {unknown} values */
const areBuckets = (values) =>
  Array.isArray(values) &&
  values.length >= 1 &&
  values.length <= MAX_BUCKETS &&
  values.every((value) => Number.isFinite(value) && value > 0) &&
  values.every(isRising)

/** Labels that the series have already, or that Prometheus reserves. */
const RESERVED_LABELS = [
  'http_request_method',
  'http_route',
  'http_response_status_code',
  'url_scheme',
  'error_type',
  'outcome',
  'le',
  'quantile',
  'worker',
]
const LABEL_NAME = /^(?!__)[a-zA-Z_]\w*$/
/** @param {unknown} labels */
const areLabels = (labels) =>
  typeof labels === 'object' &&
  labels !== null &&
  !Array.isArray(labels) &&
  Object.entries(labels).every(
    ([name, label]) => LABEL_NAME.test(name) && !RESERVED_LABELS.includes(name) && isFunction(label)
  )

/**
 * OpenTelemetry's semantic conventions and prom-client use the prefixes that the pattern excludes. Metrics of
 * ours could have the same names.
 *
 * @param {unknown} value
 */
const isPrefix = (value) =>
  typeof value === 'string' && /^[a-zA-Z]\w*_$/.test(value) && !/^(http|nodejs|v8js|process)_/.test(value)

const IGNORED_FROM = ['metrics', 'log', 'shed']
/** @param {unknown} value */
const areIgnoreRulesByName = (value) =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.entries(value).every(
    ([name, rules]) => IGNORED_FROM.includes(name) && (rules === undefined || isFilter(rules))
  )

/** @type {Record<string, Rule>} */
const METRIC_RULES = {
  'metrics.bodySizes': ['true or false', (value) => typeof value === 'boolean'],
  'metrics.buckets': [
    `an array of 1 to ${MAX_BUCKETS} rising bounds in seconds, such as [0.01, 0.1, 1]`,
    areBuckets,
  ],
  'metrics.defaults': ['true or false', (value) => typeof value === 'boolean'],
  'metrics.labels': [
    `an object that maps label names (letters, digits and underscores) to functions (req, res); reserved names are ${RESERVED_LABELS.join(', ')}`,
    areLabels,
  ],
  'metrics.maxLabelValues': [
    'a whole number from 1 to 10000',
    (/** @type {number} */ value) => Number.isInteger(value) && value >= 1 && value <= 10_000,
  ],
  'metrics.prefix': [
    "letters, digits and underscores, with an underscore at the end, such as 'shop_', and not beginning with http_, nodejs_, v8js_ or process_",
    isPrefix,
  ],
  ignore: [
    "a path such as '/healthz' (without *, ? and :), a RegExp, a function (req), an array, or an object of these for " +
      'metrics, log or shed',
    (value) => isFilter(value) || areIgnoreRulesByName(value),
  ],
}

module.exports = { METRIC_DEFAULTS, METRIC_RULES }
