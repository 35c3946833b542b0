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
    // As the Prometheus operator labels a pod.
    .replace(/(targets: .*)$/m, '$1\n        labels: { namespace: shops, pod: shop-1 }')
  const prometheus = await startPrometheus(t, 0, { config })
  for (let i = 0; i < REQUESTS; i++) assert.equal((await fetch(`${app}/users/7`)).status, 200)
  await prometheus.scraped(3)
  const [up] = await prometheus.answer('up == 1')
  assert.deepEqual([up.metric.job, up.value[1]], ['shop', '1'])
  const { groups } = await prometheus.api('rules')
  assert.ok(groups.length > 0)

  const [autoscaler] = readManifests('kubernetes/autoscaler.yml')
  const [{ metadata }] = autoscaler.spec.triggers
  const numberOf = async (query) => {
    const [{ value }, ...others] = await prometheus.answer(query)
    assert.equal(others.length, 0, 'one number')
    return Number(value[1])
  }
  const pressure = await numberOf(metadata.query)
  assert.ok(pressure > 0 && pressure <= 1, `${pressure}`)

  // As prometheus-adapter asks for the pods of a HorizontalPodAutoscaler.
  const [{ seriesQuery, metricsQuery, resources }] = readYaml('kubernetes/prometheus-adapter.yml').rules
    .custom
  assert.deepEqual(Object.keys(resources.overrides), ['namespace', 'pod'])
  const [{ metric }] = await prometheus.answer(seriesQuery)
  const [autoscalerOfPods] = readManifests('kubernetes/horizontal-pod-autoscaler.yml')
  assert.equal(metric.__name__, autoscalerOfPods.spec.metrics[0].pods.metric.name)
  const query = metricsQuery
    .replaceAll('<<.GroupBy>>', 'pod')
    .replaceAll('<<.Series>>', metric.__name__)
    .replaceAll('<<.LabelMatchers>>', 'namespace="shops",pod=~"shop-1"')
  const ofPod = await numberOf(query)
  assert.ok(ofPod > 0 && ofPod <= 1, `${ofPod}`)
})
