'use strict'
// What the refusal of an unknown option says was meant.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { describe, it } = require('node:test')
const { clusterPrimary } = require('../../src/index.js')
const { resolveOptions } = require('../../src/core/options/options')
const { ACCESS_KEYS } = require('../../src/core/options/rules')
const { MEMBER_DEFAULTS } = require('../../src/core/options/member-options')
const { DEFAULTS } = require('../../src/core/options/table')
const { PEERS } = require('../../src/core/options/peer-options')
const { spillwayFor } = require('../support/spillway')

function refused(call) {
  try {
    call()
  } catch (error) {
    return error
  }
  assert.fail('it was taken')
}

function refusal(call) {
  const { code, message, stack } = refused(call)
  assert.equal(code, 'ERR_SPILLWAY_UNKNOWN_OPTION', stack)
  return message
}

const hint = (given) =>
  /** @type {any} */ (
    /^Unknown option `[\w.]+`\. (.*?) ?Known here: /.exec(refusal(() => resolveOptions(given)))
  )[1]

const MEANT = {
  'an option of the same group first': [
    [{ errors: { timeot: 5 } }, '`errors.timeout`'],
    [{ shed: { delay: 5 } }, '`shed.maxDelay`'],
    [{ log: { slowAfer: 5 } }, '`log.slowAfter`'],
  ],
  'one of another group, with the whole path': [
    [{ maxEventLoopDelay: 5 }, '`shed.maxEventLoopDelay`'],
    [{ maxHeapUsedBytes: 5 }, '`shed.maxHeapUsedBytes`'],
    [{ memory: { maxRssBytes: 5 } }, '`shed.maxRssBytes`'],
    [{ shed: { recycleAt: 5 } }, '`memory.recycleAt`'],
    [{ drain: { streamAfter: 5 } }, '`latency.streamAfter`'],
    [{ shed: { logger: false } }, '`logger`'],
  ],
  "one of a member's": [
    [{ port: 9464 }, '`listen({ port })` or `agent({ port })`'],
    [{ shed: { workers: 4 } }, '`clusterPrimary({ workers })`'],
    [{ cache: 4 }, '`health.check(name, check, { cache })`'],
  ],
  'every option of that name': [[{ routes: { delay: 5 } }, '`drain.delay`']],
  'what another package calls it': [
    [{ buckets: [] }, '`metrics.buckets`'],
    [{ latency: { buckets: [] } }, '`metrics.buckets`'],
    [{ customLabels: {} }, '`metrics.labels`'],
    [{ maxLag: 70 }, '`shed.targetDelay`, or `shed.maxEventLoopDelay` for a fixed limit'],
    [{ timeout: 5 }, '`errors.timeout` for a request, or `drain.timeout` for the end of the process'],
    [{ endpoints: { metricsPath: '/m' } }, '`endpoints.metrics`'],
    [{ endpoints: { healthz: '/m' } }, '`endpoints.live`'],
    [{ PromRegistry: {} }, '`registry`'],
    [{ metricsPath: '/m' }, '`endpoints.metrics`'],
    [{ metrics: { path: '/m' } }, '`endpoints.metrics`'],
    [{ metrics: { metricsPath: '/m' } }, '`endpoints.metrics`'],
    [{ metrics: { defaultMetrics: true } }, '`metrics.defaults`'],
    [{ shed: { maxLag: 70 } }, '`shed.targetDelay`, or `shed.maxEventLoopDelay` for a fixed limit'],
    [{ shed: { enabled: true } }, '`shed.mode`'],
    [{ shed: { priority: () => 'low' } }, '`shed.classify`'],
    [{ priority: () => 'low' }, '`shed.classify`'],
    [{ customProps: () => ({}) }, '`log.access.fields`'],
    [{ log: { customProps: () => ({}) } }, '`log.access.fields`'],
    [{ customLogLevel: () => 'info' }, '`log.access.level`'],
    [{ ignorePaths: ['/a'] }, '`ignore`'],
    [{ log: { ignorePaths: ['/a'] } }, '`ignore`'],
    [{ gracefulShutdown: true }, '`drain`'],
    [{ log: { slowMs: 500 } }, '`log.slowAfter`'],
  ],
}

/**
 * The option names in the left columns of the tables of docs/migrating.md. Labels, metrics and calls are
 * none.
 */
