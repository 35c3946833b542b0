'use strict'
// limit() on a route of Restify, which changes the prototypes of Node's responses for its whole process.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { createSpillway } = require('../../src')
const { RESTIFY_SKIP: skip } = require('../support/restify')
const { serve } = require('../support/serve')
const { until } = require('./limited')

const QUIET = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, child: () => QUIET }

test('one more than the slots waits, and one more than the queue is 503', { skip }, async (t) => {
  const spillway = createSpillway({ logger: false, shed: { mode: 'adaptive' }, insight: false })
  t.after(() => spillway.close())
  const server = require('restify').createServer({ log: QUIET })
  server.pre(spillway.express())
  const held = []
  const limit = spillway.limit({ name: 'report', maxConcurrent: 1, maxWait: 60_000, maxQueue: 1 })
  server.get('/report', limit, (_req, res, next) => {
    held.push(res)
    res.once('close', () => next())
  })
  const { get } = await serve(t, server.server)
  const state = () => spillway.snapshot().bulkheads[0]
  const first = get('/report')
  await until(() => held.length === 1)
  const second = get('/report')
  await until(() => state().queued === 1)
  assert.equal((await get('/report')).status, 503)
  held[0].end()
  await until(() => held.length === 2)
  held[1].end()
  assert.deepEqual([(await first).status, (await second).status], [200, 200])
  await until(() => state().running === 0)
})
