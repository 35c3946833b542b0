'use strict'
// Handlers that wait for something else, on an idle loop in simulated time. What is no overload must turn nobody away: a
// backend of uneven speed, one that hesitates, or becomes slower, slow routes beside fast ones. And what is one must be seen soon.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { DEFAULTS } = require('../../src/options')
const { SimulatedGate, p99, randomFrom } = require('./simulated-gate')

const BURN_MS = 0.2
const LOOKUP = {}
const OTHER = {}

/** Half of it fixed, half exponential. */
const uneven = (random, meanMs) => meanMs * (0.5 - 0.5 * Math.log(1 - random()))

/** A backend without bounds: `takesMs(nowMs, random, request)`. */
const backend = (takesMs) => ({
  handlerOn(loop) {
    const random = randomFrom(5)
    return (done, request) =>
      loop.at(loop.nowMs + takesMs(loop.nowMs, random, request), () => {
        loop.burn(BURN_MS)
        done()
      })
  },
})

/** So many at once, beside those of the other route. */
const pool = (slots, takesMs, otherMs) => ({
  handlerOn(loop) {
    const line = []
    let free = slots
    const query = (done) => {
      if (free === 0) return line.push(done)
      free--
      loop.at(loop.nowMs + (typeof takesMs === 'function' ? takesMs() : takesMs), () => {
        free++
        if (line.length > 0) query(line.shift())
        loop.burn(BURN_MS)
        done()
      })
    }
    return (done, request) => (request.route === OTHER ? loop.at(loop.nowMs + otherMs, done) : query(done))
  },
})

/** Loads a second, one after the other, each for so many seconds; `others` come besides. */
function offered(work, loads, others = []) {
  const simulation = new SimulatedGate({ work })
  const random = randomFrom(1)
  const arrivals = others.map((atMs) => simulation.arrival(atMs, { route: OTHER }))
  let fromMs = 0
  for (const [perSecond, seconds] of loads) {
    const toMs = fromMs + seconds * 1000
    arrivals.push(...simulation.poisson({ perSecond, fromMs, toMs, random, of: () => ({ route: LOOKUP }) }))
    fromMs = toMs
  }
  simulation.run(
    arrivals.sort((a, b) => a.atMs - b.atMs),
    fromMs + 3000
  )
  const came = (from, to) =>
    simulation.requests.filter(({ atMs, route }) => route === LOOKUP && atMs >= from && atMs < to)
  const isRejected = ({ admission }) => admission.isRejected
  return {
    shed: (from, to) => came(from, to).filter(isRejected).length / came(from, to).length,
    p99: (from, to) => p99(came(from, to).filter(({ servedMs }) => servedMs !== undefined)),
    served: (from, to) => came(from, to).filter((request) => !isRejected(request)).length,
  }
}

const STEP = [
  [150, 4],
  [1500, 6],
]
const STEADY = [[300, 12]]
const burst = (fromMs) => Array.from({ length: 50 }, (_, i) => fromMs + i * 0.05)

for (const [what, takesMs] of [
  ['of 10 to 60 ms', (_now, random) => uneven(random, 20)],
  ['of 100 to 600 ms', (_now, random) => uneven(random, 200)],
  [
    'of which one answer in a hundred takes two seconds',
    (_now, random) => (random() < 0.01 ? 2000 : uneven(random, 10)),
  ],
  [
    'that stands still for 100 ms of each second',
    (nowMs, random) => {
      const endMs = nowMs + uneven(random, 20)
      return Math.max(endMs, endMs % 1000 < 100 ? endMs - (endMs % 1000) + 100 : 0) - nowMs
    },
  ],
]) {
  test(`a backend ${what} turns nobody away, nor when ten times as many come`, () => {
    assert.ok(offered(backend(takesMs), STEP).shed(0, 10_000) <= 0.001)
  })
}

for (const [atOnce, meanMs] of [
  [300, 200],
  [100, 200],
  [400, 200],
  [200, 400],
]) {
  test(`${atOnce} within a tenth of each second, before a backend of ${meanMs / 2} ms and more, turn next to nobody away`, () => {
    const seconds = Array.from({ length: 30 }, () => [
      [10 * atOnce, 0.1],
      [atOnce / 5, 0.9],
    ])
    const { shed } = offered(
      backend((_now, random) => uneven(random, meanMs)),
      seconds.flat()
    )
    assert.ok(shed(5000, 30_000) <= 0.02, String(shed(5000, 30_000)))
  })
}

