'use strict'
// The recording rules for dashboards of other packages, in a real Prometheus: the same names, labels and
// spelling, and the same numbers.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { join } = require('node:path')
const { test } = require('node:test')
const express = require('express')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')
const { startPrometheus } = require('../support/prometheus')

const FOLDER = join(__dirname, '../../examples/grafana')
const NAME = 'http_request_duration_seconds'

/**
 * By package: how it writes what is asked below. Both were run to see it: express-prom-bundle 8.0,
 * prometheus-api-metrics 4.0.
 */
const SPELLINGS = {
  'express-prom-bundle': {
    labels: ['method', 'path', 'status_code'],
    series: {
      'GET /user/#val 200': 3,
      'GET /user/#val/order/#val 200': 1,
      'GET /files/*path 200': 1,
      'GET /plain 500': 1,
      'GET (unmatched) 404': 1,
    },
  },
  'prometheus-api-metrics': {
    labels: ['method', 'route', 'code'],
    series: {
      'GET /user/:id 200': 2,
      'GET /user/:name 200': 1,
      'GET /user/:id/order/:order 200': 1,
      'GET /files/*path 200': 1,
      'GET /plain 500': 1,
      'GET N/A 404': 1,
    },
  },
}

for (const [name, { labels, series }] of Object.entries(SPELLINGS)) {
  test(`panels of ${name} get _bucket, _count and _sum as before`, async (t) => {
    const rules = join(FOLDER, `${name}.yml`)
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)

    const spillway = spillwayFor(t)
    const app = express().set('env', 'test')
    app.use(spillway.express())
    app.get('/user/:id', (req, res, next) => (req.params.id === 'bob' ? next() : res.end()))
    app.get('/user/:name', (_req, res) => res.end())
    app.get('/user/:id/order/:order', (_req, res) => res.end())
    app.get('/files/*path', (_req, res) => res.end())
    app.get('/plain', (_req, res) => res.status(500).end())
    const { port, get } = await serve(t, app)
    const paths = ['/user/7', '/user/8', '/user/bob', '/user/8/order/9', '/files/a/b', '/plain', '/nowhere']
    for (const path of paths) await get(path)
    await ended(spillway, paths.length)
    const prometheus = await startPrometheus(t, port, { rules })
    await prometheus.scraped(2)

    const textOf = (metric) => labels.map((label) => metric[label]).join(' ')
    for (const part of ['count', 'bucket']) {
      const le = part === 'bucket' ? '{le="+Inf"}' : ''
      const found = await prometheus.answer(`${NAME}_${part}${le}`)
      assert.deepEqual(
        Object.fromEntries(found.map(({ metric, value }) => [textOf(metric), Number(value[1])])),
        series
      )
      for (const { metric } of found)
        assert.deepEqual(
          Object.keys(metric).filter((label) => label.startsWith('http_')),
          []
        )
    }
    const [{ value: recorded }] = await prometheus.answer(`sum(${NAME}_sum)`)
    const [{ value: own }] = await prometheus.answer('sum(http_server_request_duration_seconds_sum)')
    assert.ok(Math.abs(Number(recorded[1]) - Number(own[1])) < 1e-9)
    const quantiles = await prometheus.answer(
      `histogram_quantile(0.99, sum by (le, ${labels[1]}) (${NAME}_bucket))`
    )
    assert.ok(quantiles.every(({ value }) => Number(value[1]) > 0))
  })
}
