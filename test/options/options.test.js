'use strict'
// Every option: its default, what it takes, what it refuses and in which words.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { isDeepStrictEqual } = require('node:util')
const { runInNewContext } = require('node:vm')
const fc = require('fast-check')
const prometheusIo = require('@prometheus-io/client')
const promClient = require('prom-client')
const { createSpillway, SpillwayError } = require('../../src/index.js')
const {
  DEFAULTS,
  TEST_DEFAULTS,
  resolveMember,
  resolveOptions,
  updateOptions,
} = require('../../src/core/options/options.js')

const refusal = (given) => {
  try {
    resolveOptions(given)
  } catch (error) {
    assert.ok(error instanceof SpillwayError, error.stack)
    return { code: error.code, message: error.message }
  }
  assert.fail(`${Object.keys(given)} was taken`)
}

const withOption = (name, value) => {
  const [group, key] = name.split('.')
  const needed = name === 'shed.maxAge' ? { proxy: { requestStart: true } } : {}
  const beside = name === 'deadline.forward' && value !== undefined ? { default: 1000 } : {}
  return key === undefined ? { [group]: value } : { ...needed, [group]: { ...beside, [key]: value } }
}

const valueAt = (resolved, name) => name.split('.').reduce((object, key) => object[key], resolved)

const isFrozenDeeply = (object) =>
  Object.isFrozen(object) &&
  Object.keys(DEFAULTS).every((name) => !isGroup(name) || Object.isFrozen(object[name]))

const isGroup = (name) =>
  [
    'endpoints',
    'routes',
    'latency',
    'metrics',
    'shed',
    'pressure',
    'proxy',
    'deadline',
    'errors',
    'health',
    'balancer',
    'drain',
    'memory',
    'log',
    'insight',
    'release',
  ].includes(name)

const names = Object.entries(DEFAULTS).flatMap(([name, value]) =>
  isGroup(name) ? Object.keys(value).map((key) => `${name}.${key}`) : [name]
)

test('no options, no group and no value are the defaults', () => {
  assert.deepEqual(resolveOptions(), DEFAULTS)
  assert.deepEqual(resolveOptions(undefined), DEFAULTS)
  assert.deepEqual(resolveOptions({}), DEFAULTS)
  for (const name of names.filter((each) => each !== 'shed.maxAge'))
    assert.deepEqual(resolveOptions(withOption(name, undefined)), DEFAULTS)
  for (const name of Object.keys(DEFAULTS)) assert.deepEqual(resolveOptions({ [name]: undefined }), DEFAULTS)
})

test('`insight: false` is the group with all of it off', () => {
  const { stallThreshold, blockedAfter, hangAfter, hangReport, exitAfter, ...switches } = resolveOptions({
    insight: false,
  }).insight
  assert.deepEqual(new Set(Object.values(switches)), new Set([false]))
  assert.deepEqual(
    [stallThreshold, blockedAfter, hangAfter, hangReport, exitAfter],
    [100, 1000, 30_000, undefined, 0]
  )
})

test('what is done about a hang needs the thread that watches', () => {
  for (const [name, value] of Object.entries({ exitAfter: 60_000, hangReport: '/tmp' }))
    assert.throws(() => resolveOptions({ insight: { stalls: false, [name]: value } }), {
      code: 'ERR_SPILLWAY_OPTION_VALUE',
      message: `\`insight.${name}\` needs the thread that \`insight.stalls\` starts: leave \`stalls\` on.`,
    })
})

test('`errors: false` is the group with its answer off', () => {
  assert.deepEqual(resolveOptions({ errors: false }), {
    ...DEFAULTS,
    errors: { ...DEFAULTS.errors, answer: false },
  })
})

test('one option given leaves the others of its group and all groups at their defaults', () => {
  const resolved = resolveOptions({ routes: { max: 5 } })
  assert.deepEqual(resolved, { ...DEFAULTS, routes: { ...DEFAULTS.routes, max: 5 } })
})

const label = () => 'job'
const registry = new promClient.Registry()
const silent = { warn() {}, error() {} }

