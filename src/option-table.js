'use strict'
// Every option with its default and its rule. Groups are one level deep. `undefined` means default, and 0 never does: it is
// off where a rule says so, or refused.

const { METRIC_DEFAULTS, METRIC_RULES } = require('./metric-options')

const DEFAULTS = Object.freeze({
  endpoints: Object.freeze({ metrics: '/metrics', live: '/livez', ready: '/readyz', allow: undefined }),
  routes: Object.freeze({
    max: 1000,
    unmatched: '(unmatched)',
    overflow: '(other)',
    label: undefined,
  }),
  latency: Object.freeze({ streamAfterMs: 10_000, nativeHistograms: false }),
  metrics: METRIC_DEFAULTS,
  ignore: undefined,
  shed: Object.freeze({
    mode: 'adaptive',
    maxDelay: 200,
    targetDelay: 150,
    interval: 500,
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
  drain: Object.freeze({ timeout: 20_000, delay: undefined }),
  memory: Object.freeze({ recycleAt: undefined, recycleAfter: 30_000, minUptime: 60_000 }),
  fleet: undefined,
  log: Object.freeze({
    slowMs: undefined,
    slowest: 0,
    access: false,
    headers: undefined,
    query: false,
  }),
  release: Object.freeze({ version: undefined, revision: undefined, file: undefined }),
  registry: undefined,
  logger: undefined,
})

/** Of members that take options of their own. */
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
  }),
  'health.check': Object.freeze({ timeout: 1000, cache: 1000 }),
  clusterPrimary: Object.freeze({
    workers: undefined,
    exec: undefined,
    startTimeout: 60_000,
    killTimeout: 30_000,
    signals: true,
    logger: undefined,
  }),
})

const isText = (value) => typeof value === 'string' && value !== ''
const isFunction = (value) => typeof value === 'function'
const isWhole = (value) => Number.isInteger(value) && value >= 0
const isAbove0 = (value) => typeof value === 'number' && value > 0
const isLimit = (value) => typeof value === 'number' && value >= 0
// Node fires a longer timer at once.
const fitsTimer = (value) => value < 2 ** 31

const BOOLEAN = ['true or false', (value) => typeof value === 'boolean']
const TEXT = ['a non-empty string', isText]
const COUNT = ['a whole number of at least 1', (value) => isWhole(value) && value >= 1]
const LIMIT = ['a number of at least 0 (0 is off)', isLimit]
const SHARE = ['a share from 0 to 1 (0 is off)', (value) => isLimit(value) && value <= 1]
// A share of the limit, as `memory.recycleAt` may be, would be less than a byte.
const BYTES = ['a whole number of bytes (0 is off)', isWhole]
const isShareOrBytes = (value) => isLimit(value) && (value <= 1 || isWhole(value))
const MILLISECONDS = ['a number of milliseconds above 0', isAbove0]
/** What a timer waits for: from 0, or from 1 where no time at all makes no sense. */
const TIMER_FROM_0 = [
  'a number of milliseconds from 0 to 2147483647',
  (value) => isLimit(value) && fitsTimer(value),
]
const TIMER_FROM_1 = [
  'a number of milliseconds from 1 to 2147483647',
  (value) => isLimit(value) && value >= 1 && fitsTimer(value),
]
const oneOf = (words) => [`one of ${words.join(', ')}`, (value) => words.includes(value)]

