'use strict'
// What the doctor reads of calls that fail: their number, and the status of the last one.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { OutgoingTable } = require('../../src/features/outgoing/outgoing-table')

const PARTS = { waitMs: 0, connections: 0, lookupMs: 0, connectMs: 0, firstByteMs: 0 }

test('failed calls are counted by route, with the status of the last of them', () => {
  const table = new OutgoingTable('(other)')
  const call = (route, status) =>
    table.record('pricing', {
      ...{ method: 0, port: '', status, errorType: '', parts: PARTS, agent: 0, sockets: 0 },
      ...{ durationMs: 9, isAnswered: status > 0, isError: status === 0 || status >= 500 },
      ...{ asker: { method: 'GET', route }, isShown: false, nowMs: 0, awaitedMs: 9 },
    })
  for (const status of [200, 500, 503, 200]) call('/carts', status)
  for (const status of [503, 0]) call('/offers', status)
  call('/healthy', 200)
  assert.deepEqual(
    [...table.totals().values()].map(({ route, count, errors, failedStatus }) => [
      route,
      count,
      errors,
      failedStatus,
    ]),
    [
      ['/carts', 4, 2, 503],
      ['/offers', 2, 2, 0],
      ['/healthy', 1, 0, 0],
    ]
  )
})
