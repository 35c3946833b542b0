'use strict'
// The invariants of the gate, each by its name, without features or with ages, deadlines and bulkheads that no
// request of these loads exceeds. Generated worlds judge 1, 2 and 4 (worlds.test.js, features.test.js).
//   5   pools that are known: pools.test.js
//   6   each work and each class: observe.test.js, test/gate/shadow-queue.test.js
//   9   scrapes, the admin server and the agent: test/metrics/capture.test.js, test/admin/connections.test.js,
//       test/balancer/agent.test.js
//   12  what measuring costs streams, uploads and idle turns: `npm run bench -- services`

const assert = require('node:assert/strict')
const nodeTest = require('node:test')
const { ACCEPT_MS } = require('./connections')
const { loopRejectionsOf } = require('./judge')
const { testBounded } = require('./bounded')
const { featureStack } = require('./feature-stack')
const { ample } = require('./features')
const { WORKS, capacityOf, overload } = require('./overload')
const { poolStack } = require('./pool-stack')
const { testClosedLoops } = require('./harmless')
const { closedLoop } = require('./saturated')
const { stack } = require('./stack')
const { PARSE_MS, REFUSE_MS, World } = require('./world')

const MAX_SHED = 0.001
/** Code that has not run takes ten times as long: a cold process is full at first. */
const COLD_MS = 4000
const OFF = { mode: 'off' }

const shedOf = ({ requests }, fromMs = 0) =>
  requests.filter(({ atMs, shedMs }) => atMs >= fromMs && shedMs !== undefined).length
const countOf = (counts) => counts.reduce((sum, { count }) => sum + count, 0)
const reasonsOf = ({ admission }) => admission.sample().shed.map(({ reason }) => reason)

const HEALTHY = {
  'independent users at 0.7': {
    routes: [{ steps: [{ burn: 2 }] }],
    open: [{ route: 0, perSecond: 0.7 * capacityOf('cpu') }],
  },
  '1000 long polls beside them': {
    routes: [{ steps: [{ wait: [0, 5000] }, { burn: 0.1 }] }, { steps: [{ burn: 2 }] }],
    closed: [{ route: 0, clients: 1000 }],
    open: [{ route: 1, perSecond: 300 }],
  },
  'routes of 0.1, 5 and 30 ms': {
    routes: [0.1, 5, 30].map((burn) => ({ steps: [{ burn }] })),
    open: [1000, 50, 8].map((perSecond, route) => ({ route, perSecond })),
  },
  'new connections for every request': {
    routes: [{ steps: [{ burn: 1 }] }],
    open: [{ route: 0, perSecond: 600, reconnects: true }],
  },
}

/** All begin at once on a cold process, as behind a load balancer: invariant 1 counts from the first request on. */
const CROWDS = {
  '125 clients that ask again at once': {
    routes: [{ steps: [{ burn: 2 }] }],
    closed: [{ route: 0, clients: 125 }],
  },
  '150 clients that wait, 200 streams, 100 long polls and 100 clients that think': {
    routes: [
      { steps: [{ burn: 0.5 }, { wait: [300, 1800] }, { burn: 0.1 }] },
      { steps: [{ burn: 0.5 }, { wait: 1e8 }] },
      { steps: [{ burn: 0.5 }, { wait: [1000, 25_000] }, { burn: 0.1 }] },
      { steps: [{ burn: 0.5 }] },
    ],
    closed: [
      { route: 0, clients: 150 },
      { route: 1, clients: 200 },
      { route: 2, clients: 100 },
      { route: 3, clients: 100, thinkMs: 1000 },
    ],
  },
}

const DISTURBANCES = {
  'a stall of five seconds': { kind: 'stall', ms: 5000 },
  'ten times the load for ten seconds': { kind: 'surge', ms: 10_000, route: 0, perSecond: 4900 },
  'estimates a hundred times too high': { kind: 'force', ms: 0, factor: 100 },
  'estimates a hundred times too low': { kind: 'force', ms: 0, factor: 0.01 },
}

