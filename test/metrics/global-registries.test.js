'use strict'
// The global registries that /metrics finds: of prom-client, of its successor, and of further copies.

const assert = require('node:assert/strict')
const { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { dirname, join } = require('node:path')
const { afterEach, test } = require('node:test')
const promClient = require('prom-client')
const prometheusIo = require('@prometheus-io/client')
const { globalRegistries } = require('../../src/core/metrics/registries/global-registries')
const { leapingClock } = require('../support/leaping-clock')
const { parse, oneValue } = require('../support/metrics-text')
const { runNode } = require('../support/run-node')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

afterEach(() => {
  promClient.register.clear()
  prometheusIo.register.clear()
})

async function serveMetrics(t, options) {
  const clock = leapingClock()
  const spillway = spillwayFor(t, { endpoints: { allow: () => true }, ...options }, clock)
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  const scrape = async (accept) => {
    clock.leap()
    return (await get('/metrics', { headers: accept === undefined ? {} : { accept } })).body
  }
  return { spillway, scrape, families: async () => parse(await scrape()) }
}

const gauge = ({ Gauge }, name, value) => new Gauge({ name, help: `Gauge ${name}.` }).set(value)

/** Another copy of prom-client, as npm installs it below a package that asks for another version. */
function anotherCopy(t) {
  const root = mkdtempSync(join(tmpdir(), 'spillway-copy-'))
  const own = dirname(require.resolve('prom-client'))
  const copy = join(root, 'node_modules', 'prom-client')
  cpSync(own, copy, { recursive: true, dereference: true })
  for (const name of ['tdigest', '@opentelemetry/api']) {
    const link = join(root, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(dirname(own), name), link)
  }
  t.after(() => {
    for (const file of Object.keys(require.cache)) if (file.startsWith(root)) delete require.cache[file]
    rmSync(root, { recursive: true })
  })
  return require(copy)
}

test('/metrics shows the global registries of prom-client and of @prometheus-io/client, in each format', async (t) => {
  const { scrape, families } = await serveMetrics(t)
  gauge(promClient, 'jobs', 1)
  gauge(prometheusIo, 'mails', 2)
  const shown = await families()
  assert.deepEqual([oneValue(shown, 'jobs'), oneValue(shown, 'mails')], [1, 2])
  const openMetrics = await scrape('application/openmetrics-text')
  assert.match(openMetrics, /^jobs 1(?:\.0)?$/m)
  assert.match(openMetrics, /^mails 2(?:\.0)?$/m)
})

test('a library that is loaded after the first scrape is found at the next', async (t) => {
  const { families } = await serveMetrics(t)
  await families()
  gauge(anotherCopy(t), 'late', 3)
  assert.equal(oneValue(await families(), 'late'), 3)
})

test('with the option `registry`, no global registry is shown', async (t) => {
  const registry = new prometheusIo.Registry()
  const { families } = await serveMetrics(t, { registry })
  gauge(promClient, 'jobs', 1)
  gauge(prometheusIo, 'mails', 2)
  const names = [...(await families()).keys()]
  assert.deepEqual(
    names.filter((name) => ['jobs', 'mails'].includes(name)),
    []
  )
})

test("of two metrics of one name prom-client's is shown; the message has the names and both libraries", async (t) => {
  const told = []
  const logger = { warn() {}, error: ({ err, place }) => told.push([place, err.message]) }
  const { families, spillway } = await serveMetrics(t, { logger })
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
    gauge(prometheusIo, name, 2)
    gauge(promClient, name, 1)
  }
  gauge(prometheusIo, 'mails', 2)
  const shown = await families()
  assert.deepEqual([oneValue(shown, 'a'), oneValue(shown, 'g'), oneValue(shown, 'mails')], [1, 1, 2])
  const [[place, message]] = told
  assert.equal(place, 'registries')
  const [before, after] = message.split('Only the metrics of ')
  assert.equal(
    before,
    "Two global registries have metrics of the same name: 'a', 'b', 'c', 'd', 'e' and 2 more. "
  )
  assert.match(
    after,
    /[\\/]prom-client are shown, not those of .*[\\/]@prometheus-io[\\/]client\. Use one library, or pass the `registry` to show\.$/
  )
  await families()
  assert.equal(told.length, 1)
  assert.deepEqual(spillway.snapshot().internalErrors, { registries: 2 })
})

