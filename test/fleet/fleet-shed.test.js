'use strict'
// Rejected requests in the snapshot of a fleet.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

test('rejected requests of all reasons are counted, those of unknown routes too', async (t) => {
  const spillway = spillwayFor(t, { shed: { mode: 'threshold', maxConcurrent: 1 } })
  const rejected = () => spillway.snapshot().admission.shed.reduce((sum, { count }) => sum + count, 0)
  const held = []
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => held.push(res))
  )
  assert.equal((await spillway.fleetSnapshot()).shed, 0)
  const answers = Promise.all(Array.from({ length: 20 }, (_, i) => get(`/unknown/${i}`)))
  while (rejected() + held.length < 20) await new Promise((resolve) => setImmediate(resolve))
  for (const res of held) res.end()
  await answers
  await ended(spillway, held.length)
  const { requests, shed } = await spillway.fleetSnapshot()
  assert.ok(shed > 0)
  assert.deepEqual([requests.sinceStart.count, shed], [held.length, 20 - held.length])
})
