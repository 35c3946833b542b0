'use strict'
// The invariants of the gate that generated worlds do not judge by themselves (worlds.test.js: 1, 2 and 4), each by its name.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { overload } = require('./overload')
const { stack } = require('./stack')
const { World } = require('./world')

const shedOf = ({ requests }) => requests.filter(({ shedMs }) => shedMs !== undefined).length
const runOf = (spec, shed) => new World(structuredClone(spec), { stack, shed, keepsRequests: false }).run()

test('invariant 3: nothing is rejected where admitting costs less than three rejections', () => {
  const open = [{ route: 0, perSecond: 40_000 }]
  const world = runOf({ seconds: 2, routes: [{ steps: [{ burn: 0.05 }] }], open })
  assert.equal(shedOf(world), 0)
})

test('invariant 3: eight times the rejections change the cost of a request by less than 5 %', () => {
  const [few, many] = [2, 10].map((times) => overload('cpu', times).world.admission.measurements.cost.ms)
  assert.ok(Math.abs(many / few - 1) < 0.05, `${few} and ${many} ms`)
})

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

const CLOSED = {
  'hello world': [{ burn: 0.05 }],
  '2 ms of CPU': [{ burn: 2 }],
  '100 ms awaited': [{ wait: 100 }, { burn: 0.3 }],
  'a pool of 5': [{ wait: 5, pool: 'five' }, { burn: 0.3 }],
  'a pool of 50': [{ wait: 20, pool: 'fifty' }, { burn: 0.3 }],
}
const POOLS = { five: 5, fifty: 50 }
const LEAST_GOODPUT = 0.95
/** Until rejecting has become the load, 512 are held at most: the others ask again at once. */
const LEAST_OF_A_THOUSAND = 0.8
/** How late 503s are to be sent is found by then. */
const SETTLED_MS = 5000
const END_MS = 13_000

for (const [work, steps] of Object.entries(CLOSED)) {
  for (const clients of [10, 100, 1000]) {
    test(`invariant 7: ${clients} clients that ask again at once are served as without a gate: ${work}`, () => {
      const spec = {
        seconds: END_MS / 1000,
        pools: POOLS,
        routes: [{ steps }],
        closed: [{ route: 0, clients }],
      }
      const [gated, free] = [undefined, { mode: 'off' }].map(
        (shed) =>
          runOf(spec, shed).requests.filter(({ servedMs }) => servedMs > SETTLED_MS && servedMs < END_MS)
            .length
      )
      const least = clients === 1000 ? LEAST_OF_A_THOUSAND : LEAST_GOODPUT
      assert.ok(gated >= least * free, `${gated} of ${free}`)
    })
  }
}
