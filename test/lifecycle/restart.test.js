'use strict'
// Restarted under load, nobody notices. `npm run bench:restart` is the same for longer, and beside what is usual.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { restartUnderLoad } = require('../../bench/restart-run')

const PLAN = { restarts: 3, ratePerSecond: 200, connections: 24, timeoutMs: 4000 }

test('SIGTERM under load on kept connections: no request fails', {
  timeout: 60_000,
  skip: process.platform === 'win32',
}, async () => {
  const { outcomes, exits } = await restartUnderLoad({ how: 'spillway', ...PLAN })
  assert.deepEqual(Object.keys(outcomes), ['200'], JSON.stringify(outcomes))
  assert.ok(outcomes[200] > 100)
  assert.deepEqual(exits, ['0', '0', '0'])
})
