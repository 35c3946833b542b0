'use strict'
// The page of heap snapshots: one is sent at a time, and the place is free again when a client has gone.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const { heapSnapshotPage } = require('../../src/features/admin/heap-snapshot-page')
const { PauseRest } = require('../../src/features/profiles/pause-rest')
const { FakeClock } = require('../support/fake-clock')
const { serve } = require('../support/serve')

const AMPLE = { heapUsedBytes: 1, heapLimitBytes: 100, rssBytes: 1, rssLimitBytes: 1000 }
const CONFIRMED = { method: 'POST', path: '/?confirm=yes' }

test('while a snapshot is sent, another is refused', async (t) => {
  const pauses = /** @type {number[]} */ ([])
  const clock = new FakeClock()
  const rest = new PauseRest(clock, (ms) => pauses.push(ms))
  const page = heapSnapshotPage({
    profiles: /** @type {any} */ ({ memory: AMPLE, snapshotRefusal: undefined, rest }),
  })
  const responses = /** @type {http.ServerResponse[]} */ ([])
  const { port, request } = await serve(t, (req, res) => {
    responses.push(res)
    page(req, res)
  })
  // A client that does not read on.
  const slow = http.request({ host: '127.0.0.1', port, agent: false, ...CONFIRMED })
  slow.on('error', () => {})
  slow.end()
  const [res] = await once(slow, 'response')
  res.on('error', () => {})
  assert.equal(res.statusCode, 200)
  const second = await request(CONFIRMED)
  assert.deepEqual(
    [second.status, second.body],
    [409, 'Another heap snapshot is being sent. Wait until it has ended.\n']
  )
  assert.equal(pauses.length, 1)
  slow.destroy()
  if (!responses[0].closed) await once(responses[0], 'close')
  await new Promise((resolve) => setImmediate(resolve))
  const third = await request(CONFIRMED)
  assert.equal(third.status, 200)
  assert.ok(JSON.parse(third.body).snapshot.node_count > 1000)
  rest.pausing(() => clock.advance(100))
  const fourth = await request(CONFIRMED)
  assert.deepEqual([fourth.status, fourth.headers['retry-after']], [429, '2'])
})
