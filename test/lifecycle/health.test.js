'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Health } = require('../../src/lifecycle/health')

test('open: alive and ready', () => {
  const health = new Health()
  assert.deepEqual(health.live(), { status: 200, body: { status: 'ok' } })
  assert.deepEqual(health.ready(), { status: 200, body: { status: 'ok' } })
})

test('closed: still alive, but no more ready', () => {
  const health = new Health()
  health.close()
  assert.deepEqual(health.live(), { status: 200, body: { status: 'ok' } })
  assert.deepEqual(health.ready(), { status: 503, body: { status: 'unavailable', reason: 'closed' } })
})
