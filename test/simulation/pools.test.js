'use strict'
// Observed pools in simulated time: at ten times what a pool can do it serves what it can, in time; below,
// and for routes that do not need it, nothing is rejected; and nothing is left of a trouble two seconds after
// it.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { judge } = require('./judge')
const { poolStack } = require('./pool-stack')
const { World } = require('./world')

const MAX_WAIT_MS = 180
const BESIDE = { steps: [{ burn: 0.1 }] }
const HYPER = { rare: 200, share: 0.05, usual: 10 }
const MAX_SHED = 0.001

const worldOf = (spec, options, shed) =>
  new World(structuredClone({ seed: 3, ...spec }), {
    stack: poolStack(options),
    shed,
    keepsRequests: false,
  }).run()

/** What became of the requests of a route that came in a time. */
function judged({ requests }, route, fromMs, toMs) {
  const counted = requests.filter((each) => each.route === route && each.atMs >= fromMs && each.atMs < toMs)
  const served = counted.filter(({ servedMs }) => servedMs !== undefined)
  const tookMs = served.map(({ servedMs, atMs }) => servedMs - atMs).sort((a, b) => a - b)
  return {
    shed: counted.filter(({ shedMs }) => shedMs !== undefined).length / counted.length,
    perSecond: (served.length * 1000) / (toMs - fromMs),
    p99Ms: tookMs[Math.floor(tookMs.length * 0.99)],
  }
}

const WORKS = [
  { size: 5, queryMs: 10, steps: [{ wait: 10, pool: 'pool' }] },
  { size: 50, queryMs: 100, steps: [{ wait: 100, pool: 'pool' }] },
  { size: 5, queryMs: 10, awaitMs: 200, steps: [{ wait: 200 }, { wait: 10, pool: 'pool' }] },
  { size: 5, queryMs: 10, asks: 3, steps: Array.from({ length: 3 }, () => ({ wait: 10, pool: 'pool' })) },
]

for (const { size, queryMs, steps, awaitMs = 0, asks = 1 } of WORKS) {
  for (const times of [0.5, 1, 2, 5, 10]) {
    test(`a pool of ${size}, ${asks} of ${queryMs} ms after ${awaitMs} ms, at ${times} times its capacity`, () => {
      const capacity = (size * 1000) / (queryMs * asks)
      const open = [
        { route: 0, perSecond: capacity / 2, toMs: 2000 },
        { route: 0, perSecond: capacity * times, fromMs: 2000, toMs: 8000 },
        { route: 1, perSecond: 100 },
      ]
      const routes = [{ steps: [...steps, { burn: 0.1 }] }, BESIDE]
      const world = worldOf({ seconds: 9, pools: { pool: size }, routes, open })
      const found = judged(world, 0, 3000, 8000)
      assert.equal(judged(world, 1, 0, 9000).shed, 0)
      assert.ok(found.p99Ms <= awaitMs + asks * queryMs + 1.3 * MAX_WAIT_MS, `p99 ${found.p99Ms} ms`)
      if (times < 1) assert.ok(found.shed <= MAX_SHED, `${found.shed} shed`)
      else assert.ok(found.perSecond >= 0.95 * capacity, `${found.perSecond} of ${capacity}/s`)
      const reasons = world.admission.sample().shed.map(({ reason }) => reason)
      assert.deepEqual(reasons, times > 1 ? ['pool:pool'] : reasons)
    })
  }
}

for (const [what, wait, meanMs] of /** @type {[string, any, number]} */ ([
  ['even', [1, 39], 20],
  ['uneven', HYPER, 19.5],
  ['slow', [100, 3900], 2000],
])) {
  for (const size of [1, 5, 50]) {
    test(`uses that are ${what}, of a pool of ${size} at 70 % of its capacity: nothing is rejected`, () => {
      const seconds = meanMs > 1000 ? 200 : 30
      const open = [{ route: 0, perSecond: (size * 700) / meanMs }]
      const routes = [{ steps: [{ wait, pool: 'pool' }, { burn: 0.1 }] }]
      const world = worldOf({ seed: 9, seconds, pools: { pool: size }, routes, open })
      assert.ok(judged(world, 0, 0, seconds * 1000).shed <= MAX_SHED)
    })
  }
}

