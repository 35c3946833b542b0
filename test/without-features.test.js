'use strict'
// Every feature can be left out: without its folder and its entry in src/feature-list.js an application runs,
// and is measured, as before, but for what LACKS names.

const assert = require('node:assert/strict')
const { existsSync, readFileSync } = require('node:fs')
const path = require('node:path')
const { test } = require('node:test')
const { FEATURES } = require('../src/feature-list')
const { runNode } = require('./support/run-node')
const { dependentsOf, entryOf, namesOf } = require('./without/run')

const SRC = path.join(__dirname, '..', 'src')
const ARCHITECTURE = readFileSync(path.join(__dirname, '..', 'docs', 'architecture.md'), 'utf8')
const MODULES = path.join(__dirname, '..', 'node_modules')

/** An application on Express and the plain server, with everything that the core promises. */
const application = (names) => `
  const Module = require('node:module')
  const gone = ${JSON.stringify(names)}
  const resolve = Module._resolveFilename
  Module._resolveFilename = function (...args) {
    const file = resolve.apply(this, args)
    if (gone.some((name) => file.startsWith('${SRC}/features/' + name + '/'))) throw new Error('requires ' + file)
    return file
  }
  const { FEATURES } = require('${SRC}/feature-list')
  for (const name of gone) FEATURES.splice(FEATURES.findIndex((each) => each.name === name), 1)
  const { createSpillway } = require('${SRC}/index.js')
  const express = require('${MODULES}/express')
  const spillway = createSpillway({ logger: false })
  const app = express()
  app.use(spillway.express())
  app.get('/users/:id', (req, res) => res.send(req.params.id))
  app.get('/fails', () => { throw new Error('x') })
  app.use(spillway.errorHandler())
  const server = spillway.attach(app.listen(0, '127.0.0.1', async () => {
    const url = 'http://127.0.0.1:' + server.address().port
    const ask = (path) => fetch(url + path).then(async (answer) => [answer.status, await answer.text()])
    const said = { user: await ask('/users/7'), fails: (await ask('/fails'))[0], ready: (await ask('/readyz'))[0] }
    const [, metrics] = await ask('/metrics')
    const { pools, sockets, stalls, outgoing, releases, routes } = spillway.snapshot()
    if (!gone.includes('admin')) {
      const admin = await spillway.listen({ port: 0 })
      const { routes: shown } = await (await fetch(admin.url + '/snapshot')).json()
      said.admin = shown.map(({ route }) => route)
      said.pages = []
      for (const page of ['/', '/report', '/releases', '/doctor', '/metrics', '/config'])
        said.pages.push((await fetch(admin.url + page)).status)
    }
    said.routes = routes.map(({ route }) => route)
    said.counted = /spillway_requests_total\\{[^}]*users/.test(metrics)
    said.sections = Object.keys({ pools, sockets, stalls, outgoing, releases }).filter((name) => spillway.snapshot()[name] === undefined)
    const members = {
      agent: () => spillway.agent({ port: 0 }),
      diagnose: () => spillway.diagnose(),
      fleetSnapshot: () => spillway.fleetSnapshot(),
      limit: () => spillway.limit({ name: 'report', maxConcurrent: 1 }),
      listen: () => spillway.listen({ port: 0 }),
      metricProducer: () => spillway.metricProducer(),
      pool: () => spillway.pool('orders', {}),
      pressure: () => spillway.pressure,
      shouldDegrade: () => spillway.shouldDegrade(),
      signal: () => spillway.signal(),
      sockets: () => spillway.sockets({}),
    }
    said.throws = []
    for (const [name, call] of Object.entries(members))
      try {
        await call()
      } catch (error) {
        if (error.message.includes('src/feature-list.js')) said.throws.push(name)
      }
    said.metrics = [...metrics.matchAll(/^# TYPE (\\S+)/gm)].map(([, name]) => name)
    await spillway.drain({ delay: 0, timeout: 1000 })
    console.log(JSON.stringify(said))
    process.exit()
  }))
`

/** What an application without a feature lacks: members that throw then, and metrics that are missing. */
const LACKS = {
  admin: { throws: ['listen'] },
  autoscaling: { metrics: ['spillway_pressure_ratio'] },
  balancer: { throws: ['agent'] },
  doctor: { throws: ['diagnose'], metrics: ['spillway_findings'] },
  outgoing: { metrics: ['http_client_request_duration_seconds'] },
  bulkheads: { throws: ['limit'] },
  pools: { throws: ['pool'] },
  pressure: { throws: ['pressure', 'shouldDegrade'] },
  sockets: { throws: ['sockets'] },
  fleet: { throws: ['fleetSnapshot'], metrics: ['spillway_workers'] },
  'abort-signals': { throws: ['signal'] },
  waste: { metrics: ['spillway_wasted_seconds_total'] },
  releases: { metrics: ['spillway_build_info'] },
  opentelemetry: { throws: ['metricProducer'] },
}
const lackOf = (name) => ({ throws: [], metrics: [], ...LACKS[name] })

test('docs/architecture.md says of each feature what an application without it lacks', () => {
  for (const { name } of FEATURES) {
    const [row = ''] = new RegExp(`^\\| .${name}/. \\|.*$`, 'm').exec(ARCHITECTURE) ?? []
    const { throws, metrics } = lackOf(name)
    for (const each of [...throws, ...metrics, ...dependentsOf(name)])
      assert.ok(row.includes(`\`${each}`), `${name}: ${each}`)
  }
})

test('each feature has a folder', () => {
  for (const { name } of FEATURES) assert.ok(existsSync(path.join(SRC, 'features', name)), name)
})

test('`npm run without` finds the entry of each feature, and the tests that name it', () => {
  const list = readFileSync(path.join(SRC, 'feature-list.js'), 'utf8')
  for (const { name } of FEATURES) {
    const [entry = ''] = entryOf(name).exec(list) ?? []
    assert.deepEqual(
      [...entry.matchAll(/\bname: '([\w-]+)'/g)].map(([, each]) => each),
      [name]
    )
    assert.match(`require('../../src/features/${name}/${name}')`, namesOf(name))
  }
})

/** Metrics that even the whole application does not show: of calls, and of other workers. */
const NOT_SHOWN = ['http_client_request_duration_seconds', 'spillway_workers']

test('with all features, the metrics are shown that are missing without one', async () => {
  const { output } = await runNode(application([]))
  const names = FEATURES.flatMap(({ name }) => lackOf(name).metrics)
  for (const each of names.filter((name) => !NOT_SHOWN.includes(name)))
    assert.ok(output.metrics.includes(each), each)
})

for (const { name } of FEATURES) {
  const gone = [name, ...dependentsOf(name)]
  test(`without ${gone.join(' and ')} an application runs, and is measured`, async () => {
    const { code, output } = await runNode(application(gone))
    assert.equal(code, 0)
    const { admin, metrics, pages, sections, throws, ...said } = output
    assert.deepEqual(said, {
      user: [200, '7'],
      fails: 500,
      ready: 200,
      routes: ['/users/:id', '/fails'],
      counted: true,
    })
    assert.deepEqual(sections, [])
    assert.deepEqual(new Set(throws), new Set(gone.flatMap((each) => lackOf(each).throws)))
    for (const each of gone.flatMap((one) => lackOf(one).metrics)) assert.ok(!metrics.includes(each), each)
    if (gone.includes('admin')) return
    assert.deepEqual(admin, ['/users/:id', '/fails'])
    assert.deepEqual(new Set(pages), new Set([200]))
  })
}