test('the default metrics of both libraries are shown once, and ours of the same meaning are left out', async (t) => {
  const never = { eventLoopMonitoringPrecision: 2 ** 31 - 1 }
  promClient.collectDefaultMetrics(never)
  prometheusIo.collectDefaultMetrics(never)
  const { families } = await serveMetrics(t)
  const names = [...(await families()).keys()]
  assert.equal(new Set(names).size, names.length)
  assert.ok(names.includes('nodejs_heap_size_used_bytes'))
  assert.ok(!names.includes('v8js_memory_heap_used_bytes'))
})

test('outside of the cache of modules, as in a bundle, the registry is that of our own prom-client', () => {
  const [{ registry }, ...others] = globalRegistries({})
  assert.equal(registry, promClient.register)
  assert.deepEqual(others, [])
})

test('what is no registry is passed over, in a file of that name too', () => {
  const own = require.resolve('../../src/core/metrics/registries/global-registries')
  const exported = [
    undefined,
    null,
    {},
    class {},
    Object.assign(class {}, { globalRegistry: { metrics() {} } }),
  ]
  const others = exported.map((exports, i) => [`/app/${i}/lib/registry.js`, { exports }])
  const cache = Object.fromEntries([
    ...others,
    ['/app/5/lib/registry.js', undefined],
    [own, require.cache[own]],
  ])
  assert.deepEqual(globalRegistries(/** @type {any} */ (cache)), [])
})

const SCRAPE = `
  const server = require('node:http').createServer((_req, res) => res.end())
  const spillway = require('./src').createSpillway({ logger: false, ...options })
  spillway.attach(server)
  server.listen(0, '127.0.0.1', async () => {
    const text = await (await fetch('http://127.0.0.1:' + server.address().port + '/metrics')).text()
    const files = Object.keys(require.cache).filter((file) => /prom-client|tdigest|bintrees/.test(file))
    console.log(JSON.stringify({ text, files }))
    process.exit()
  })`

test('a registry that throws hides nothing but itself', async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'spillway-throws-')), 'lib', 'registry.js')
  t.after(() => {
    delete require.cache[file]
    rmSync(dirname(dirname(file)), { recursive: true })
  })
  const refuse = () => {
    throw new Error('a registry that throws')
  }
  const methods = { getMetricsAsArray: refuse, getMetricsAsJSON: refuse, getSingleMetric: refuse }
  const throwing = new Proxy({}, { get: refuse })
  mkdirSync(dirname(file))
  gauge(promClient, 'jobs', 1)
  gauge(prometheusIo, 'mails', 2)
  for (const [globalRegistry, errors] of /** @type {[object, number | undefined][]} */ ([
    [methods, 1],
    [{ ...methods, getMetricsAsArray: () => [null] }, 1],
    [throwing, undefined],
  ])) {
    require.cache[file] = /** @type {any} */ ({ exports: Object.assign(class {}, { globalRegistry }) })
    const { families, spillway } = await serveMetrics(t)
    const shown = await families()
    assert.deepEqual([oneValue(shown, 'jobs'), oneValue(shown, 'mails')], [1, 2])
    assert.equal(spillway.snapshot().internalErrors.metrics, errors)
  }
})

test('nothing of prom-client is loaded for a scrape, nor what only it depends on', async (t) => {
  for (const options of [{}, { fleet: { directory: mkdtempSync(join(tmpdir(), 'spillway-fleet-')) } }]) {
    if (options.fleet !== undefined)
      t.after(() => rmSync(options.fleet.directory, { recursive: true, force: true }))
    const { output } = await runNode(`const options = ${JSON.stringify(options)};${SCRAPE}`, { t })
    assert.match(output.text, /^spillway_build_info/m)
    assert.deepEqual(output.files, [])
  }
})

test('`metrics.defaults` loads prom-client where nobody else has, and shows its default metrics', async (t) => {
  const { output } = await runNode(`const options = { metrics: { defaults: true } };${SCRAPE}`, { t })
  assert.match(output.text, /^nodejs_version_info/m)
  assert.ok(output.files.length > 0)
})

test('what an ES module imports is found', async (t) => {
  const lines = `
    import { createRequire } from 'node:module'
    import { Gauge } from '@prometheus-io/client'
    import { Gauge as OfOther } from 'prom-client'
    const require = createRequire(process.cwd() + '/')
    new Gauge({ name: 'mails', help: 'Mails.' }).set(2)
    new OfOther({ name: 'jobs', help: 'Jobs.' }).set(1)
    const options = {};${SCRAPE}`
  const { output } = await runNode(lines, { args: ['--input-type=module'], t })
  const families = parse(output.text)
  assert.deepEqual([oneValue(families, 'jobs'), oneValue(families, 'mails')], [1, 2])
})