for (const [perSecond, wait] of [
  [300, 1000],
  [380, 1000],
  [100, 3000],
]) {
  test(`${perSecond}/s that wait ${wait} ms for somebody else before they ask are ahead of nobody who asks at once`, () => {
    const open = [
      { route: 0, perSecond },
      { route: 1, perSecond: 50 },
    ]
    const query = [{ wait: 10, pool: 'pool' }, { burn: 0.1 }]
    const routes = [{ steps: [{ wait }, ...query] }, { steps: query }]
    const world = worldOf({ seconds: 12, pools: { pool: 5 }, routes, open })
    for (const route of [0, 1]) assert.ok(judged(world, route, 0, 12_000).shed <= MAX_SHED)
  })
}

const TROUBLES = {
  'queries that take ten times as long': { kind: 'slow', atMs: 3000, ms: 5000, factor: 10 },
  'a stall of five seconds': { kind: 'stall', atMs: 3000, ms: 5000 },
  'ten times the load': { kind: 'surge', atMs: 3000, ms: 5000, route: 0, perSecond: 1500 },
  'wrong estimates': { kind: 'force', atMs: 3000, ms: 0, factor: 100 },
}

for (const [what, trouble] of Object.entries(TROUBLES)) {
  test(`two seconds after ${what} nothing is rejected any more`, () => {
    const open = [
      { route: 0, perSecond: 150 },
      { route: 1, perSecond: 200 },
    ]
    const routes = [{ steps: [{ wait: 20, pool: 'pool' }, { burn: 0.3 }] }, BESIDE]
    const world = worldOf({ seconds: 14, pools: { pool: 5 }, routes, open, disturbances: [trouble] })
    const endMs = trouble.atMs + trouble.ms + 2000
    const found = judged(world, 0, endMs, 13_500)
    assert.equal(found.shed, 0)
    assert.ok(found.p99Ms < 100, `p99 ${found.p99Ms} ms`)
    assert.equal(judged(world, 1, endMs, 13_500).shed, 0)
  })
}

test('connections that are never given back keep out the requests that need them, and no others', () => {
  const open = [
    { route: 0, perSecond: 150 },
    { route: 1, perSecond: 200 },
  ]
  const routes = [{ steps: [{ wait: 20, pool: 'pool' }, { burn: 0.3 }] }, BESIDE]
  const disturbances = [{ kind: 'leak', pool: 'pool', atMs: 3000 }]
  const world = worldOf({ seconds: 14, pools: { pool: 5 }, routes, open, disturbances })
  assert.ok(judged(world, 0, 5000, 14_000).shed > 0.8)
  assert.equal(judged(world, 1, 0, 14_000).shed, 0)
})

for (const times of [0.7, 2, 10]) {
  test(`mode observe says what adaptive does, at ${times} times the capacity`, () => {
    const spec = {
      seconds: 8,
      pools: { pool: 5 },
      routes: [{ steps: [{ wait: 10, pool: 'pool' }, { burn: 0.1 }] }],
      open: [{ route: 0, perSecond: 500 * times }],
    }
    const sumOf = (counts) => counts.reduce((sum, { count }) => sum + count, 0)
    const would = sumOf(worldOf(spec, {}, { mode: 'observe' }).admission.sample().wouldShed)
    const shed = sumOf(worldOf(spec, {}).admission.sample().shed)
    assert.ok(Math.abs(would - shed) <= 0.25 * shed, `${would} and ${shed}`)
  })
}

for (const mode of ['adaptive', 'observe']) {
  test(`mode ${mode}: a burst that the pool serves within half a second is not rejected`, () => {
    const spec = {
      seconds: 8,
      pools: { pool: 5 },
      routes: [{ steps: [{ wait: 10, pool: 'pool' }, { burn: 0.1 }] }],
      open: [{ route: 0, perSecond: 150 }],
      disturbances: [{ kind: 'surge', atMs: 3000, ms: 200, route: 0, perSecond: 1000 }],
    }
    const { shed, wouldShed } = worldOf(spec, {}, { mode }).admission.sample()
    assert.deepEqual(
      [...shed, ...wouldShed].filter(({ count }) => count > 0),
      []
    )
  })
}

/**
 * 113: a handler blocks the loop for 80 ms, beside a route behind a pool. 356: 897 requests at once, which
 * the pool serves in 330 ms.
 */
const SEEDS = [113, 356, 1, 2, 3, 4, 5, 6]

test(`${SEEDS.length} generated services with observed pools are not harmed`, () => {
  for (const seed of SEEDS) {
    const found = judge(seed, { stack: poolStack() })
    assert.ok(!found.isHarmed, JSON.stringify(found))
  }
})
