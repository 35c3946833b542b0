'use strict'
// The strict parser of Prometheus' Python client over what /metrics serves as OpenMetrics. Installed for the
// time of the test from PyPI, into a folder of its own.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { before, after, test } = require('node:test')
const promClient = require('prom-client')
const prometheusClient = require('@prometheus-io/client')
const { FAMILIES } = require('../support/families')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')
const { startTracing, traced } = require('../support/tracing')

const ACCEPT = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5'
const READ = `
import json, sys
from prometheus_client.openmetrics.parser import text_fd_to_metric_families
print(json.dumps([{
  'name': f.name, 'type': f.type, 'unit': f.unit, 'help': f.documentation,
  'samples': [[s.name, s.labels, str(s.value), s.exemplar and s.exemplar.labels] for s in f.samples],
} for f in text_fd_to_metric_families(sys.stdin)]))
`

let folder
let python

before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spillway-python-'))
  python = path.join(folder, 'bin', 'python')
  execFileSync('python3', ['-m', 'venv', folder])
  execFileSync(python, ['-m', 'pip', 'install', '--quiet', 'prometheus_client==0.26.0'])
})

after(() => fs.rmSync(folder, { recursive: true, force: true }))

/** @returns {Map<string, any>} the families as Python reads them; throws if it does not */
function readStrictly(input) {
  const options = {
    input,
    encoding: /** @type {const} */ ('utf8'),
    stdio: 'pipe',
    maxBuffer: 1e8,
    env: { PYTHONUTF8: '1' },
  }
  const families = JSON.parse(execFileSync(python, ['-c', READ], options))
  return new Map(families.map((family) => [family.name, family]))
}

test('the parser is strict', () => {
  const wrong = [
    'a_total 1\n',
    '# TYPE a counter\na 1\n# EOF\n',
    '# TYPE a histogram\na_bucket{le="1"} 1\n# EOF\n',
  ]
  for (const text of wrong) assert.throws(() => readStrictly(text), /ValueError/)
})

for (const [name, client] of Object.entries({
  'prom-client': promClient,
  '@prometheus-io/client': prometheusClient,
})) {
  for (const contentType of ['PROMETHEUS_CONTENT_TYPE', 'OPENMETRICS_CONTENT_TYPE']) {
    test(`it accepts all of it, with a registry of ${name} of ${contentType}, again and again`, async (t) => {
      startTracing(t)
      const registry = new client.Registry(client.Registry[contentType])
      fillRegistry(client, registry)
      const label = () => 'say "größe" \\ 🚰\nnew'
      const spillway = spillwayFor(t, { registry, endpoints: { allow: () => true }, routes: { label } })
      const { get } = await serve(
        t,
        spillway.wrap(
          traced((req, res) => {
            res.statusCode = req.url === '/fail' ? 500 : 200
            res.end()
          })
        )
      )
      for (const url of ['/', '/fail', '/']) await get(url)
      await ended(spillway, 3)
      for (let i = 0; i < 2; i++) {
        const { body } = await get('/metrics', { headers: { accept: ACCEPT } })
        const families = readStrictly(body)
        check(families, label())
        // Its own text in between takes the `_total` off the counters it holds.
        await registry.metrics()
        await get('/metrics')
      }
    })
  }
}

function fillRegistry(client, registry) {
  const registers = [registry]
  registry.setDefaultLabels({ app: 'mine "1"' })
  new client.Counter({ name: 'jobs_total', help: 'A "job"\\\n.', labelNames: ['a'], registers }).inc({
    a: '\\"\n',
  })
  new client.Gauge({ name: 'jobs', help: 'In the way of the family of jobs_total.', registers }).set(-0.5)
  new client.Gauge({ name: 'nothing', help: 'NaN.', registers }).set(Number.NaN)
  new client.Gauge({ name: 'odd_total', help: 'A gauge.', registers }).set(1e21)
  const buckets = [0.00001, 0.1, 1, 2.5, 10, 1_000_000, 1_234_567]
  const enableExemplars = registry.contentType.includes('openmetrics')
  const histogram = new client.Histogram({
    name: 'sizes',
    help: 'Sizes.',
    labelNames: ['a'],
    buckets,
    registers,
    enableExemplars,
  })
  if (enableExemplars) histogram.observe({ labels: { a: 'b' }, value: 2, exemplarLabels: { traceId: 'abc' } })
  else histogram.observe({ a: 'b' }, 2)
  const percentiles = [0, 0.001, 0.5, 1]
  new client.Summary({ name: 'times', help: 'Times.', percentiles, registers }).observe(3)
}

function check(families, route) {
  for (const { name, type } of FAMILIES) {
    assert.equal(families.get(type === 'counter' ? name.replace(/_total$/, '') : name)?.type, type, name)
  }
  assert.equal(families.get('http_server_request_duration_seconds').unit, 'seconds')
  assert.equal(families.get('spillway_request_bytes').unit, 'bytes')
  const { samples } = families.get('http_server_request_duration_seconds')
  const exemplars = samples.flatMap(([, labels, , exemplar]) => (exemplar ? [{ labels, exemplar }] : []))
  assert.ok(exemplars.length >= 2)
  for (const { labels, exemplar } of exemplars) {
    assert.equal(labels.http_route, route)
    assert.deepEqual(Object.keys(exemplar), ['trace_id', 'span_id'])
  }
  assert.equal(families.get('jobs_total').type, 'unknown')
  assert.deepEqual(families.get('jobs_total').samples[0].slice(0, 3), [
    'jobs_total',
    { a: '\\"\n', app: 'mine "1"' },
    '1',
  ])
  assert.equal(families.get('jobs_total').help, 'A "job"\\\n.')
  assert.equal(families.get('process_cpu_seconds').type, 'counter')
  assert.equal(families.get('sizes').samples.length, 10)
}
