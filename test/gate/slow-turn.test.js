'use strict'
// One turn of the loop that is much longer than the others, in simulated time: it makes nobody too old, and
// nothing dear.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { burst, load, wasRejected } = require('./simulated-load')

const SEED = 3
const stall = (atMs, ms) => ({ kind: 'stall', atMs, ms })
const rejectedOf = ({ requests }) => requests.filter(wasRejected).length

// 35 wait behind the one that blocks for 700 ms, for 70 ms; and what one in 200 took is not what the next
// will take.
for (const [blockMs, perSecond] of [
  [450, 100],
  [700, 50],
  [1500, 20],
]) {
  test(`a handler that blocks for ${blockMs} ms every four seconds causes no rejection at ${perSecond} a second`, () => {
    const routes = [{ steps: [{ burn: 2 }] }, { steps: [{ burn: blockMs }] }]
    const open = [
      { route: 0, perSecond },
      { route: 1, perSecond: 0.25, arrivals: 'constant' },
    ]
    assert.equal(rejectedOf(load({ seed: SEED, seconds: 60, routes, open })), 0)
  })
}

for (const stoodMs of [150, 450, 5000]) {
  test(`a machine that stands still for ${stoodMs} ms makes none of those that are queued too old`, () => {
    const open = [{ route: 0, perSecond: 250, toMs: 2000 }, burst(2500, 80)]
    const spec = { seed: SEED, seconds: 10, routes: [{ steps: [{ burn: 2 }] }], open }
    const world = load({ ...spec, disturbances: [stall(2500.1, stoodMs)] })
    assert.equal(rejectedOf(world), 0)
  })
}

// Those that come meanwhile burn for 100 ms together; the last for nearly as long as maxDelay.
for (const [blockMs, waitMs, burnMs, perSecond] of [
  [1000, 500, 2, 50],
  [1000, 1000, 2, 20],
  [100, 50, 1, 200],
  [300, 50, 1, 200],
  [1000, 50, 1, 100],
  [1000, 20, 0.2, 300],
  [300, 20, 2, 200],
]) {
  test(`a timer that blocks for ${blockMs} ms every ten seconds causes no rejection at ${perSecond} a second that await ${waitMs} ms and burn ${burnMs}`, () => {
    const disturbances = []
    for (let atMs = 10_500; atMs < 60_000; atMs += 10_000) disturbances.push(stall(atMs, blockMs))
    const routes = [{ steps: [{ wait: waitMs }, { burn: burnMs }] }]
    const spec = { seed: SEED, seconds: 65, routes, open: [{ route: 0, perSecond, toMs: 60_000 }] }
    assert.equal(rejectedOf(load({ ...spec, disturbances })), 0)
  })
}

test('those that are read in the turn after the long one, as from new connections, run as well', () => {
  const open = [{ route: 0, perSecond: 100, toMs: 5000 }, burst(6500.1, 120)]
  const spec = { seed: SEED, seconds: 10, routes: [{ steps: [{ wait: 50 }, { burn: 1 }] }], open }
  assert.equal(rejectedOf(load({ ...spec, disturbances: [stall(5500, 1000)] })), 0)
})