function namesInMigrating() {
  const page = readFileSync(path.join(__dirname, '..', '..', 'docs', 'migrating.md'), 'utf8')
  const lefts = page.split('\n').flatMap((line) => (line.startsWith('|') ? [line.split('|')[1]] : []))
  const names = lefts.flatMap((left) =>
    [...left.matchAll(/`([a-z]\w*)(?::[^`]*)?`/g)].map(([, name]) => name)
  )
  return [...new Set(names)].filter((name) => name !== 'method' && !name.includes('_'))
}

it('each option that docs/migrating.md maps has a hint', () => {
  const known = new Set(Object.keys(DEFAULTS))
  const names = namesInMigrating().filter((name) => !known.has(name))
  assert.ok(names.length > 50, String(names.length))
  assert.deepEqual(
    names.filter((name) => hint({ [name]: 1 }) === ''),
    []
  )
})

describe('an unknown option is reported with', () => {
  for (const [what, cases] of Object.entries(MEANT)) {
    for (const [given, meant] of cases) {
      it(`${what}: ${JSON.stringify(given)}`, () => {
        assert.equal(hint(given), `Did you mean ${meant}?`)
      })
    }
  }

  for (const [given, sentence] of [
    [{ signals: true }, 'Write `spillway.attach(server, { signals: true })`.'],
    [{ agent: { port: 9465 } }, 'Write `spillway.agent({ port })` for the agent of HAProxy.'],
    [{ balancer: { agent: {} } }, 'Write `spillway.agent({ port })` for the agent of HAProxy.'],
    [{ metricType: 'summary' }, 'Durations are histograms with the bounds of `metrics.buckets`.'],
    [
      { httpDurationMetricName: 'http' },
      'Metric names are fixed. `metrics.prefix` replaces the prefix `spillway_`.',
    ],
    [{ includePath: true }, 'Method, route and status are always labels.'],
    [
      { autoregister: false },
      "Write `endpoints: { metrics: false }`, and mount `spillway.handler('metrics')` where you like.",
    ],
  ]) {
    it(`what there is instead: ${JSON.stringify(given)}`, () => {
      assert.equal(hint(given), sentence)
    })
  }

  it('what another package calls a key of `log.access`, and nothing of a known key with a wrong value', () => {
    for (const [access, ending] of [
      [{ customProps: () => ({}) }, 'an object with customProps. Did you mean `log.access.fields`?'],
      [{ customLogLevel: 'info' }, 'an object with customLogLevel. Did you mean `log.access.level`?'],
      [{ skip: () => true }, 'an object with skip. Did you mean `log.access.ignore`?'],
      [{ level: 'info' }, 'an object with level.'],
    ]) {
      const { message } = refused(() => resolveOptions(/** @type {any} */ ({ log: { access } })))
      assert.ok(message.endsWith(`: got ${ending}`), message)
    }
  })

  it('nothing where nothing is near, but the names there are', () => {
    for (const given of [{ disk: 1 }, { shed: { ms: 5 } }, { redis: {} }, { constructor: 1 }, { '': 1 }]) {
      const message = refusal(() => resolveOptions(given))
      assert.match(message, /^Unknown option `[\w.]*`\. Known here: [\w, ]+\.$/)
    }
  })

  it("of a member's own, the nearest of that member's", (t) => {
    const spillway = spillwayFor(t)
    for (const [call, meant] of [
      [() => spillway.attach(http.createServer(), { signal: true }), '`attach.signals`'],
      [() => spillway.attach(http.createServer(), { delay: 1 }), '`drain.delay`'],
      [() => spillway.health.check('a', () => true, { timeoutMs: 1 }), '`health.check.timeout`'],
      [() => clusterPrimary({ signal: true }), '`clusterPrimary.signals`'],
      [() => spillway.update({ shed: { buckets: 1 } }), '`metrics.buckets`'],
    ]) {
      assert.ok(refusal(call).includes(`Did you mean ${meant}?`), refusal(call))
    }
  })
})

describe('the names of other packages', () => {
  /** Options there are. */
  const paths = new Set([
    ...Object.entries({ ...DEFAULTS, ...MEMBER_DEFAULTS }).flatMap(([group, value]) =>
      typeof value === 'object' ? [group, ...Object.keys(value).map((key) => `${group}.${key}`)] : [group]
    ),
    ...ACCESS_KEYS.map((key) => `log.access.${key}`),
  ])
  const names = Object.values(PEERS).flatMap((names) => Object.entries(names))

  it('lead to options that exist', () => {
    const named = names.flatMap(([, hint]) => [...hint.matchAll(/`([a-z]+(?:\.[A-Za-z]+)*)`/g)])
    const ofOurs = named.map(([, path]) => path).filter((path) => path.split('.')[0] in DEFAULTS)
    assert.ok(ofOurs.length > 30)
    assert.deepEqual(
      ofOurs.filter((path) => !paths.has(path)),
      []
    )
  })

  it('are no options of ours at the top, and each once', () => {
    const lower = names.map(([name]) => name.toLowerCase())
    assert.equal(new Set(lower).size, lower.length)
    // `health` is a group, and inside `endpoints` it is what others call liveness.
    const ours = Object.keys(DEFAULTS).filter((name) => name !== 'health')
    assert.deepEqual(
      lower.filter((name) => ours.includes(name)),
      []
    )
  })

  it('end in a full stop or a question mark', () => {
    for (const [name, hint] of names) assert.match(hint, /[.?] $/, name)
  })
})

it('a name with another ending is suggested the option', () => {
  for (const [given, wanted] of [
    ['sheding', 'shed'],
    ['shedding', 'shed'],
    ['loggerOptions', 'logger'],
    ['endpoint', 'endpoints'],
    ['releases', 'release'],
  ])
    assert.throws(() => resolveOptions({ [given]: {} }), {
      message: new RegExp(`^Unknown option \`${given}\`\\. Did you mean \`${wanted}\`\\?`),
    })
})
