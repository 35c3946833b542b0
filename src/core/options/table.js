'use strict'
// Lists every option with its default and its rule. Groups are one level deep. `undefined` means the default. 0 never
// does: it means off if the rule says so, and is invalid otherwise.

const { METRIC_DEFAULTS, METRIC_RULES } = require('./metric-options')
const {
  isText,
  isFunction,
  isWhole,
  isAbove0,
  fitsTimer,
  BOOLEAN,
  TEXT,
  COUNT,
  LIMIT,
  SHARE,
  BYTES,
  isShareOrBytes,
  MILLISECONDS,
  TIMER_FROM_0,
  TIMER_FROM_1,
  oneOf,
  isPathOrOff,
  SECRETS,
  areShowable,
  isLogger,
  LOGGER,
  isAccess,
  isFleet,
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
    pressure: undefined,
    deadline: undefined,
    headers: undefined,
    respond: undefined,
    errorMode: 'respond',
  }),
  errors: Object.freeze({
    answer: true,
    timeout: undefined,
    /** @type {503 | 504} */
    timeoutStatus: 503,
    /** @type {'log' | 'logRequest' | 'drain'} */
    uncaught: 'log',
  }),
  health: Object.freeze({ manual: false }),
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

/** The defaults of members that take options, such as `listen()`. */
const MEMBER_DEFAULTS = Object.freeze({
  attach: Object.freeze({ signals: false }),
  listen: Object.freeze({
    port: 9464,
    host: '127.0.0.1',
    token: undefined,
    hosts: Object.freeze([]),
    timeout: 10_000,
    maxConnections: 32,
    maxRequestsPerSecond: 20,
    blockedPort: undefined,
  }),
  sockets: Object.freeze({ kind: undefined, priority: undefined }),
  'health.check': Object.freeze({ timeout: 1000, cache: 1000 }),
  pool: Object.freeze({ maxWait: undefined }),
  clusterPrimary: Object.freeze({
    workers: undefined,
    exec: undefined,
    startTimeout: 60_000,
    killTimeout: 30_000,
    signals: true,
    logger: undefined,
  }),
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
  'shed.classify': ['a function (req) that returns a class', isFunction],
  'shed.key': ['a function (req) that returns a string or undefined', isFunction],
  'shed.pressure': ['a function that returns a number from 0 to 1', isFunction],
  'shed.deadline': ['a function (req) that returns the milliseconds left', isFunction],
  'shed.headers': ['a function (req) that returns headers', isFunction],
  'shed.respond': ['a function (req, res, verdict)', isFunction],
  'shed.errorMode': oneOf(['respond', 'next']),
  'errors.answer': BOOLEAN,
  'errors.timeout': [
    'a number of milliseconds above 0, or a function (req, { route, priority }) that returns one',
    (value) => isFunction(value) || isAbove0(value),
  ],
  'errors.timeoutStatus': ['503 or 504', (value) => value === 503 || value === 504],
  'errors.uncaught': oneOf(['log', 'logRequest', 'drain']),
  'health.manual': BOOLEAN,
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

  'attach.signals': BOOLEAN,
  'sockets.kind': ['a function (data, isBinary) that returns a string', isFunction],
  'sockets.priority': ['a function (event, socket) that returns a class', isFunction],
  'listen.port': ['a whole number from 0 to 65535', (value) => isWhole(value) && value <= 65_535],
  'listen.blockedPort': ['a whole number from 0 to 65535', (value) => isWhole(value) && value <= 65_535],
  'listen.host': ['a host name or an IP address', isText],
  'listen.token': [
    'at least 16 visible ASCII characters',
    (value) => isText(value) && /^[!-~]{16,}$/.test(value),
  ],
  'listen.hosts': [
    "a list of names such as ['metrics.internal', 'localhost:19464']",
    (value) => Array.isArray(value) && value.every(isText),
  ],
  'listen.timeout': TIMER_FROM_1,
  'listen.maxConnections': COUNT,
  'listen.maxRequestsPerSecond': COUNT,
  'health.check.timeout': [
    'a number of milliseconds above 0, and up to 2147483647',
    (value) => isAbove0(value) && fitsTimer(value),
  ],
  'health.check.cache': TIMER_FROM_0,
  'pool.maxWait': [
    'a number of milliseconds, or false (0 is off too)',
    (value) => value === false || value === 0 || isAbove0(value),
  ],
  'clusterPrimary.workers': COUNT,
  'clusterPrimary.exec': ['the path of the file the workers run', isText],
  'clusterPrimary.startTimeout': TIMER_FROM_1,
  'clusterPrimary.killTimeout': TIMER_FROM_0,
  'clusterPrimary.signals': BOOLEAN,
  'clusterPrimary.logger': LOGGER,
}

module.exports = { DEFAULTS, MEMBER_DEFAULTS, RULES, isLogger }
