'use strict'
// Workers replaced under load, nobody notices. `npm run bench -- rolling` is the same for longer, and with
// workers that leak.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { roll } = require('../../bench/rolling/run')

// Without shedding, and with a minute for each: whether the machine has time for all of them is no question
// here. Nor is it what becomes of a connection that both ends give up at once: a machine that stands still
// for five seconds makes them.
const MINUTE = 60_000
// Two at once, over two connections: one alone would be answered by one worker until that goes.
const PLAN = {
  workers: 2,
  rate: 100,
  atOnce: 2,
  shed: 'off',
  drainTimeout: MINUTE,
  timeoutMs: MINUTE,
  keepAliveTimeout: MINUTE,
}

test('a rolling restart under load on kept connections: no request fails', {
  skip: process.platform === 'win32',
}, async () => {
  const { sent, answered, failures, replaced, workers, crashed, killed } = await roll(
    PLAN,
    async ({ child, heard }, answeredBy) => {
      await answeredBy(2)
      const restarted = heard('restarted')
      child.send('restart')
      await restarted
      await answeredBy(3)
    }
  )
  assert.deepEqual(failures, {})
  assert.equal(answered, sent)
  assert.ok(sent > 20, String(sent))
  assert.deepEqual({ replaced, crashed, killed }, { replaced: 2, crashed: 0, killed: 0 })
  assert.ok(workers >= 3, `${workers} workers have answered`)
})
