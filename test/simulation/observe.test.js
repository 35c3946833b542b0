'use strict'
// Mode `observe` says what mode `adaptive` does, in simulated time: the same share of an open-loop overload,
// within a quarter, and nothing where that rejects nothing. Of clients that wait for their answers it says
// only whether some would be rejected.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { WORKS, capacityOf } = require('./overload')
const { stack } = require('./stack')
const { World } = require('./world')

const total = (counts) => counts.reduce((sum, { count }) => sum + count, 0)

/**
 * @returns {{ count: number, share: number }} what the mode says of that load, of the requests that were read
 */
function said(mode, spec, untilMs) {
  const world = new World(structuredClone(spec), { stack, shed: { mode }, keepsRequests: false })
  const { shed, wouldShed } = world.run(untilMs).admission.sample()
  const count = total(mode === 'observe' ? wouldShed : shed)
  return { count, share: count / world.requests.length }
}

const OVERLOADS = [1.2, 1.5, 2, 5, 10]
/**
 * Requests of `bimodal` block the loop at random, other ones in each mode: their shares are means of many
 * runs.
 */
const SEEDS = { cpu: [3], await: [3], mixed: [3], bimodal: [1, 2, 3, 4, 5, 6, 7, 8] }
const WITHIN = 0.25
/** By chance it is now idle and now full, which the model of a mean cost smooths. */
const WITHIN_BY_CHANCE = 0.4

/**
 * Half the capacity for two seconds, then so many times it without end: a turn may last longer than the time
 * that is looked at.
 */
const openLoop = (work, times, arrivals, seed) => ({
  seed,
  seconds: 1000,
  pools: { pool: 10 },
  routes: [{ steps: WORKS[work].steps }],
  open: [
    { route: 0, arrivals, perSecond: capacityOf(work) / 2, toMs: 2000 },
    { route: 0, arrivals, perSecond: capacityOf(work) * times, fromMs: 2000 },
  ],
})

for (const [work, seeds] of Object.entries(SEEDS))
  for (const arrivals of ['constant', 'poisson'])
    for (const times of OVERLOADS) {
      test(`${work} at ${times} times the capacity, ${arrivals}: the share that is rejected`, () => {
        const sumOf = (mode) =>
          seeds.reduce((sum, seed) => sum + said(mode, openLoop(work, times, arrivals, seed), 8000).share, 0)
        const ratio = sumOf('observe') / sumOf('adaptive')
        const isByChance = work === 'bimodal' && arrivals === 'poisson' && times === 1.2
        const within = isByChance ? WITHIN_BY_CHANCE : WITHIN
        assert.ok(Math.abs(ratio - 1) < within, `${ratio.toFixed(2)} of it`)
      })
    }

for (const work of Object.keys(SEEDS)) {
  test(`${work} at .8 times the capacity: nothing`, () => {
    assert.equal(said('observe', openLoop(work, 0.8, 'poisson', 3), 8000).count, 0)
  })
}

const closedLoop = (burn, clients) => ({
  seconds: 8,
  routes: [{ steps: [{ burn }] }],
  closed: [{ route: 0, clients, spreadMs: 1 }],
})

for (const burn of [2, 0.5])
  for (const clients of [50, 100, 150, 200]) {
    test(`${clients} kept clients without pause, ${burn} ms each: nothing`, () => {
      assert.equal(said('observe', closedLoop(burn, clients)).count, 0)
    })
  }

for (const [burn, clients] of [
  [2, 300],
  [2, 1000],
  [0.5, 1000],
]) {
  test(`${clients} clients at once, ${burn} ms each: both modes reject some`, () => {
    for (const mode of ['adaptive', 'observe'])
      assert.ok(said(mode, closedLoop(burn, clients)).count > 0, mode)
  })
}

/** `workMs` of requests of 1 ms at once, every three seconds, beside others that come one by one. */
const bursts = (workMs, wait, reconnects) => ({
  seed: 3,
  seconds: 15,
  routes: [{ steps: wait === 0 ? [{ burn: 1 }] : [{ wait }, { burn: 1 }] }, { steps: [{ burn: 1 }] }],
  open: [
    { route: 0, perSecond: workMs / 3, batch: workMs, arrivals: 'constant', reconnects },
    { route: 1, perSecond: 650 - workMs / 3 },
  ],
})

for (const workMs of [50, 150, 300, 500])
  for (const wait of [0, 20])
    for (const reconnects of [false, true]) {
      const how = `on ${reconnects ? 'new' : 'kept'} connections, ${wait === 0 ? 'at once' : 'after a wait'}`
      test(`bursts of ${workMs} ms of work ${how}: nothing`, () => {
        assert.equal(said('observe', bursts(workMs, wait, reconnects)).count, 0)
      })
    }

const gateway = (connections, times) => ({
  seed: 3,
  seconds: 9,
  routes: [{ steps: WORKS.cpu.steps }],
  gateways: [{ connections, queues: true, forwards: 'x-forwarded-for', timeoutMs: 3000 }],
  open: [
    { route: 0, through: 0, perSecond: capacityOf('cpu') / 2, toMs: 2000 },
    { route: 0, through: 0, perSecond: capacityOf('cpu') * times, fromMs: 2000, toMs: 8000 },
  ],
})

for (const connections of [32, 64, 256, 1024]) {
  test(`a gateway with ${connections} connections at .65 times the capacity: nothing`, () => {
    assert.equal(said('observe', gateway(connections, 0.65)).count, 0)
  })
  test(`a gateway with ${connections} connections at twice the capacity: some`, () => {
    assert.ok(said('observe', gateway(connections, 2)).count > 0)
  })
}
