'use strict'
// examples/proxies/ingress.yaml, by the schemas of Kubernetes. The other files are tried by the real proxies,
// in test/proxies/.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { test } = require('node:test')
const { parseAllDocuments } = require('yaml')
const { readManifests } = require('./service-folder')

const file = (name) => readFileSync(join(__dirname, '../../examples/proxies', name), 'utf8')
const [ingress, controller, headers] = parseAllDocuments(file('ingress.yaml')).map((document) =>
  document.toJS()
)

for (const [manifest, models] of [
  [ingress, 'kubernetes-models/networking.k8s.io/v1'],
  [controller, 'kubernetes-models/v1'],
  [headers, 'kubernetes-models/v1'],
])
  test(`the ${manifest.kind} ${manifest.metadata.name} is valid by its schema`, async () => {
    const { [manifest.kind]: Model } = await import(models)
    new Model(manifest).validate()
  })

test('the Ingress leads to the Service, and the controller finds the headers', () => {
  const [, service] = readManifests('kubernetes/deployment.yml')
  const { backend } = ingress.spec.rules[0].http.paths[0]
  assert.equal(backend.service.name, service.metadata.name)
  assert.ok(service.spec.ports.some(({ name }) => name === backend.service.port.name))
  const { name, namespace } = headers.metadata
  assert.equal(controller.data['proxy-set-headers'], `${namespace}/${name}`)
})

test('the Ingress says what nginx.conf says', () => {
  const nginx = file('nginx.conf')
  for (const [annotation, value] of Object.entries(ingress.metadata.annotations)) {
    const directive = annotation.replace('nginx.ingress.kubernetes.io/', '').replaceAll('-', '_')
    assert.match(nginx, new RegExp(`^ *${directive} ${value}s?;$`, 'm'))
  }
  for (const [name, value] of Object.entries(headers.data))
    assert.match(
      nginx.replaceAll('"', ''),
      new RegExp(
        `proxy_set_header ${name} ${value.replace(/\$\{msec\}/, '$arrived').replace(/[${}]/g, '\\$&')};`
      )
    )
})
