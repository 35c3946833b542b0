'use strict'
// How many requests are expected to ask a pool.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ExpectedAsk, RouteUses } = require('../../src/features/pools/route-uses')

function build() {
  const uses = new RouteUses('other')
  const route = uses.findOrAdd('GET', '/db')
  const admitted = []
  const record = { pressure: { onAdmit: (nowMs) => admitted.push(nowMs) } }
  return { admitted, come: () => new ExpectedAsk(record, route), uses }
}

test('a request is expected once it runs, for 100 ms: what the gate queues or rejects never is', () => {
  const { admitted, come, uses } = build()
  const coming = come()
  assert.equal(uses.updateAsksBefore(0, 0), 0)
  coming.begin(50)
  assert.deepEqual(admitted, [50])
  assert.equal(uses.updateAsksBefore(0, 149), 1)
  assert.equal(uses.updateAsksBefore(0, 150), 0)
})

test('a request that has asked or ended is not expected any more', () => {
  const { come, uses } = build()
  const [first, second] = [come(), come()]
  first.begin(0)
  second.begin(0)
  first.arrive(5)
  assert.equal(uses.updateAsksBefore(0, 5), 1)
  second.leave()
  assert.equal(uses.updateAsksBefore(0, 5), 0)
})
