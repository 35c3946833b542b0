'use strict'
// What a user is told who got something wrong: a stable code, and one clear sentence that says what to do.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { inspect } = require('node:util')
const prometheusIo = require('@prometheus-io/client')
const promClient = require('prom-client')
const { createSpillway, SpillwayError } = require('../src/index.js')
const { spillwayFor } = require('./support/spillway.js')

test('a SpillwayError is an Error with a code, and its name is not a property of its own', () => {
  const error = new SpillwayError('ERR_SPILLWAY_MISUSE', 'Do this.')
  assert.ok(error instanceof Error)
  assert.equal(error.name, 'SpillwayError')
  assert.deepEqual(Object.keys(error), ['code'])
  assert.equal(String(error), 'SpillwayError: Do this.')
  assert.match(error.stack, /^SpillwayError: Do this\.\n +at .*errors\.test\.js/)
  assert.match(inspect(error), /code: 'ERR_SPILLWAY_MISUSE'/)
})

test('an unknown handler is refused with the names there are', (t) => {
  const spillway = spillwayFor(t)
  for (const name of ['status', '', 'constructor', '__proto__', undefined, null, 7, Symbol('metrics')]) {
    assert.throws(() => spillway.handler(name), {
      name: 'SpillwayError',
      code: 'ERR_SPILLWAY_UNKNOWN_HANDLER',
      message: `Unknown handler '${String(name)}'. Known handlers: metrics, live, ready.`,
    })
  }
})

const req = { url: '/', method: 'GET' }
const MISUSES = [
  [
    'the Express factory used as the middleware',
    (spillway) => spillway.express(req, {}, () => {}),
    /^spillway\.express was used as the middleware itself\. Call it: app\.use\(spillway\.express\(\)\)\./,
  ],
  [
    'the Koa factory used as the middleware',
    (spillway) => spillway.koa({ req }, () => {}),
    /^spillway\.koa was used as the middleware itself\. Call it: app\.use\(spillway\.koa\(\)\)\./,
  ],
  [
    'the Koa middleware in Express',
    (spillway) => spillway.koa()(req, {}, () => {}),
    /^spillway\.koa\(\) was given to Express, Connect or Restify\. Use app\.use\(spillway\.express\(\)\)\.$/,
  ],
  [
    'the Express middleware in Koa',
    (spillway) => spillway.express()({ req }, () => {}),
    /^spillway\.express\(\) was given to Koa\. Use app\.use\(spillway\.koa\(\)\)\.$/,
  ],
  [
    'the Express middleware as a plain listener',
    (spillway) => spillway.express()(req, {}),
    /^spillway\.express\(\) was called without `next`\. .*http\.createServer\(spillway\.wrap\(listener\)\)/,
  ],
  ...Object.entries({
    "Fastify's reply given to the error handler by a filter of Nest": undefined,
    'the same, with a `next` made up for it': () => {},
  }).map(([misuse, next]) => [
    misuse,
    (spillway) => spillway.errorHandler()(new Error('x'), { raw: req }, { raw: {}, statusCode: 200 }, next),
    /^spillway\.errorHandler\(\) was given an object that is not a response of Node\. .*reply\.raw/,
  ]),
]

for (const [misuse, use, message] of MISUSES) {
  test(`${misuse} is told what to write instead`, (t) => {
    const spillway = spillwayFor(t)
    assert.throws(() => use(spillway), { name: 'SpillwayError', code: 'ERR_SPILLWAY_MISUSE', message })
  })
}

for (const [client, { Registry, Gauge }] of Object.entries({
  'prom-client': promClient,
  '@prometheus-io/client': prometheusIo,
})) {
  test(`two instances on one registry of ${client} are told to take one each`, (t) => {
    const registry = new Registry()
    const first = spillwayFor(t, { registry })
    const names = registry.getMetricsAsArray().map(({ name }) => name)
    assert.throws(() => createSpillway({ registry }), {
      name: 'SpillwayError',
      code: 'ERR_SPILLWAY_REGISTRY_TAKEN',
      message:
        'This `registry` already holds the metrics of another spillway: give each instance a separate registry, ' +
        'leave `registry` out, or close() the other first.',
    })
    assert.deepEqual(
      registry.getMetricsAsArray().map(({ name }) => name),
      names
    )
    first.close()
    assert.deepEqual(registry.getMetricsAsArray(), [])
    spillwayFor(t, { registry })
  })

  test(`a metric of the same name in a registry of ${client} is named, and nothing is registered`, (t) => {
    const registry = new Registry()
    const name = 'http_server_active_requests'
    new Gauge({ name, help: 'Theirs.', registers: [registry] })
    assert.throws(() => createSpillway({ registry }), {
      name: 'SpillwayError',
      code: 'ERR_SPILLWAY_REGISTRY_TAKEN',
      message:
        `This \`registry\` already has a metric named '${name}', which spillway exports too: remove that metric, ` +
        'or leave `registry` out.',
    })
    assert.deepEqual(
      registry.getMetricsAsArray().map((metric) => metric.name),
      [name]
    )
    registry.removeSingleMetric(name)
    spillwayFor(t, { registry })
  })
}

test('two instances without a registry do not clash', (t) => {
  spillwayFor(t)
  spillwayFor(t)
})
