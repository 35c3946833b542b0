'use strict'
// Each metric that OpenTelemetry's semantic conventions name has their name, unit, kind and attributes, by the
// installed version. With a new version the first test fails: record-conventions.js then writes what is new,
// and the other tests show the differences.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { test } = require('node:test')
const conventions = require('@opentelemetry/semantic-conventions/incubating')
const express = require('express')
const { Pool } = require('pg')
const { ATTRIBUTES, METRICS } = require('../../src/core/metrics/conventions')
const { withoutDatabase } = require('../pools/fake-client')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')
const recorded = require('./conventions.json')
const { IN_SCOPE, packageVersion } = require('./scope')

/** Metrics in scope that Spillway does not have, and why. */
const NOT_SHOWN = {
  'db.client.connection.create_time': 'no pool tells when it opens a connection',
  'db.client.connection.idle.max': 'a setting that few pools have',
  'db.client.connection.idle.min': 'a setting that few pools have',
  'http.client.active_requests': 'opt-in',
  'http.client.connection.duration': 'opt-in',
  'http.client.open_connections': 'opt-in',
  'http.client.request.body.size': 'opt-in',
  'http.client.response.body.size': 'opt-in',
  'process.context_switches': 'of the host: its exporters have it',
  'process.disk.io': 'of the host: its exporters have it',
  'process.disk.operations': 'of the host: its exporters have it',
  'process.memory.utilization': 'process.memory.usage over spillway.memory_limit, which knows the container',
  'process.memory.virtual': 'says nothing about Node, which reserves address space',
  'process.network.io': 'of the host: its exporters have it',
  'process.paging.faults': 'of the host: its exporters have it',
  'process.signals_pending': 'of the host: its exporters have it',
  'process.thread.count': 'of the host: its exporters have it',
  'process.unix.file_descriptor.count': 'opt-in',
  'process.uptime': 'process_start_time_seconds, in Prometheus',
  'process.windows.handle.count': 'opt-in',
}

/** Attributes that are not required and that no point has, and why. */
const LEFT_OUT = {
  'network.protocol.name': 'always http',
  'network.protocol.version': 'would double the series of a route that HTTP/1.1 and HTTP/2 ask for',
}

const INCUBATING = 'dist/experimental_'
const STABLE = 'dist/stable_'

/** The declared names of a kind that are not deprecated. @param {'metrics' | 'attributes'} kind */
function currentNames(kind) {
  const root = require.resolve('@opentelemetry/semantic-conventions').replace(/dist\/.*/, '')
  const text = [STABLE, INCUBATING].map((start) => readFileSync(`${root}${start}${kind}.d.cts`, 'utf8'))
  const declared = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*declare const ((?:METRIC|ATTR)_\w+): "([^"]+)"/g
  const all = [...text.join('\n').matchAll(declared)]
  return new Set(all.filter(([, comment]) => !comment.includes('@deprecated')).map(([, , , name]) => name))
}

/** The values that the conventions list for an attribute; none if any value may be. */
function valuesOf(attribute) {
  const start = `${attribute.replaceAll('.', '_').toUpperCase()}_VALUE_`
  return Object.keys(conventions)
    .filter((key) => key.startsWith(start))
    .map((key) => conventions[key])
}

test('the record is of the installed version', () => {
  assert.equal(
    recorded.version,
    packageVersion(),
    'run test/opentelemetry/record-conventions.js: its comment says how'
  )
})

test('the record has each metric in scope that is not deprecated', () => {
  const current = [...currentNames('metrics')].filter((name) => IN_SCOPE.test(name))
  assert.ok(current.length > 40, String(current.length))
  assert.deepEqual(Object.keys(recorded.metrics).sort(), current.sort())
})

test('each metric in scope is shown, or there is a reason', () => {
  assert.deepEqual(
    Object.keys(recorded.metrics).filter((name) => METRICS[name] === undefined),
    Object.keys(NOT_SHOWN)
  )
})

test('each metric has the unit and the kind of the conventions', () => {
  const expected = Object.keys(METRICS).map((name) => {
    const { kind, unit } = recorded.metrics[name] ?? {}
    return [name, [kind, unit]]
  })
  assert.deepEqual(Object.entries(METRICS), expected)
})

test('no attribute is unknown or deprecated', () => {
  const current = currentNames('attributes')
  assert.deepEqual(
    ATTRIBUTES.filter((name) => !current.has(name)),
    []
  )
})

test('the points have the attributes of the conventions, with the values that these list', async (t) => {
  const points = await shownPoints(t)
  for (const name of Object.keys(METRICS)) {
    const levels = recorded.metrics[name].attributes
    const all = points.get(name) ?? []
    assert.ok(all.length > 0, `${name} has no point`)
    for (const attributes of all) {
      const unknown = Object.keys(attributes).filter((each) => levels[each] === undefined)
      assert.deepEqual(unknown, [], name)
      const required = Object.keys(levels).filter((each) => levels[each] === 'required')
      const missing = required.filter((each) => attributes[each] === undefined)
      assert.deepEqual(missing, [], name)
      for (const [attribute, value] of Object.entries(attributes)) {
        const values = valuesOf(attribute)
        if (LISTS_ALL.has(attribute)) assert.ok(values.includes(value), `${attribute} ${value}`)
      }
    }
    const wanted = Object.keys(levels).filter((each) => levels[each] !== 'opt_in' && !LEFT_OUT[each])
    const unseen = wanted.filter((each) => all.every((attributes) => attributes[each] === undefined))
    assert.deepEqual(unseen, [], name)
  }
})

/** Attributes whose values are listed in full. */
const LISTS_ALL = new Set([
  'cpu.mode',
  'db.client.connection.state',
  'http.request.method',
  'nodejs.eventloop.state',
  'v8js.gc.type',
])

/** The attributes of all points, by metric, after each has counted something. */
async function shownPoints(t) {
  const spillway = spillwayFor(t, { metrics: { bodySizes: true } })
  const app = express().use(spillway.express())
  app.get('/ok', (_req, res) => res.send('ok'))
  app.get('/down', (_req, res) => res.status(503).end())
  const { get, port } = await serve(t, app)
  const pool = new Pool(withoutDatabase())
  spillway.pool('orders', pool)
  await pool.query('select 1')
  await pool.end()
  await get('/ok')
  await get('/down')
  await (await fetch(`http://127.0.0.1:${port}/down`)).text()
  await ended(spillway, 3)
  let garbage = []
  while (spillway.snapshot().runtime.collections.minor.count === 0) {
    for (let i = 0; i < 10_000; i++) garbage.push([i])
    garbage = []
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { resourceMetrics } = await spillway.metricProducer().collect()
  return new Map(
    resourceMetrics.scopeMetrics[0].metrics.map(({ descriptor, dataPoints }) => [
      descriptor.name,
      dataPoints.map(({ attributes }) => attributes),
    ])
  )
}
