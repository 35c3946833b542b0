'use strict'
// Lists every option with its default and its rule. Groups are one level deep. `undefined` means the default. 0 never
// does: it means off if the rule says so, and is invalid otherwise.

const { MEMBER_RULES } = require('./member-options')
const { METRIC_DEFAULTS, METRIC_RULES } = require('./metric-options')
const {
  isText,
  isFunction,
  isWhole,
  isAbove0,
  BOOLEAN,
  TEXT,
  COUNT,
  LIMIT,
  SHARE,
  BYTES,
  isShareOrBytes,
  MILLISECONDS,
  TIMER_FROM_0,
  oneOf,
  isHeaderName,
  areHosts,
  isPathOrOff,
  SECRETS,
  areShowable,
  isLogger,
  LOGGER,
  isAccess,
  isClassify,
  isFleet,
  areProxies,
  areSteps,
  isByClass,
} = require('./rules')

/**
 * @import { MetricsRegistry } from '../../../index.js'
 * @import { Rule } from './rules'
 */

const DEFAULTS = Object.freeze({
  endpoints: Object.freeze({ metrics: '/metrics', live: '/livez', ready: '/readyz', allow: undefined }),
  routes: Object.freeze({
    max: 1000,
    unmatched: '(unmatched)',
    overflow: '(other)',
    label: undefined,
  }),
  latency: Object.freeze({ streamAfter: 10_000, nativeHistograms: false }),
  metrics: METRIC_DEFAULTS,
  ignore: undefined,
  shed: Object.freeze({
    /** @type {'adaptive' | 'threshold' | 'observe' | 'off'} */
    mode: 'adaptive',
    maxDelay: 1000,
    targetDelay: 40,
    /** @type {boolean | undefined} */
    proxy: undefined,
    maxConcurrent: undefined,
    maxEventLoopDelay: undefined,
    maxEventLoopUtilization: undefined,
    maxHeapUsedBytes: undefined,
    maxRssBytes: undefined,
    sampleInterval: 1000,
    retryAfter: 1,
    classify: undefined,
    key: undefined,
    shortage: undefined,
    maxAge: undefined,
    headers: undefined,
    respond: undefined,
    errorMode: 'respond',
  }),
  pressure: Object.freeze({ steps: undefined, degradeAt: undefined }),
  proxy: Object.freeze({ requestStart: undefined }),
  deadline: Object.freeze({
    header: undefined,
    default: undefined,
    max: undefined,
    of: undefined,
    forward: undefined,
  }),
  errors: Object.freeze({
    answer: true,
    timeout: undefined,
    /** @type {503 | 504} */
    timeoutStatus: 503,
    /** @type {'log' | 'logRequest' | 'drain'} */
    uncaught: 'log',
  }),
  health: Object.freeze({ manual: false, maxPressure: 0 }),
  balancer: Object.freeze({ orca: undefined }),
  drain: Object.freeze({
    /** @type {'production' | 'development' | undefined} */
    mode: undefined,
    timeout: undefined,
    delay: undefined,
  }),
  memory: Object.freeze({ recycleAt: undefined, recycleAfter: 30_000, minUptime: 60_000 }),
  fleet: undefined,
  log: Object.freeze({
    slowAfter: undefined,
    slowest: 0,
    access: false,
    headers: undefined,
    query: false,
  }),
  insight: Object.freeze({
    stalls: true,
    stallThreshold: 100,
    blockedAfter: 1000,
    hangAfter: 30_000,
    hangReport: undefined,
    exitAfter: 0,
    parts: true,
    outgoing: true,
    warnings: true,
    doctor: true,
  }),
  release: Object.freeze({ version: undefined, revision: undefined, file: undefined }),
  registry: undefined,
  logger: undefined,
})