const CLOSED = {
  'hello world': { costMs: 0.05, steps: [{ burn: 0.05 }] },
  '0.5 ms of CPU': { costMs: 0.5, steps: [{ burn: 0.5 }] },
  '2 ms of CPU': { costMs: 2, steps: [{ burn: 2 }] },
  '100 ms awaited': { costMs: 0.3, steps: [{ wait: 100 }, { burn: 0.3 }] },
  'a pool of 5': { costMs: 0.3, steps: [{ wait: 5, pool: 'five' }, { burn: 0.3 }] },
  'a pool of 50': { costMs: 0.3, steps: [{ wait: 20, pool: 'fifty' }, { burn: 0.3 }] },
}
const POOLS = { five: 5, fifty: 50 }
/** Clients that cannot make the queue longer than this are left alone. */
const MAX_WORK_MS = 400
const MIN_GOODPUT = 0.97
const MIN_OF_MANY = 0.8
const SETTLED_MS = 5000
const END_MS = 13_000

const PERIOD_MS = 3000
const UTILISATION = 0.65

/** So much work at once every three seconds, beside independent users: together .65 of the loop. */
function burstsOf({ workMs, burn, wait, reconnects }) {
  const costMs = burn + PARSE_MS + (reconnects ? ACCEPT_MS : 0)
  const batch = Math.round(workMs / costMs)
  const burst = {
    route: 0,
    perSecond: (batch * 1000) / PERIOD_MS,
    batch,
    arrivals: 'constant',
    reconnects,
  }
  const steps = wait === 0 ? [{ burn }] : [{ wait }, { burn }]
  const beside = { route: 1, perSecond: 1000 * UTILISATION - (workMs * 1000) / PERIOD_MS }
  return { seconds: 15, routes: [{ steps }, { steps: [{ burn: 1 }] }], open: [burst, beside] }
}

const CAPACITY = capacityOf('cpu')
/** It halves every second, and is at its least from the third second on. */
const CLOSED_SHARE = 0.05
const OPEN_SHARE = 0.34
const STORMS = {
  '300 clients that ask again at once': [CLOSED_SHARE, { closed: [{ route: 0, clients: 300 }] }],
  '1000 clients that ask again at once': [CLOSED_SHARE, { closed: [{ route: 0, clients: 1000 }] }],
  'ten times the capacity': [OPEN_SHARE, { open: [{ route: 0, perSecond: 10 * CAPACITY }] }],
  '500 clients that connect anew, and as many independent users as can be served': [
    OPEN_SHARE,
    {
      closed: [{ route: 0, clients: 500, reconnects: true }],
      open: [{ route: 0, perSecond: CAPACITY }],
    },
  ],
}

/**
 * @param {{ hasFeatures?: boolean, isChosen?: (name: string) => boolean }} [given]
 */
