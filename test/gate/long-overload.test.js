'use strict'
// An overload that goes on, in simulated time: what is learnt of it must not become what is taken for normal.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { WORKS, capacityOf, load, p99 } = require('./simulated-load')

/** An overload of 25 seconds, and what was served of its third second and of its last. */
function longOverload({ steps, perSecond, disturbances = [] }) {
  const open = [{ route: 0, perSecond }]
  const spec = { seed: 3, seconds: 25, pools: { pool: 10 }, routes: [{ steps }], open, disturbances }
  const { requests } = load(spec)
  const servedIn = (fromMs) =>
    requests.filter(({ servedMs }) => servedMs >= fromMs && servedMs < fromMs + 1000)
  return [servedIn(2000), servedIn(24_000)]
}

for (const work of ['cpu', 'await', 'mixed']) {
  test(`an overload of '${work}' work is handled after 25 seconds as after two`, () => {
    const [early, late] = longOverload({ steps: WORKS[work].steps, perSecond: 2 * capacityOf(work) })
    assert.ok(late.length >= 0.97 * early.length, `${early.length} then, ${late.length} later`)
    assert.ok(p99(late) <= 1.1 * p99(early), `${p99(early)} ms then, ${p99(late)} later`)
  })
}

test('handlers that become five times as slow in the middle of an overload are admitted in greater number', () => {
  const disturbances = [{ kind: 'slow', atMs: 5000, ms: 20_000, factor: 5 }]
  const [early, late] = longOverload({ steps: WORKS.await.steps, perSecond: 1000, disturbances })
  assert.ok(late.length >= 0.8 * early.length, `${early.length} then, ${late.length} later`)
})