/** @type {Record<string, Rule>} */
const RULES = {
  'endpoints.metrics': ["a path such as '/metrics', or false", isPathOrOff],
  'endpoints.live': ["a path such as '/livez', or false", isPathOrOff],
  'endpoints.ready': ["a path such as '/readyz', or false", isPathOrOff],
  'endpoints.allow': ['a function (req, endpoint) that returns true or false', isFunction],
  'routes.max': COUNT,
  'routes.unmatched': TEXT,
  'routes.overflow': TEXT,
  'routes.label': ['a function (req, res, template)', isFunction],
  'latency.streamAfter': MILLISECONDS,
  'latency.nativeHistograms': BOOLEAN,
  ...METRIC_RULES,
  'shed.mode': oneOf(['adaptive', 'threshold', 'observe', 'off']),
  'shed.maxDelay': MILLISECONDS,
  'shed.targetDelay': MILLISECONDS,
  'shed.proxy': BOOLEAN,
  'shed.maxConcurrent': COUNT,
  'shed.maxEventLoopDelay': LIMIT,
  'shed.maxEventLoopUtilization': SHARE,
  'shed.maxHeapUsedBytes': BYTES,
  'shed.maxRssBytes': BYTES,
  'shed.sampleInterval': MILLISECONDS,
  'shed.retryAfter': ['a whole number of seconds of at least 0', isWhole],
  'shed.classify': [
    'a function (req) that returns a class, or an object with header (a name), urgency or prefetch (true or false)',
    isClassify,
  ],
  'shed.key': ['a function (req) that returns a string or undefined', isFunction],
  'shed.shortage': ['a function that returns a number from 0 to 1', isFunction],
  'shed.maxAge': MILLISECONDS,
  'shed.headers': ['a function (req) that returns headers', isFunction],
  'shed.respond': ['a function (req, res, verdict)', isFunction],
  'shed.errorMode': oneOf(['respond', 'next']),
  'pressure.steps': ['a list of numbers above 0 and up to 1, such as [0.7, 0.9]', areSteps],
  'pressure.degradeAt': [
    'an object with critical, high, normal or low: each a number from 0 to 1, or false',
    isByClass,
  ],
  'proxy.requestStart': [
    "true for X-Request-Start or X-Queue-Start, false, or the name of a header such as 'x-request-start'",
    (value) => typeof value === 'boolean' || isHeaderName(value),
  ],
  'deadline.header': ["the name of a header such as 'x-request-timeout-ms'", isHeaderName],
  'deadline.default': MILLISECONDS,
  'deadline.max': MILLISECONDS,
  'deadline.of': ['a function (req) that returns the milliseconds left', isFunction],
  'deadline.forward': ["a list of hosts such as ['orders.internal', 'localhost:4000']", areHosts],
  'errors.answer': BOOLEAN,
  'errors.timeout': [
    'a number of milliseconds above 0, or a function (req, { route, priority }) that returns one',
    (value) => isFunction(value) || isAbove0(value),
  ],
  'errors.timeoutStatus': ['503 or 504', (value) => value === 503 || value === 504],
  'errors.uncaught': oneOf(['log', 'logRequest', 'drain']),
  'health.manual': BOOLEAN,
  'health.maxPressure': SHARE,
  'balancer.orca': [
    "a list of addresses such as ['127.0.0.1', '10.0.0.0/8'], or a function (req) that returns true or false",
    areProxies,
  ],
  'drain.mode': oneOf(['production', 'development']),
  'drain.timeout': TIMER_FROM_0,
  'drain.delay': TIMER_FROM_0,
  'memory.recycleAt': ['a whole number of bytes, or up to 1 a share of the limit (0 is off)', isShareOrBytes],
  'memory.recycleAfter': TIMER_FROM_0,
  'memory.minUptime': TIMER_FROM_0,
  fleet: [
    'true, false, or an object with a name (up to 32 letters, digits, dots, dashes) or a directory, or both',
    isFleet,
  ],
  'log.slowAfter': MILLISECONDS,
  'log.slowest': ['a whole number from 0 to 100', (value) => isWhole(value) && value <= 100],
  'log.access': [
    "true, false, or an object with fields(req, res), level(req, res) or ignore: a path such as '/healthz', a RegExp, a function (req, res), or an array of these",
    isAccess,
  ],
  'log.headers': [`an array of header names without ${SECRETS.join(', ')}`, areShowable],
  'log.query': BOOLEAN,
  'insight.stalls': ["true, false or 'always'", (value) => value === 'always' || typeof value === 'boolean'],
  'insight.stallThreshold': [
    'a number of milliseconds of at least 50',
    (/** @type {number} */ value) => Number.isFinite(value) && value >= 50,
  ],
  'insight.blockedAfter': [
    'a number of milliseconds of at least 500 (0 is off)',
    (/** @type {number} */ value) => Number.isFinite(value) && (value >= 500 || value === 0),
  ],
  'insight.hangAfter': [
    'a number of milliseconds of at least 1000 (0 is off)',
    (/** @type {number} */ value) => Number.isFinite(value) && (value >= 1000 || value === 0),
  ],
  'insight.hangReport': ['the path of a directory', isText],
  'insight.exitAfter': [
    'a number of milliseconds of at least 1000 (0 is off)',
    (/** @type {number} */ value) => Number.isFinite(value) && (value >= 1000 || value === 0),
  ],
  'insight.parts': BOOLEAN,
  'insight.doctor': BOOLEAN,
  'insight.outgoing': BOOLEAN,
  'insight.warnings': BOOLEAN,
  'release.version': TEXT,
  'release.revision': TEXT,
  'release.file': ['the path of a file', isText],
  registry: [
    'a metrics registry (such as `register` of prom-client, or one of @prometheus-io/client)',
    (/** @type {Partial<MetricsRegistry> | null} */ value) =>
      isFunction(value?.registerMetric) && isFunction(value.metrics),
  ],
  logger: LOGGER,
  ...MEMBER_RULES,
}

module.exports = { DEFAULTS, RULES, isLogger }