function testInvariants({ hasFeatures = false, isChosen = () => true } = {}) {
  const test = (name, body) => {
    if (isChosen(name)) nodeTest.test(hasFeatures ? `${name}, with features` : name, body)
  }
  const stackFor = (routes, base = stack) => (hasFeatures ? featureStack(ample(routes), base) : base)
  const worldOf = (spec, shed, base = stack) =>
    new World(structuredClone({ seed: 3, ...spec }), {
      stack: stackFor(spec.routes.length, base),
      shed,
      keepsRequests: false,
    })
  const runOf = (...args) => worldOf(...args).run()
  const overloadOf = (work, times, shed) => overload(work, times, shed, stackFor(1))

  for (const [what, spec] of Object.entries(HEALTHY)) {
    test(`invariant 1: a healthy load is not shed: ${what}`, () => {
      const world = runOf({ seconds: 15, ...spec })
      assert.ok(shedOf(world) <= MAX_SHED * world.requests.length, `${shedOf(world)} shed`)
    })

    test(`invariant 1: a healthy load is not shed by a process that was cold four seconds ago: ${what}`, () => {
      const world = runOf({ seconds: 15, cold: true, ...spec })
      const shed = shedOf(world, COLD_MS)
      assert.ok(shed <= MAX_SHED * world.requests.length, `${shed} shed`)
    })
  }

  for (const [what, { routes, closed }] of Object.entries(CROWDS)) {
    test(`invariant 1: a crowd that begins with the process is not shed: ${what}`, () => {
      const crowd = closed.map((each) => ({ ...each, fromMs: 1000, spreadMs: 1 }))
      const disturbances = [{ kind: 'stall', atMs: 200, ms: 500 }]
      const world = runOf({ seconds: 10, cold: true, routes, closed: crowd, disturbances })
      assert.equal(shedOf(world), 0)
    })
  }

  for (const [what, disturbance] of Object.entries(DISTURBANCES)) {
    for (const retry of ['at-once', 'backoff']) {
      test(`invariant 2: two seconds after ${what} nothing is shed, with clients that retry (${retry})`, () => {
        const atMs = 3000
        const backMs = atMs + disturbance.ms + 2000
        const world = runOf({
          seconds: backMs / 1000 + 4,
          routes: [{ steps: [{ burn: 2 }] }],
          open: [{ route: 0, perSecond: 150 }],
          closed: [{ route: 0, clients: 100, thinkMs: [300, 900], retry }],
          disturbances: [{ atMs, ...disturbance }],
        })
        assert.equal(shedOf(world, backMs), 0)
      })
    }
  }

  test('invariant 3: nothing is rejected where admitting costs less than three rejections', () => {
    const open = [{ route: 0, perSecond: 40_000 }]
    const world = runOf({ seconds: 2, routes: [{ steps: [{ burn: 0.05 }] }], open })
    assert.equal(shedOf(world), 0)
  })

  test('invariant 3: eight times the rejections change the cost of a request by less than 5 %', () => {
    const [few, many] = [2, 10].map((times) => overloadOf('cpu', times).world.admission.measurements.cost.ms)
    assert.ok(Math.abs(many / few - 1) < 0.05, `${few} and ${many} ms`)
  })

  for (const work of ['cpu', 'await']) {
    test(`invariant 4: in an overload the loop is no reason while it idles a tenth of its time: ${work}`, () => {
      const perSecond = 2 * capacityOf(work)
      const world = worldOf({
        seconds: 8,
        routes: [{ steps: WORKS[work].steps }],
        open: [{ route: 0, perSecond }],
      })
      const counts = loopRejectionsOf(world)
      world.run()
      assert.ok(counts.all > 1000, String(counts.all))
      assert.equal(counts.whileIdling, 0)
    })
  }

  for (const size of [5, 50]) {
    test(`invariant 5: a pool of ${size} whose answers take ten times as long has nobody shed`, () => {
      const routes = [{ steps: [{ wait: 20, pool: 'pool' }, { burn: 0.3 }] }, { steps: [{ burn: 0.5 }] }]
      const open = [
        { route: 0, perSecond: size * 30 },
        { route: 1, perSecond: 200 },
      ]
      const disturbances = [{ kind: 'slow', atMs: 3000, ms: 5000, factor: 10 }]
      const world = runOf({ seconds: 10, pools: { pool: size }, routes, open, disturbances })
      assert.equal(shedOf(world), 0)
    })
  }

  for (const times of [0.7, 2, 5]) {
    test(`invariant 6: observe says what adaptive does, at ${times} times the capacity`, () => {
      const shed = countOf(overloadOf('cpu', times).world.admission.sample().shed)
      const would = countOf(overloadOf('cpu', times, { mode: 'observe' }).world.admission.sample().wouldShed)
      assert.ok(Math.abs(would - shed) <= 0.25 * shed, `${would} and ${shed}`)
      assert.equal(shed > 0, times > 1)
    })
  }

  for (const [work, { costMs, steps }] of Object.entries(CLOSED)) {
    for (const clients of [10, 50, 100, 150, 200, 300, 1000]) {
      test(`invariant 7: ${clients} clients that ask again at once are served as without a gate: ${work}`, () => {
        const closed = [{ route: 0, clients }]
        const spec = { seconds: END_MS / 1000, pools: POOLS, routes: [{ steps }], closed }
        const [gated, free] = [undefined, OFF].map((shed) =>
          closedLoop(spec, { shed, stack: stackFor(1), settledMs: SETTLED_MS })
        )
        const isLeftAlone = clients * costMs <= MAX_WORK_MS
        const goodput = gated.perSecond / free.perSecond
        assert.ok(goodput >= (isLeftAlone ? MIN_GOODPUT : MIN_OF_MANY), goodput.toFixed(3))
        if (isLeftAlone) assert.equal(gated.shedPerSecond, 0)
      })
    }
  }

  test('invariant 7: clients of a lower class are served too, and not rejected, while nobody else is', () => {
    const routes = [{ steps: [{ burn: 2 }] }, { steps: [{ burn: 2 }] }]
    const closed = [
      { route: 0, clients: 120, priority: 'normal' },
      { route: 1, clients: 20, priority: 'low' },
    ]
    const spec = { seconds: END_MS / 1000, routes, closed }
    const [gated, free] = [undefined, OFF].map((shed) => {
      const world = runOf(spec, shed)
      assert.equal(shedOf(world, SETTLED_MS), 0)
      return world.requests.filter(({ route, servedMs }) => route === 1 && servedMs > SETTLED_MS).length
    })
    assert.ok(gated > free / 2, `${gated} of ${free}`)
  })

  // Light clients keep the loop full until the others come, or until shortly before that.
  for (const pauseMs of [0, 700]) {
    test(`invariant 7: 100 clients that ask again at once are not rejected ${pauseMs} ms after 300 others have left`, () => {
      const [leaveMs, endMs] = [4000, 12_000]
      const closed = [
        { route: 0, clients: 300, toMs: leaveMs },
        { route: 1, clients: 100, fromMs: leaveMs + pauseMs, spreadMs: 20 },
      ]
      const routes = [{ steps: [{ burn: 0.2 }] }, { steps: [{ burn: 2 }] }]
      assert.equal(shedOf(runOf({ seconds: endMs / 1000, routes, closed })), 0)
    })
  }

  if (hasFeatures) testBounded(test)
  else testClosedLoops({ first: 1, last: 40 })

  test('invariant 8: a reason names what is short: the loop, a slot or a pool, and no other', () => {
    assert.deepEqual(reasonsOf(overloadOf('cpu', 5).world), ['loop'])
    const open = [{ route: 0, perSecond: 500 }]
    const slots = runOf({ seconds: 5, routes: [{ steps: [{ wait: 100 }] }], open }, { maxConcurrent: 4 })
    assert.deepEqual(reasonsOf(slots), ['concurrency'])
    const routes = [{ steps: [{ wait: 20, pool: 'pool' }, { burn: 0.1 }] }]
    const pool = runOf({ seconds: 8, pools: { pool: 2 }, routes, open }, undefined, poolStack())
    assert.deepEqual(reasonsOf(pool), ['pool:pool'])
  })

  for (const reconnects of [false, true]) {
    for (const wait of [0, 20]) {
      for (const burn of [0.3, 1, 5]) {
        const how = `on ${reconnects ? 'new' : 'kept'} connections, ${wait === 0 ? 'at once' : `after ${wait} ms`}`
        test(`invariant 10: a burst of 500 ms of work is no overload: ${burn} ms each ${how}`, () => {
          const spec = burstsOf({ workMs: 500, burn, wait, reconnects })
          assert.equal(shedOf(runOf(spec)), 0)
          assert.deepEqual(runOf(spec, { mode: 'observe' }).admission.sample().wouldShed, [])
        })
      }
    }
  }

  for (const [what, [share, storm]] of Object.entries(STORMS)) {
    test(`invariant 11: rejections take ${share} of the loop at most, with ${what}`, () => {
      const seconds = 10
      const { requests } = runOf({ seconds, routes: [{ steps: WORKS.cpu.steps }], ...storm })
      const tookMs = new Float64Array(seconds + 1)
      for (const { shedMs } of requests)
        if (shedMs !== undefined) tookMs[Math.floor(shedMs / 1000)] += PARSE_MS + REFUSE_MS
      const usual = tookMs.subarray(4, seconds)
      assert.ok(Math.max(...usual) <= 1050 * share, [...tookMs].map(Math.round).join(' '))
      // Clients may have connections to spare at first, and what a calm second has left is used.
      assert.ok(Math.max(...tookMs) <= 2100 * OPEN_SHARE)
      assert.ok(tookMs.some((ms) => ms > 0))
    })
  }
}

module.exports = { testInvariants }
