'use strict'
// examples/service/: the server as each of the files beside it starts it, and those files as what reads them
// would.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const root = require('../../package.json')
const { TIMEOUTS_MS } = require('../../src/core/lifecycle/drain-mode')
const { SERVICE, readManifests, readService, readYaml, startService } = require('./service-folder')

const [deployment, service] = readManifests('kubernetes/deployment.yml')
const [monitor] = readManifests('kubernetes/service-monitor.yml')
const [autoscaler] = readManifests('kubernetes/autoscaler.yml')
const [podAutoscaler] = readManifests('kubernetes/horizontal-pod-autoscaler.yml')
const compose = readYaml('compose.yml')
const prometheus = readYaml('prometheus.yml')
const pod = deployment.spec.template
const [container] = pod.spec.containers

const bearer = (token) => ({ headers: { authorization: `Bearer ${token}` } })

test('the package asks for this spillway, and for the Express it is tested with', () => {
  const { dependencies, scripts } = JSON.parse(readService('package.json'))
  assert.deepEqual(dependencies, {
    express: root.devDependencies.express,
    spillway: `^${root.version}`,
  })
  assert.equal(scripts.start, 'node server.js')
})

describe('on Kubernetes', () => {
  for (const [manifest, models] of [
    [deployment, 'kubernetes-models/apps/v1'],
    [service, 'kubernetes-models/v1'],
    [monitor, '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'],
    [autoscaler, '@kubernetes-models/keda/keda.sh/v1alpha1'],
    [podAutoscaler, 'kubernetes-models/autoscaling/v2'],
  ]) {
    test(`the ${manifest.kind} is valid by its schema`, async () => {
      const { [manifest.kind]: Model } = await import(models)
      new Model(manifest).validate()
    })
  }

  test('started as the Deployment says it passes its probes, shows its metrics to who has the token, and leaves with 0', async (t) => {
    const token = 'a-token-of-the-secret'
    const env = Object.fromEntries(container.env.map(({ name, value = token }) => [name, value]))
    const { child, app, admin, ended } = await startService(t, { command: container.command, env })
    for (const { httpGet } of [container.livenessProbe, container.readinessProbe]) {
      assert.equal(httpGet.port, 'http')
      assert.equal((await fetch(app + httpGet.path)).status, 200, httpGet.path)
    }
    const [{ path: metrics, port, authorization }] = monitor.spec.endpoints
    assert.equal(port, 'admin')
    assert.deepEqual(
      authorization.credentials,
      container.env.find(({ name }) => name === 'ADMIN_TOKEN').valueFrom.secretKeyRef
    )
    assert.equal((await fetch(admin + metrics, bearer(token))).status, 200)
    assert.equal((await fetch(admin + metrics)).status, 401)
    assert.equal((await fetch(app + metrics)).status, 404, 'not on the port of the world')
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })

  test('the ports and labels of one file are those of the other, and the time to leave is enough', () => {
    const ports = container.ports.map(({ name }) => name)
    for (const { targetPort } of service.spec.ports) assert.ok(ports.includes(targetPort), targetPort)
    const offered = service.spec.ports.map(({ name }) => name)
    for (const { port } of monitor.spec.endpoints) assert.ok(offered.includes(port), port)
    assert.deepEqual(service.spec.selector, pod.metadata.labels)
    assert.deepEqual(deployment.spec.selector.matchLabels, pod.metadata.labels)
    assert.deepEqual(monitor.spec.selector.matchLabels, service.metadata.labels)
    for (const { spec } of [autoscaler, podAutoscaler])
      assert.equal(spec.scaleTargetRef.name, deployment.metadata.name)
    const drainSeconds = 5 + TIMEOUTS_MS.production / 1000
    assert.ok(pod.spec.terminationGracePeriodSeconds > drainSeconds)
  })
})

describe('with docker compose', () => {
  test('what is mounted and copied is there', () => {
    for (const { volumes = [] } of Object.values(compose.services)) {
      for (const volume of volumes) {
        const [source] = volume.split(':')
        assert.ok(fs.statSync(path.join(SERVICE, source)).isFile(), source)
      }
    }
    for (const [, files] of readService('Dockerfile').matchAll(/^COPY (.+) \.\/$/gm)) {
      for (const file of files.split(' ')) assert.ok(fs.existsSync(path.join(SERVICE, file)), file)
    }
  })

  test('every port is open to this machine alone', () => {
    for (const { ports = [] } of Object.values(compose.services)) {
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:\d+:\d+$/)
    }
  })

  test('Prometheus and Grafana read the files where they are mounted', () => {
    const mounts = (name) => compose.services[name].volumes.map((volume) => volume.split(':')[1])
    assert.ok(mounts('prometheus').includes(prometheus.rule_files[0]))
    const [provider] = readYaml('grafana/dashboards.yml').providers
    assert.ok(mounts('grafana').some((mount) => path.dirname(mount) === provider.options.path))
    const [source] = readYaml('grafana/datasources.yml').datasources
    assert.equal(new URL(source.url).hostname, 'prometheus')
    assert.equal(source.jsonData.timeInterval, prometheus.global.scrape_interval)
  })

  test('started as it says, it answers Prometheus by the name and the token that has, and no other name', async (t) => {
    const { environment } = compose.services.shop
    const [{ authorization, static_configs: configs }] = prometheus.scrape_configs
    const [target] = configs[0].targets
    const { admin } = await startService(t, { env: environment })
    const ask = (host) =>
      new Promise((resolve, reject) => {
        const headers = { ...bearer(authorization.credentials).headers, host }
        http
          .get(`${admin}/metrics`, { headers }, (res) => resolve(res.resume().statusCode))
          .on('error', reject)
      })
    assert.equal(await ask(target), 200)
    assert.equal(await ask('evil.example'), 421)
    assert.ok(Number.parseInt(compose.services.shop.stop_grace_period, 10) > TIMEOUTS_MS.production / 1000)
  })
})
