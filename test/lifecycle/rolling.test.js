'use strict'
// Workers replaced under load, nobody notices. `npm run bench:rolling` is the same for longer, and with workers that leak.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { roll } = require('../../bench/rolling-run')

// Without shedding: whether the machine has time for all of them is no question here.
const PLAN = { workers: 2, rate: 100, shed: 'off', drainTimeout: 2000 }

test('a rolling restart under load on kept connections: no request fails', {
  timeout: 60_000,
  skip: process.platform === 'win32',
}, async () => {
  const { sent, answered, failures, replaced, workers, crashed, killed } = await roll(
    PLAN,
    async ({ child, heard }) => {
      const restarted = heard('restarted')
      child.send('restart')
      await restarted
    }
  )
  assert.deepEqual(failures, {})
  assert.equal(answered, sent)
  assert.ok(sent > 20, String(sent))
  assert.deepEqual({ replaced, crashed, killed }, { replaced: 2, crashed: 0, killed: 0 })
  assert.ok(workers >= 3, `${workers} workers have answered`)
})