// As a client sends it: anything but printable ASCII arrives percent-encoded, and would never be found.
const isPathOrOff = (value) =>
  value === false || (isText(value) && /^\/[!-~]+$/.test(value) && !/[?#]/.test(value))

/** No line in a log ever shows their values. */
const SECRETS = ['authorization', 'cookie', 'proxy-authorization', 'set-cookie']
const areShowable = (names) =>
  Array.isArray(names) && names.every((name) => isText(name) && !SECRETS.includes(name.toLowerCase()))
/** Of any realm: an `Object.prototype` is what has no prototype itself. */
const isPlain = (value) => {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
const isLogger = (value) => isFunction(value?.warn) && isFunction(value.error)
// Half a logger is a mistake, and no options.
const arePinoOptions = (value) =>
  isPlain(value) && !['info', 'warn', 'error'].some((method) => isFunction(value[method]))
const LOGGER = [
  'a logger with warn and error, such as a pino instance, an object of pino options, or false',
  (value) => value === false || isLogger(value) || arePinoOptions(value),
]

const FLEET_KEYS = ['name', 'directory']
// A name is part of the path of a socket, which must be short.
const isFleet = (value) =>
  typeof value === 'boolean' ||
  (typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length > 0 &&
    Object.keys(value).every((key) => FLEET_KEYS.includes(key)) &&
    (value.name === undefined || (isText(value.name) && /^[\w.-]{1,32}$/.test(value.name))) &&
    (value.directory === undefined || isText(value.directory)))

const RULES = {
  'endpoints.metrics': ["a path such as '/metrics', or false", isPathOrOff],
  'endpoints.live': ["a path such as '/livez', or false", isPathOrOff],
  'endpoints.ready': ["a path such as '/readyz', or false", isPathOrOff],
  'endpoints.allow': ['a function (req, endpoint) that returns true or false', isFunction],
  'routes.max': COUNT,
  'routes.unmatched': TEXT,
  'routes.overflow': TEXT,
  'routes.label': ['a function (req, res, template)', isFunction],
  'latency.streamAfterMs': MILLISECONDS,
  'latency.nativeHistograms': BOOLEAN,
  ...METRIC_RULES,
  'shed.mode': oneOf(['adaptive', 'threshold', 'observe', 'off']),
  'shed.maxDelay': MILLISECONDS,
  'shed.targetDelay': MILLISECONDS,
  'shed.interval': MILLISECONDS,
  'shed.maxConcurrent': COUNT,
  'shed.maxEventLoopDelay': LIMIT,
  'shed.maxEventLoopUtilization': SHARE,
  'shed.maxHeapUsedBytes': BYTES,
  'shed.maxRssBytes': BYTES,
  'shed.sampleInterval': MILLISECONDS,
  'shed.retryAfter': ['a whole number of seconds of at least 0', isWhole],
  'shed.classify': ['a function (req) that returns a class', isFunction],
  'shed.key': ['a function (req) that returns a string or nothing', isFunction],
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
  'drain.timeout': TIMER_FROM_0,
  'drain.delay': TIMER_FROM_0,
  'memory.recycleAt': ['a whole number of bytes, or up to 1 a share of the limit (0 is off)', isShareOrBytes],
  'memory.recycleAfter': TIMER_FROM_0,
  'memory.minUptime': TIMER_FROM_0,
  fleet: [
    'true, false, or an object with a name (up to 32 letters, digits, dots, dashes) or a directory, or both',
    isFleet,
  ],
  'log.slowMs': MILLISECONDS,
  'log.slowest': ['a whole number from 0 to 100', (value) => isWhole(value) && value <= 100],
  'log.access': BOOLEAN,
  'log.headers': [`an array of header names without ${SECRETS.join(', ')}`, areShowable],
  'log.query': BOOLEAN,
  'release.version': TEXT,
  'release.revision': TEXT,
  'release.file': ['the path of a file', isText],
  registry: [
    'a metrics registry (such as `register` of prom-client, or one of @prometheus-io/client)',
    (value) => isFunction(value?.registerMetric) && isFunction(value.metrics),
  ],
  logger: LOGGER,

  'attach.signals': BOOLEAN,
  'listen.port': ['a whole number from 0 to 65535', (value) => isWhole(value) && value <= 65_535],
  'listen.host': ['a name or an address', isText],
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
  'clusterPrimary.workers': COUNT,
  'clusterPrimary.exec': ['the path of the file the workers run', isText],
  'clusterPrimary.startTimeout': TIMER_FROM_1,
  'clusterPrimary.killTimeout': TIMER_FROM_0,
  'clusterPrimary.signals': BOOLEAN,
  'clusterPrimary.logger': LOGGER,
}

module.exports = { DEFAULTS, MEMBER_DEFAULTS, RULES, isLogger }