test('a backend that stands still for two seconds turns nobody away when it goes on', () => {
  const takesMs = (nowMs, random) => {
    const endMs = nowMs + uneven(random, 20)
    return (endMs > 5000 && endMs < 7000 ? 7000 + random() * 5 : endMs) - nowMs
  }
  assert.ok(offered(backend(takesMs), STEADY).shed(0, 12_000) <= 0.001)
})

for (const [meanMs, worst] of [
  [20, 0.3],
  [200, 0.6],
]) {
  test(`one of ${meanMs} ms that becomes three times as slow turns some away until that is learnt, and then nobody`, () => {
    const takesMs = (nowMs, random) => uneven(random, nowMs < 5000 ? meanMs : 3 * meanMs)
    const { shed } = offered(backend(takesMs), STEADY)
    assert.equal(shed(0, 5000), 0)
    assert.ok(shed(5000, 7000) <= worst, String(shed(5000, 7000)))
    assert.equal(shed(9000, 12_000), 0)
  })
}

for (const [what, perSecond, freeFromMs, takesMs] of [
  ['of 400 ms that becomes one of 800', 300, 8000, (nowMs) => (nowMs < 5000 ? 400 : 800)],
  ['of 100 ms that becomes one of 400', 50, 8500, (nowMs) => (nowMs < 5000 ? 100 : 400)],
  [
    'of 50 ms that becomes one of 2000',
    100,
    16_000,
    (nowMs, random) => uneven(random, nowMs < 5000 ? 50 : 2000),
  ],
  [
    'of 400 ms that becomes four times as slow within five seconds',
    300,
    16_000,
    (nowMs) => 400 + 1200 * Math.max(0, Math.min(1, (nowMs - 5000) / 5000)),
  ],
]) {
  test(`a backend ${what} is taken for a pool no longer than it takes to tell`, () => {
    const { shed } = offered(backend(takesMs), [[perSecond, 25]])
    assert.ok(shed(freeFromMs, 25_000) <= 0.02, String(shed(freeFromMs, 25_000)))
  })
}

for (const seed of [2, 10, 13]) {
  test(`three routes of 20 to 300 ms that all become twice as slow are let be, though the quick ones are hardly late (${seed})`, () => {
    const random = randomFrom(seed)
    const takesMs = (nowMs, ofBackend, { route }) => uneven(ofBackend, route.meanMs * (nowMs < 5000 ? 1 : 2))
    const simulation = new SimulatedGate({ work: backend(takesMs) })
    const at = (perSecond, meanMs) => {
      const route = { meanMs }
      return simulation.poisson({ perSecond, fromMs: 0, toMs: 25_000, random, of: () => ({ route }) })
    }
    const arrivals = [...at(300, 20), ...at(100, 100), ...at(50, 300)]
    simulation.run(
      arrivals.sort((a, b) => a.atMs - b.atMs),
      28_000
    )
    const late = simulation.requests.filter(({ atMs }) => atMs >= 15_000)
    const shed = late.filter(({ admission }) => admission.isRejected).length / late.length
    assert.ok(shed <= 0.02, String(shed))
  })
}

test('a pool with twice its load for a minute does not become the new normal', () => {
  const random = randomFrom(3)
  const { p99: slowest, served } = offered(
    pool(10, () => -20 * Math.log(1 - random())),
    [
      [250, 4],
      [1000, 60],
    ]
  )
  assert.ok(slowest(44_000, 64_000) <= 170, String(slowest(44_000, 64_000)))
  assert.ok(served(44_000, 64_000) >= 0.97 * 20 * 500, String(served(44_000, 64_000)))
})

test('one of 50 ms that becomes one of 75, which is hardly more than is aimed at, is soon let be as well', () => {
  const { shed } = offered(
    backend((nowMs) => (nowMs < 5000 ? 50 : 75)),
    [[1000, 12]]
  )
  assert.ok(shed(5000, 8000) <= 0.3, String(shed(5000, 8000)))
  assert.equal(shed(8000, 12_000), 0)
})