const ACCEPTED = {
  'endpoints.metrics': ['/m', '/internal/metrics', '/m%C3%A9trics', false],
  'endpoints.live': ['/health/live', false],
  'endpoints.ready': ['/health/ready', false],
  'endpoints.allow': [label],
  'routes.max': [1, 1_000_000],
  'routes.unmatched': ['none', '-'],
  'routes.overflow': ['other'],
  'routes.label': [label],
  'latency.streamAfter': [0.5, 1, Number.POSITIVE_INFINITY],
  'latency.nativeHistograms': [true, false],
  'metrics.bodySizes': [true, false],
  'metrics.buckets': [[0.01], [0.001, 0.1, 10], Array.from({ length: 100 }, (_, i) => i + 1)],
  'metrics.defaults': [true, false],
  'metrics.labels': [{ tenant: label }, { tenant: label, _region2: label }, {}],
  'metrics.maxLabelValues': [1, 10_000],
  'metrics.prefix': ['shop_', 'my_shop_', 'Shop2_'],
  ignore: [
    '/healthz',
    /^\/assets\//,
    label,
    ['/', '/a%20b', /x/, label],
    [],
    {},
    { metrics: '/healthz', log: [/x/], shed: label },
    { log: undefined },
  ],
  'shed.mode': ['adaptive', 'threshold', 'observe', 'off'],
  'shed.maxDelay': [0.5, 1000],
  'shed.targetDelay': [0.5, 1000],
  'shed.proxy': [true, false],
  'shed.maxConcurrent': [1, 1000],
  'shed.maxEventLoopDelay': [0, 42],
  'shed.maxEventLoopUtilization': [0, 0.98],
  'shed.maxHeapUsedBytes': [0, 2 ** 30],
  'shed.maxRssBytes': [0, 2 ** 30],
  'shed.sampleInterval': [5, 1000],
  'shed.retryAfter': [0, 10],
  'shed.classify': [label, { header: 'X-Class' }, { urgency: true, prefetch: false, header: undefined }],
  'shed.key': [label],
  'shed.shortage': [label],
  'shed.maxAge': [0.5, 2000],
  'shed.headers': [label],
  'shed.respond': [label],
  'shed.errorMode': ['respond', 'next'],
  'pressure.steps': [[0.7], [0.5, 0.9, 1]],
  'pressure.degradeAt': [{}, { low: 0, normal: 1, high: false }, { critical: undefined }],
  'proxy.requestStart': [true, false, 'x-request-start', 'X-Queue-Start'],
  'deadline.header': ['x-request-timeout-ms', 'grpc-timeout', 'X-Envoy-Expected-Rq-Timeout-Ms'],
  'deadline.default': [0.5, 2000],
  'deadline.max': [0.5, 2000],
  'deadline.of': [label],
  'deadline.forward': [['orders.internal', 'localhost:4000', '127.0.0.1', '[::1]:80'], []],
  'errors.answer': [true, false],
  'errors.timeout': [1, 0.5, Number.POSITIVE_INFINITY, label],
  'errors.timeoutStatus': [503, 504],
  'errors.uncaught': ['log', 'logRequest', 'drain'],
  'health.manual': [true, false],
  'health.maxPressure': [0, 0.9, 1],
  'balancer.orca': [['127.0.0.1'], ['10.0.0.0/8', '::1', '2001:db8::/32'], label],
  'drain.mode': ['production', 'development'],
  'drain.timeout': [0, 1, 2 ** 31 - 1],
  'drain.delay': [0, 5000],
  'memory.recycleAt': [0, 0.8, 1, 400_000_000],
  'memory.recycleAfter': [0, 60_000],
  'memory.minUptime': [0, 60_000],
  fleet: [true, false, { name: 'shop-1.eu' }, { directory: '/run/shop' }, { name: 'a', directory: 'b' }],
  'log.slowAfter': [0.5, 1000],
  'log.slowest': [0, 100],
  'log.access': [
    true,
    false,
    {},
    { fields: () => ({}), level: () => 'info', ignore: ['/healthz', /^\/static\//, () => true] },
    { ignore: () => true },
  ],
  'log.headers': [['X-Tenant', 'x-region'], []],
  'log.query': [true, false],
  'insight.stalls': [true, false, 'always'],
  'insight.stallThreshold': [50, 100.5],
  'insight.blockedAfter': [500, 0, 2000.5],
  'insight.hangAfter': [1000, 0],
  'insight.hangReport': ['/var/log/shop', 'reports'],
  'insight.exitAfter': [1000, 0, 60_000],
  'insight.parts': [true, false],
  'insight.outgoing': [true, false],
  'insight.warnings': [true, false],
  'insight.doctor': [true, false],
  'release.version': ['1.2.3', 'v2'],
  'release.revision': ['0a1b2c3'],
  'release.file': ['releases.json', '/var/lib/app/releases.json'],
  registry: [registry, promClient.register, new prometheusIo.Registry()],
  logger: [silent, false, console, {}, { level: 'error' }, Object.assign(Object.create(null), { name: 'x' })],
}

const PATH = "a path such as '%', or false"
const RULES = {
  'endpoints.metrics': PATH.replace('%', '/metrics'),
  'endpoints.live': PATH.replace('%', '/livez'),
  'endpoints.ready': PATH.replace('%', '/readyz'),
  'endpoints.allow': 'a function (req, endpoint) that returns true or false',
  'routes.max': 'a whole number of at least 1',
  'routes.unmatched': 'a non-empty string',
  'routes.overflow': 'a non-empty string',
  'routes.label': 'a function (req, res, template)',
  'latency.streamAfter': 'a number of milliseconds above 0',
  'latency.nativeHistograms': 'true or false',
  'metrics.bodySizes': 'true or false',
  'metrics.buckets': 'an array of 1 to 100 rising bounds in seconds, such as [0.01, 0.1, 1]',
  'metrics.defaults': 'true or false',
  'metrics.labels':
    'an object that maps label names (letters, digits and underscores) to functions (req, res); reserved names are http_request_method, ' +
    'http_route, http_response_status_code, url_scheme, error_type, outcome, le, quantile, worker',
  'metrics.maxLabelValues': 'a whole number from 1 to 10000',
  'metrics.prefix':
    "letters, digits and underscores, with an underscore at the end, such as 'shop_', and not beginning with http_, nodejs_, v8js_ or process_",
  ignore:
    "a path such as '/healthz' (without *, ? and :), a RegExp, a function (req), an array, or an object of these " +
    'for metrics, log or shed',
  'shed.mode': 'one of adaptive, threshold, observe, off',
  'shed.maxDelay': 'a number of milliseconds above 0',
  'shed.targetDelay': 'a number of milliseconds above 0',
  'shed.proxy': 'true or false',
  'shed.maxConcurrent': 'a whole number of at least 1',
  'shed.maxEventLoopDelay': 'a number of at least 0 (0 is off)',
  'shed.maxEventLoopUtilization': 'a share from 0 to 1 (0 is off)',
  'shed.maxHeapUsedBytes': 'a whole number of bytes (0 is off)',
  'shed.maxRssBytes': 'a whole number of bytes (0 is off)',
  'shed.sampleInterval': 'a number of milliseconds above 0',
  'shed.retryAfter': 'a whole number of seconds of at least 0',
  'shed.classify':
    'a function (req) that returns a priority class, or an object with one or more of header (a name), urgency and prefetch (both booleans)',
  'shed.key': 'a function (req) that returns a string or undefined',
  'shed.shortage': 'a function that returns a number from 0 to 1',
  'shed.maxAge': 'a number of milliseconds above 0',
  'shed.headers': 'a function (req) that returns headers',
  'shed.respond': 'a function (req, res, verdict)',
  'shed.errorMode': 'one of respond, next',
  'pressure.steps': 'a list of numbers above 0 and up to 1, such as [0.7, 0.9]',
  'pressure.degradeAt': 'an object with critical, high, normal or low: each a number from 0 to 1, or false',
  'proxy.requestStart':
    "true for X-Request-Start or X-Queue-Start, false, or the name of a header such as 'x-request-start'",
  'deadline.header': "the name of a header such as 'x-request-timeout-ms'",
  'deadline.default': 'a number of milliseconds above 0',
  'deadline.max': 'a number of milliseconds above 0',
  'deadline.of': 'a function (req) that returns the milliseconds left',
  'deadline.forward': "a list of hosts such as ['orders.internal', 'localhost:4000']",
  'errors.answer': 'true or false',
  'errors.timeout':
    'a number of milliseconds above 0, or a function (req, { route, priority }) that returns one',
  'errors.timeoutStatus': '503 or 504',
  'errors.uncaught': 'one of log, logRequest, drain',
  'health.manual': 'true or false',
  'health.maxPressure': 'a share from 0 to 1 (0 is off)',
  'balancer.orca':
    "a list of addresses such as ['127.0.0.1', '10.0.0.0/8'], or a function (req) that returns true or false",
  'drain.mode': 'one of production, development',
  'drain.timeout': 'a number of milliseconds from 0 to 2147483647',
  'drain.delay': 'a number of milliseconds from 0 to 2147483647',
  'memory.recycleAt':
    'a whole number of bytes, or a number up to 1 that is a share of the memory limit (0 is off)',
  'memory.recycleAfter': 'a number of milliseconds from 0 to 2147483647',
  'memory.minUptime': 'a number of milliseconds from 0 to 2147483647',
  fleet:
    'true, false, or an object with a name (up to 32 letters, digits, dots, dashes) or a directory, or both',
  'log.slowAfter': 'a number of milliseconds above 0',
  'log.slowest': 'a whole number from 0 to 100',
  'log.access':
    "true, false, or an object with fields(req, res), level(req, res) or ignore: a path such as '/healthz', a RegExp, a function, or an array",
  'log.headers': 'an array of header names without authorization, cookie, proxy-authorization, set-cookie',
  'log.query': 'true or false',
  'insight.stalls': "true, false or 'always'",
  'insight.stallThreshold': 'a number of milliseconds of at least 50',
  'insight.blockedAfter': 'a number of milliseconds of at least 500 (0 is off)',
  'insight.hangAfter': 'a number of milliseconds of at least 1000 (0 is off)',
  'insight.hangReport': 'the path of a directory',
  'insight.exitAfter': 'a number of milliseconds of at least 1000 (0 is off)',
  'insight.parts': 'true or false',
  'insight.outgoing': 'true or false',
  'insight.warnings': 'true or false',
  'insight.doctor': 'true or false',
  'release.version': 'a non-empty string',
  'release.revision': 'a non-empty string',
  'release.file': 'the path of a file',
  registry: 'a metrics registry (such as `register` of prom-client, or one of @prometheus-io/client)',
  logger: 'a logger with warn and error, such as a pino instance, an object of pino options, or false',
}

/** Beside what no option takes: what comes close. */
const REFUSED = {
  'endpoints.metrics': ['metrics', '/', '', '/a b', '/a?b', '/a#b', '/métrics', true],
  'endpoints.live': ['livez', '', true],
  'endpoints.ready': ['https://host/readyz', '', true],
  'endpoints.allow': [true, false, '127.0.0.1', ['127.0.0.1']],
  'routes.max': [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1000', 10n],
  'routes.unmatched': ['', false],
  'routes.overflow': ['', false],
  'routes.label': ['job', false],
  'latency.streamAfter': [0, -1, Number.NaN, '10s', 10n],
  'latency.nativeHistograms': [0, 1, 'true', null],
  'metrics.bodySizes': [1, 'yes', null],
  'metrics.buckets': [
    [0],
    [-1, 1],
    [1, 1],
    [1, 0.5],
    [1, Number.POSITIVE_INFINITY],
    [1, Number.NaN],
    ['0.1'],
    Array.from({ length: 101 }, (_, i) => i + 1),
    0.1,
  ],
  'metrics.defaults': [0, 'yes'],
  'metrics.labels': [
    { tenant: 'a' },
    { le: label },
    { http_route: label },
    { error_type: label },
    { worker: label },
    { __tenant: label },
    { 'tenant-id': label },
    { '1st': label },
    { '': label },
    [label],
    label,
  ],
  'metrics.maxLabelValues': [0, -1, 1.5, 10_001, Number.POSITIVE_INFINITY, '100'],
  'metrics.prefix': ['', '_', 'shop', 'shop-', '1_', 'nodejs_', 'http_server_', 'process_', 'v8js_', 7],
  ignore: [
    'healthz',
    '/assets/*',
    '/a?b',
    '/a#b',
    '/größe',
    7,
    true,
    ['/a', 7],
    { metric: '/a' },
    { metrics: 7 },
    { log: { path: '/a' } },
  ],
  'shed.mode': ['auto', '', true],
  'shed.maxDelay': [0, -1, Number.NaN, '1s'],
  'shed.targetDelay': [0, -1, Number.NaN, '1s'],
  'shed.proxy': ['yes', 1, 0],
  'shed.maxConcurrent': [0, -1, 1.5, '10'],
  'shed.maxEventLoopDelay': [-1, Number.NaN, '42'],
  'shed.maxEventLoopUtilization': [-1, Number.NaN, 1.01, 98, '98%'],
  'shed.maxHeapUsedBytes': [-1, Number.NaN, 0.8, '1GB'],
  'shed.maxRssBytes': [-1, Number.NaN, 0.8, '1GB'],
  'shed.sampleInterval': [0, -1, Number.NaN],
  'shed.retryAfter': [-1, 1.5, '10'],
  'shed.classify': [
    'low',
    false,
    {},
    { header: '' },
    { header: 'a b' },
    { header: ['a'] },
    { urgency: 'low' },
    { prefetch: 1 },
    { prefetch: undefined },
    { prefetch: true, otherwise: () => 'low' },
  ],
  'shed.key': ['tenant', false],
  'shed.shortage': [0.5, false],
  'shed.maxAge': [0, -1, Number.NaN, '2s'],
  'shed.headers': ['x', false],
  'shed.respond': ['x', false],
  'shed.errorMode': ['throw', true],
  'pressure.steps': [0.7, [0], [1.1], ['0.7'], [Number.NaN]],
  'pressure.degradeAt': [
    0.5,
    { bypass: 0.5 },
    { low: -1 },
    { low: 1.1 },
    { low: '0.5' },
    { low: null },
    false,
  ],
  'proxy.requestStart': ['', 'x request start', 'x-start:', 1, 'x'.repeat(101)],
  'deadline.header': ['', 'a b', true, 'x'.repeat(101)],
  'deadline.default': [0, -1, Number.NaN, '2s'],
  'deadline.max': [0, -1, Number.NaN, '2s'],
  'deadline.of': [100, false],
  'deadline.forward': ['orders.internal', ['http://orders.internal'], [''], [7], ['orders/'], ['*']],
  'errors.answer': ['yes', 0],
  'errors.timeout': [0, -1, Number.NaN, '30s', false],
  'errors.timeoutStatus': [500, '503', 0],
  'errors.uncaught': ['exit', true],
  'health.manual': ['yes', 1, 0],
  'health.maxPressure': [-0.1, 1.1, '0.9', true],
  'balancer.orca': [
    true,
    '127.0.0.1',
    ['localhost'],
    ['10.0.0.0/33'],
    ['10.0.0.0/'],
    ['10.0.0.0/8/8'],
    [7],
    [''],
  ],
  'drain.mode': ['fast', true],
  'drain.timeout': [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '10s'],
  'drain.delay': [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5s'],
  'memory.recycleAt': [-1, Number.NaN, 1.5, '80%'],
  'memory.recycleAfter': [-1, 2 ** 31, '30s'],
  'memory.minUptime': [-1, 2 ** 31, '1m'],
  fleet: [
    'shop',
    { names: 'shop' },
    { name: 'a/b' },
    { name: 'a'.repeat(33) },
    { directory: '' },
    { name: 1n },
  ],
  'log.slowAfter': [0, -1, Number.NaN, '1s'],
  'log.slowest': [-1, 1.5, 101, '10'],
  'log.access': [
    'yes',
    1,
    null,
    [],
    { customProps() {} },
    { fields: {} },
    { level: 'info' },
    { ignore: 'a' },
    { ignore: ['a'] },
  ],
  'log.headers': ['x-tenant', [''], [7], ['Cookie'], ['x-tenant', 'Authorization'], ['set-cookie'], false],
  'log.query': ['yes', 1],
  'insight.stalls': ['on', 1],
  'insight.stallThreshold': [49, 0, -1, Number.POSITIVE_INFINITY, Number.NaN, '100'],
  'insight.blockedAfter': [499, -1, Number.POSITIVE_INFINITY, Number.NaN, '1000'],
  'insight.hangAfter': [999, -1, Number.NaN],
  'insight.hangReport': ['', true, 1],
  'insight.exitAfter': [999, -1, Number.NaN, Number.POSITIVE_INFINITY, '60000'],
  'insight.parts': ['on', 1],
  'insight.outgoing': ['yes', 1],
  'insight.warnings': ['yes', 0],
  'insight.doctor': ['on', 1],
  'release.version': ['', 1.2, false],
  'release.revision': ['', 7],
  'release.file': ['', false, true],
  registry: [{ metrics() {} }, { registerMetric() {} }, promClient, 'global', false],
  logger: [{ warn() {} }, { error() {} }, { info() {} }, new Map(), 'debug', true],
}

const EXAMPLES = { object: [{}, 'an object'], array: [[], '[]'], null: [null, 'null (null)'] }

test('the tables here have every option', () => {
  for (const table of [ACCEPTED, RULES, REFUSED]) assert.deepEqual(Object.keys(table), names)
})

for (const name of names) {
  test(`\`${name}\` takes what its rule allows, and keeps it as it is`, () => {
    for (const value of ACCEPTED[name]) {
      assert.equal(valueAt(resolveOptions(withOption(name, value)), name), value)
    }
  })

  test(`\`${name}\` refuses anything else with the option, the rule and the value`, () => {
    const kinds = Object.values(EXAMPLES).map(([value]) => value)
    const others = kinds.filter((kind) => !ACCEPTED[name].some((value) => isDeepStrictEqual(value, kind)))
    const values = [...REFUSED[name], Symbol('s'), ...others]
    for (const value of values) {
      const { code, message } = refusal(withOption(name, value))
      assert.equal(code, 'ERR_SPILLWAY_OPTION_VALUE')
      assert.ok(message.startsWith(`\`${name}\` must be ${RULES[name]}: got `), message)
      assert.match(message, /[.?]$/)
    }
  })
}

test('a refusal shows the value so that its kind can be told', () => {
  const cases = [
    ['1000', "'1000' (string)"],
    [0, '0 (number)'],
    [Number.NaN, 'NaN (number)'],
    [10n, '10 (bigint)'],
    [true, 'true (boolean)'],
    [Symbol('s'), 'Symbol(s) (symbol)'],
    [label, 'function label'],
    [() => {}, 'function (anonymous)'],
    [new Date(0), 'an object'],
    [Object.create(null), 'an object'],
    [{ most: 7 }, 'an object with most'],
    [process.env, 'an object'],
    [['a', 'b'], "['a', 'b']"],
    [[7, 0.5], '[7, 0.5]'],
    [[{}], 'an array'],
    [['x'.repeat(41)], 'an array'],
    ...Object.values(EXAMPLES),
  ]
  for (const [value, shown] of cases) {
    assert.equal(
      refusal({ routes: { max: value } }).message,
      `\`routes.max\` must be a whole number of at least 1: got ${shown}.`
    )
  }
})

test('0 is 0, and not the default', () => {
  assert.match(refusal({ routes: { max: 0 } }).message, /got 0 \(number\)/)
  assert.match(refusal({ latency: { streamAfter: 0 } }).message, /got 0 \(number\)/)
})

test('`shed.maxAge` needs the stamp of the proxy, also in update()', () => {
  const { code, message } = refusal({ shed: { maxAge: 2000 } })
  assert.equal(code, 'ERR_SPILLWAY_OPTION_VALUE')
  assert.match(message, /^`shed.maxAge` needs .*: add `proxy: \{ requestStart: true \}`\.$/)
  assert.throws(() => updateOptions(resolveOptions(), { shed: { maxAge: 2000 } }), { message })
  const proxy = { requestStart: 'x-queue-start' }
  assert.equal(updateOptions(resolveOptions({ proxy }), { shed: { maxAge: 2000 } }).shed.maxAge, 2000)
})

test('`deadline.forward` needs a deadline of any kind', () => {
  const forward = ['orders.internal']
  const { code, message } = refusal({ deadline: { forward } })
  assert.equal(code, 'ERR_SPILLWAY_OPTION_VALUE')
  assert.match(message, /^`deadline.forward` needs a deadline to send: add `header: 'x-request-timeout-ms'`/)
  for (const given of [{ header: 'x-ms' }, { default: 700 }, { max: 700 }, { of: () => 700 }])
    assert.equal(resolveOptions({ deadline: { ...given, forward } }).deadline.forward, forward)
})

test('`deadline.default` cannot be above `deadline.max`', () => {
  assert.deepEqual(refusal({ deadline: { default: 700, max: 500 } }), {
    code: 'ERR_SPILLWAY_OPTION_VALUE',
    message: '`deadline.default` must be at most `deadline.max`, which is 500: got 700 (number).',
  })
  assert.equal(resolveOptions({ deadline: { default: 500, max: 500 } }).deadline.default, 500)
})

test('options and groups must be objects', () => {
  for (const value of [null, [], 'text', 7, true, () => {}]) {
    assert.match(refusal(value).message, /^`options` must be an object: got /)
    for (const group of Object.keys(DEFAULTS).filter(isGroup)) {
      const { code, message } = refusal({ [group]: value })
      assert.equal(code, 'ERR_SPILLWAY_OPTION_VALUE')
      assert.ok(message.startsWith(`\`${group}\` must be an object: got `), message)
    }
  }
})

const TYPOS = [
  [{ route: {} }, '`route`', '`routes`'],
  [{ Endpoints: {} }, '`Endpoints`', '`endpoints`'],
  [{ loger: false }, '`loger`', '`logger`'],
  [{ register: registry }, '`register`', '`registry`'],
  [{ maxConcurrent: 3 }, '`maxConcurrent`', '`shed.maxConcurrent`'],
  [{ live: '/up' }, '`live`', '`endpoints.live`'],
  [{ routes: { maxx: 1 } }, '`routes.maxx`', '`routes.max`'],
  [{ routes: { unmached: 'x' } }, '`routes.unmached`', '`routes.unmatched`'],
  [{ endpoints: { metric: '/m' } }, '`endpoints.metric`', '`endpoints.metrics`'],
  [{ latency: { streamAfterMs: 1 } }, '`latency.streamAfterMs`', '`latency.streamAfter`'],
  [{ buckets: [1] }, '`buckets`', '`metrics.buckets`'],
  [{ metrics: { bucket: [1] } }, '`metrics.bucket`', '`metrics.buckets`'],
]

for (const [given, named, meant] of TYPOS) {
  test(`the unknown option ${named} names itself, the nearest known one and all others`, () => {
    const { code, message } = refusal(given)
    assert.equal(code, 'ERR_SPILLWAY_UNKNOWN_OPTION')
    assert.ok(message.startsWith(`Unknown option ${named}. Did you mean ${meant}? Known here: `), message)
    const known = Object.keys(named.includes('.') ? DEFAULTS[Object.keys(given)[0]] : DEFAULTS)
    assert.ok(message.endsWith(`Known here: ${known.join(', ')}.`), message)
  })
}

test('the message for `shed: false` says how to switch the gate off', () => {
  assert.match(
    refusal({ shed: false }).message,
    /got false \(boolean\)\. To reject no request, write `shed: \{ mode: 'off' \}`\.$/
  )
})

for (const [given, meant] of [
  [{ shed: 'observe' }, "shed: { mode: 'observe' }"],
  [{ shed: 'Treshold' }, "shed: { mode: 'threshold' }"],
  [{ shed: 'next' }, "shed: { errorMode: 'next' }"],
  [{ errors: 'drain' }, "errors: { uncaught: 'drain' }"],
  [{ drain: 'developement' }, "drain: { mode: 'development' }"],
]) {
  test(`a word given for a group, ${JSON.stringify(given)}, throws with the option that takes the word`, () => {
    const { code, message } = refusal(given)
    assert.equal(code, 'ERR_SPILLWAY_OPTION_VALUE')
    assert.ok(message.endsWith(`(string). Did you mean \`${meant}\`?`), message)
  })
}

for (const [given, hint] of [
  [{ log: false }, 'To log nothing, use `logger: false`.'],
  [{ log: true }, 'Did you mean `log: { access: true }`?'],
  [{ metrics: false }, 'Did you mean `endpoints: { metrics: false }`?'],
  [{ metrics: '/prom' }, "Did you mean `endpoints: { metrics: '/prom' }`?"],
  [{ endpoints: '/prom' }, "Did you mean `endpoints: { metrics: '/prom' }`?"],
  [{ errors: true }, 'It is on by default: leave it out.'],
  [{ metrics: true }, 'an object: got true (boolean).'],
]) {
  test(`a value given for a whole group, ${JSON.stringify(given)}, throws with what was meant`, () => {
    const { message } = refusal(given)
    assert.ok(message.endsWith(hint), message)
  })
}

test('a value given for the options of a member throws with what was meant', () => {
  for (const [name, value, hint] of [
    ['listen', 9000, 'Did you mean `listen({ port: 9000 })`?'],
    ['agent', 9465, 'Did you mean `agent({ port: 9465 })`?'],
    ['attach', true, 'Did you mean `attach(server, { signals: true })`?'],
  ])
    assert.throws(
      () => resolveMember(name, value),
      ({ message }) => message.endsWith(hint)
    )
})

for (const [given, ending] of [
  [{ pressure: { degradeAt: { low: 0.5, normal: 75 } } }, 'got 75 (number) as `pressure.degradeAt.normal`.'],
  [{ pressure: { degradeAt: { bypass: 0.5 } } }, 'got 0.5 (number) as `pressure.degradeAt.bypass`.'],
  [{ balancer: { orca: ['::1', '10.0.0.0/33'] } }, "got '10.0.0.0/33' (string) as `balancer.orca[1]`."],
  [
    { balancer: { orca: ['127.0.0.1', 'localhost'] } },
    "got 'localhost' (string) as `balancer.orca[1]`. Names are not looked up: list the addresses, such as '127.0.0.1' and '::1' for localhost.",
  ],
  [{ deadline: { default: 700, forward: ['orders', 7] } }, 'got 7 (number) as `deadline.forward[1]`.'],
  [
    { deadline: { default: 700, forward: ['orders', 'http://stock.internal:4000/v1'] } },
    "got 'http://stock.internal:4000/v1' (string) as `deadline.forward[1]`. Write 'stock.internal:4000'.",
  ],
  [
    { deadline: { default: 700, forward: ['*.internal'] } },
    "got '*.internal' (string) as `deadline.forward[0]`. Wildcards do not work: list each host.",
  ],
  [{ deadline: { default: 700, forward: ['a b'] } }, "got 'a b' (string) as `deadline.forward[0]`."],
  [{ shed: { classify: { urgency: true, header: ['a'] } } }, "got ['a'] as `shed.classify.header`."],
  [{ shed: { classify: { urgency: 'low' } } }, "got 'low' (string) as `shed.classify.urgency`."],
  [{ shed: { classify: { prefetch: true, hedaer: 'x' } } }, "got 'x' (string) as `shed.classify.hedaer`."],
]) {
  test(`the wrong entry of an option is named: ${JSON.stringify(given)}`, () => {
    const { message } = refusal(given)
    assert.ok(message.endsWith(`: ${ending}`), message)
  })
}

test('a word that no option of the group takes gets no hint', () => {
  for (const given of [{ shed: 'on' }, { routes: 'observe' }, 'observe'])
    assert.match(refusal(given).message, / must be an object: got '\w+' \(string\)\.$/)
})

test('an unknown option throws whatever its value, undefined too', () => {
  assert.equal(refusal({ disk: undefined }).code, 'ERR_SPILLWAY_UNKNOWN_OPTION')
  assert.equal(refusal({ routes: { shed: undefined } }).code, 'ERR_SPILLWAY_UNKNOWN_OPTION')
})

for (const [one, other] of [
  ['metrics', 'live'],
  ['live', 'ready'],
  ['metrics', 'ready'],
]) {
  test(`the endpoints ${one} and ${other} cannot have one path`, () => {
    const { code, message } = refusal({ endpoints: { [one]: '/same', [other]: '/same' } })
    assert.equal(code, 'ERR_SPILLWAY_OPTION_VALUE')
    assert.equal(
      message,
      "Each of the `endpoints` must have its own path, but '/same' is given twice. Change one of them, or write false to switch it off."
    )
  })
}

test('an endpoint cannot have the default path of another', () => {
  assert.match(refusal({ endpoints: { metrics: '/livez' } }).message, /'\/livez' is given twice/)
})

test('every endpoint may be off', () => {
  const off = { metrics: false, live: false, ready: false }
  assert.deepEqual(resolveOptions({ endpoints: off }).endpoints, { ...off, allow: undefined })
})

test('resolved options are frozen, and the given ones are neither changed nor retained', () => {
  const given = { routes: { max: 5 }, endpoints: { live: false } }
  const before = structuredClone(given)
  const resolved = resolveOptions(given)
  assert.ok(isFrozenDeeply(resolved))
  assert.ok(isFrozenDeeply(resolveOptions()))
  assert.ok(isFrozenDeeply(DEFAULTS))
  assert.deepEqual(given, before)
  given.routes.max = 6
  assert.equal(resolved.routes.max, 5)
})

test('frozen options are accepted', () => {
  assert.equal(resolveOptions(Object.freeze({ routes: Object.freeze({ max: 5 }) })).routes.max, 5)
})

test('options of another realm are accepted, as from a sandbox with its own globals', () => {
  const given = runInNewContext(
    "({ shed: { mode: 'off' }, log: { headers: ['x-id'] }, logger: { level: 'warn' } })"
  )
  assert.notEqual(Object.getPrototypeOf(given), Object.prototype)
  const { shed, log, logger } = resolveOptions(given)
  assert.deepEqual([shed.mode, log.headers?.[0], logger], ['off', 'x-id', given.logger])
})

test('options without a prototype are accepted', () => {
  const given = Object.assign(Object.create(null), { routes: Object.assign(Object.create(null), { max: 5 }) })
  assert.equal(resolveOptions(given).routes.max, 5)
})

for (const key of ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString']) {
  test(`the key ${key} from a JSON file is an unknown option, and pollutes nothing`, () => {
    for (const json of [`{"${key}":{"max":5}}`, `{"routes":{"${key}":{"max":5}}}`]) {
      const { code, message } = refusal(JSON.parse(json))
      assert.equal(code, 'ERR_SPILLWAY_UNKNOWN_OPTION')
      assert.ok(message.includes(`${key}\``), message)
    }
    assert.equal({}.max, undefined)
    assert.deepEqual(resolveOptions(), DEFAULTS)
  })
}

/** Keys that exist, as far as they go, with any JSON below them. */
const anyGroup = (keys) =>
  fc.oneof(
    fc.jsonValue(),
    fc.record(Object.fromEntries(keys.map((key) => [key, fc.jsonValue()])), { requiredKeys: [] })
  )
const anyOptions = fc.record(
  Object.fromEntries(
    Object.entries(DEFAULTS).map(([name, value]) => [
      name,
      isGroup(name) ? anyGroup(Object.keys(value)) : fc.jsonValue(),
    ])
  ),
  { requiredKeys: [] }
)

test('no JSON value gets through, or fails with anything but a SpillwayError of whole sentences', () => {
  fc.assert(
    fc.property(fc.oneof(anyOptions, fc.jsonValue()), (given) => {
      try {
        const resolved = resolveOptions(given)
        assert.deepEqual(Object.keys(resolved), Object.keys(DEFAULTS))
        assert.ok(isFrozenDeeply(resolved))
      } catch (error) {
        assert.ok(error instanceof SpillwayError, error.stack)
        assert.match(error.message, /[.?]$/)
      }
    }),
    { numRuns: 300 }
  )
})

test('createSpillway throws before it has started anything', () => {
  assert.throws(() => createSpillway({ routes: { max: 0 }, registry }), { code: 'ERR_SPILLWAY_OPTION_VALUE' })
  assert.deepEqual(registry.getMetricsAsArray(), [])
})

test('an update keeps options that are not given, and restores the default for undefined', () => {
  const classify = () => 'low'
  const current = resolveOptions({ shed: { classify, maxDelay: 50, targetDelay: 20 } })
  const { shed } = updateOptions(current, { shed: { classify: undefined, maxDelay: undefined } })
  assert.deepEqual([shed.classify, shed.maxDelay, shed.targetDelay], [undefined, DEFAULTS.shed.maxDelay, 20])
})

test('under a test runner only the default of shed.mode differs, also when an update restores it', () => {
  assert.deepEqual(TEST_DEFAULTS, { ...DEFAULTS, shed: { ...DEFAULTS.shed, mode: 'observe' } })
  const modeOf = (given) => resolveOptions(given, TEST_DEFAULTS).shed.mode
  assert.deepEqual([modeOf({}), modeOf({ shed: { maxDelay: 50 } })], ['observe', 'observe'])
  assert.deepEqual(
    [modeOf({ shed: { mode: 'adaptive' } }), modeOf({ shed: { mode: 'off' } })],
    ['adaptive', 'off']
  )
  const current = resolveOptions({ shed: { mode: 'adaptive' } }, TEST_DEFAULTS)
  const restored = updateOptions(current, { shed: { mode: undefined } }, TEST_DEFAULTS)
  assert.equal(restored.shed.mode, 'observe')
})

test('an option without a default says how it is switched off, if it is given 0, false or null', () => {
  for (const [given, name] of [
    [{ errors: { timeout: 0 } }, 'errors.timeout'],
    [{ shed: { maxConcurrent: 0 } }, 'shed.maxConcurrent'],
    [{ log: { slowAfter: null } }, 'log.slowAfter'],
    [{ shed: { shortage: false } }, 'shed.shortage'],
  ])
    assert.throws(() => resolveOptions(/** @type {any} */ (given)), {
      message: new RegExp(`^\`${name}\` must be .* To switch it off, leave it out or write undefined\\.$`),
    })
  assert.throws(
    () => resolveOptions({ shed: { maxDelay: 0 } }),
    (error) => !/switch/.test(String(error))
  )
})
