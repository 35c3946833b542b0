'use strict'
// The marks over the panels, by Prometheus's own tool: one for each deploy and each restart, at whatever step
// Grafana asks, and none where nothing has happened. And what is shown by version, while a fleet has two, and
// what is offered.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { ANNOTATIONS, ROWS } = require('../../examples/grafana/rows')

/**
 * Version 2 comes after ten minutes; so does the process that takes the place of the first, as a new worker.
 */
const SERIES = [
  ['spillway_build_info{job="shop", instance="a", version="1", revision="x"}', '1x39 stale'],
  ['spillway_build_info{job="shop", instance="a", version="2", revision="y"}', '_x39 1x80'],
  ['spillway_start_time_seconds{job="shop", instance="a", worker="1"}', '100x39 stale'],
  ['spillway_start_time_seconds{job="shop", instance="a", worker="2"}', '_x39 700x80'],
  ['spillway_start_time_seconds{job="shop", instance="b"}', '50x120'],
]

const expressionOf = (name, step) =>
  ANNOTATIONS.find((each) => each.name === name)
    .expression.replaceAll('$__interval', step)
    .replace(/\$(job|instance)/g, '.+')

/** @returns {string} what promtool prints, nothing where every answer is as expected */
function ask(t, expectations, series = SERIES) {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-marks-')), 'marks.yml')
  t.after(() => fs.rmSync(path.dirname(file), { recursive: true }))
  const tests = {
    interval: '15s',
    input_series: series.map(([series, values]) => ({ series, values })),
    promql_expr_test: expectations,
  }
  fs.writeFileSync(file, JSON.stringify({ tests: [tests] }))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  return status === 0 ? '' : stdout + stderr
}

for (const [name, mark] of [
  ['Deploys', { labels: '{version="2"}', value: 1 }],
  ['Restarts', { labels: '{job="shop", instance="a"}', value: 700 }],
]) {
  for (const step of [1, 5, 15]) {
    test(`'${name}' marks what came between two steps of ${step} minutes, once`, (t) => {
      const minutes = [10 - step / 2, 10 + step / 2, 10 + 1.5 * step]
      const expectations = minutes
        .filter((minute) => minute > step)
        .map((minute) => ({
          expr: expressionOf(name, `${step}m`),
          eval_time: `${minute * 60}s`,
          exp_samples: minute === 10 + step / 2 ? [mark] : [],
        }))
      assert.equal(ask(t, expectations), '')
    })
  }
}

const filledIn = (title) =>
  ROWS.flatMap(({ panels }) => panels)
    .find((panel) => panel.title === title)
    .of[0][0].replace(/\$(job|instance|route)/g, '.+')
    .replaceAll('$__rate_interval', '5m')

test('while workers of two versions answer as one, what is shown by version is of the later', (t) => {
  const workers = [1, 2].flatMap((n) => [
    [`spillway_build_info{job="shop", instance="a", version="${n}", worker="${n}"}`, '1x40'],
    [`spillway_start_time_seconds{job="shop", instance="a", worker="${n}"}`, `${n}00x40`],
  ])
  const requests = ['errored', 'completed'].map((outcome) => [
    `spillway_requests_total{job="shop", instance="a", http_route="/", outcome="${outcome}"}`,
    '0+15x40',
  ])
  const exp_samples = [{ labels: '{version="2"}', value: 0.5 }]
  const expr = filledIn('Errors by version')
  assert.equal(ask(t, [{ expr, eval_time: '10m', exp_samples }], [...workers, ...requests]), '')
})

test('what is offered has those in it whom the gate lets by without counting, of class bypass or in mode off', (t) => {
  const counters = [
    ['spillway_requests_total{job="shop", instance="a", outcome="completed"}', '0+45x40'],
    ['spillway_admitted_requests_total{job="shop", instance="a"}', '0+15x40'],
    ['spillway_abandoned_requests_total{job="shop", instance="a"}', '0+15x40'],
    ['spillway_shed_requests_total{job="shop", instance="a", reason="delay"}', '0+15x40'],
  ]
  const expr = filledIn('Offered and served')
  assert.equal(ask(t, [{ expr, eval_time: '10m', exp_samples: [{ labels: '{}', value: 5 }] }], counters), '')
})
