'use strict'
// examples/service/ with a real Prometheus that has the configuration of its compose.yml: the target is up by
// its name and token, the rules load, and what the autoscaler asks has an answer.

const assert = require('node:assert/strict')
const path = require('node:path')
const { test } = require('node:test')
const { readManifests, readService, readYaml, startService } = require('../examples/service-folder')
const { startPrometheus } = require('../support/prometheus')

const RULES = path.join(__dirname, '../../examples/grafana/rules.yml')
const REQUESTS = 200

test('Prometheus scrapes the service as compose.yml starts both, and the autoscaler has its number', async (t) => {
  const { environment } = readYaml('compose.yml').services.shop
  const { app, admin } = await startService(t, { env: environment })
  // What Docker's names would do, and a scrape every two seconds so that a rate is there soon.
  const config = readService('prometheus.yml')
    .replace(environment.ADMIN_NAMES, new URL(admin).host)
    .replace('/etc/prometheus/rules.yml', RULES)
    .replaceAll('15s', '2s')
  const prometheus = await startPrometheus(t, 0, { config })
  for (let i = 0; i < REQUESTS; i++) assert.equal((await fetch(`${app}/users/7`)).status, 200)
  await prometheus.scraped(3)
  const [up] = await prometheus.answer('up == 1')
  assert.deepEqual([up.metric.job, up.value[1]], ['shop', '1'])
  const { groups } = await prometheus.api('rules')
  assert.ok(groups.length > 0)

  const [autoscaler] = readManifests('kubernetes/autoscaler.yml')
  for (const { metadata } of autoscaler.spec.triggers) {
    const [loops, ...others] = await prometheus.answer(metadata.query)
    assert.equal(others.length, 0, 'one number')
    assert.ok(Number(loops.value[1]) > 0 && Number(loops.value[1]) <= 1, loops.value[1])
  }
})