test('fifty reports of two seconds at once turn next to nobody away beside them, and no more when they come again', () => {
  const takesMs = (_now, random, { route }) => (route === OTHER ? 2000 : uneven(random, 10))
  const { shed } = offered(backend(takesMs), [[500, 20]], [3000, 7000, 11_000, 15_000].flatMap(burst))
  assert.ok(shed(0, 20_000) <= 0.01, String(shed(0, 20_000)))
})

test('a thousand long polls hold no slot of those that wait for a pool', () => {
  const polls = Array.from({ length: 1000 }, (_, i) => i * 5)
  const { shed, served } = offered(
    pool(10, 20, 30_000),
    [
      [200, 8],
      [1000, 6],
    ],
    polls
  )
  assert.equal(shed(0, 8000), 0)
  assert.ok(served(9000, 14_000) >= 0.97 * 5 * 500, String(served(9000, 14_000)))
})

for (const quickMs of [0, 5]) {
  test(`three hundred long polls at once, such as after a restart, turn away those of ${quickMs} ms no longer than it takes to tell`, () => {
    const polls = Array.from({ length: 300 }, (_, i) => 8000 + i * 0.1)
    const takesMs = (_now, _random, { route }) => (route === OTHER ? 5000 : quickMs)
    const { shed } = offered(backend(takesMs), [[200, 14]], polls)
    assert.equal(shed(0, 8000), 0)
    assert.ok(shed(8200, 10_000) <= 0.1, String(shed(8200, 10_000)))
  })
}

for (const [times, mostMs] of [
  [2, 150],
  [5, 350],
  [10, 700],
]) {
  test(`a step to ${times} times what a pool lets through makes the first second's wait no longer than ${mostMs} ms`, () => {
    const { p99: slowest, served } = offered(pool(10, 20), [
      [250, 4],
      [500 * times, 4],
    ])
    assert.ok(slowest(4000, 5000) <= mostMs, String(slowest(4000, 5000)))
    assert.ok(slowest(5000, 8000) <= 100, String(slowest(5000, 8000)))
    assert.ok(served(5000, 8000) >= 0.97 * 3 * 500, String(served(5000, 8000)))
  })
}

test('many quick answers of a second ago are no reason to take the wait before a pool for what requests take now', () => {
  const quick = Array.from({ length: 4000 }, (_, i) => i / 4)
  const { p99: slowest, served } = offered(
    pool(10, 20, 20),
    [
      [250, 2],
      [1000, 4],
    ],
    quick
  )
  assert.ok(slowest(3000, 6000) <= 100, String(slowest(3000, 6000)))
  assert.ok(served(3000, 6000) >= 0.97 * 3 * 500, String(served(3000, 6000)))
})

test('an update of something else, each second of an overload, changes nothing of its limit', () => {
  const simulation = new SimulatedGate({ work: pool(10, 20) })
  const { loop, rules } = simulation
  const random = randomFrom(1)
  const route = LOOKUP
  const arrivals = [
    ...simulation.poisson({ perSecond: 250, fromMs: 0, toMs: 4000, random, of: () => ({ route }) }),
    ...simulation.poisson({ perSecond: 1000, fromMs: 4000, toMs: 12_000, random, of: () => ({ route }) }),
  ]
  for (let atMs = 1000; atMs < 12_000; atMs += 1000) {
    loop.at(atMs, () => rules.update({ ...DEFAULTS.shed, retryAfter: atMs / 1000 }))
  }
  simulation.run(arrivals, 14_000)
  const slowest = p99(
    simulation.requests.filter(({ atMs, servedMs }) => atMs >= 5000 && servedMs !== undefined)
  )
  assert.ok(slowest <= 100, String(slowest))
})

for (const [times, endMs] of [
  [2, 4000],
  [10, 4000],
  [2, 4500],
]) {
  test(`quick answers until ${endMs - 4000} ms after a step to ${times} times the pool's load mislead for three seconds at most`, () => {
    const quick = Array.from({ length: 4000 }, (_, i) => endMs - 1000 + i / 4)
    const { p99: slowest, served } = offered(
      pool(10, 20, 20),
      [
        [250, 4],
        [500 * times, 8],
      ],
      quick
    )
    assert.ok(slowest(7000, 12_000) <= 100, String(slowest(7000, 12_000)))
    assert.ok(served(7000, 12_000) >= 0.97 * 5 * 500, String(served(7000, 12_000)))
  })
}
