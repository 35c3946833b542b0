'use strict'
// How a service is named that nobody has named.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { serviceOf } = require('../../src/features/admin/process-description')

test('a service has the name of its telemetry, then of its platform, of its package, and of its main file', () => {
  const all = {
    OTEL_SERVICE_NAME: 'orders',
    K_SERVICE: 'run',
    HEROKU_APP_NAME: 'dyno',
    npm_package_name: 'shop',
  }
  const names = []
  for (const name of Object.keys(all)) {
    names.push(serviceOf(all, '/srv/shop/server.js'))
    delete all[name]
  }
  assert.deepEqual(names, ['orders', 'run', 'dyno', 'shop'])
  assert.equal(serviceOf({ OTEL_SERVICE_NAME: ' ' }, '/srv/shop/server.js'), 'shop/server.js')
  assert.equal(serviceOf({}, undefined), '')
  assert.equal(serviceOf({ K_SERVICE: 'a'.repeat(200) }).length, 128)
})
