'use strict'
// Invariants 3, 6, 8 and 11 with features that reject: requests that are too old, deadlines that are short,
// and bulkheads that are full.

const assert = require('node:assert/strict')
const { featureStack } = require('./feature-stack')
const { ample } = require('./features')
const { WORKS, capacityOf } = require('./overload')
const { PARSE_MS, REFUSE_MS, World } = require('./world')

const PROXY = { behindMs: 0, jitterMs: 1, unitMs: 1 }
const AGE_MS = 1000
const ages = { maxAgeMs: AGE_MS, proxies: [PROXY] }
const total = (counts) => counts.reduce((sum, { count }) => sum + count, 0)

const run = (spec, features, { mode = 'adaptive', untilMs = undefined } = {}) =>
  new World(structuredClone({ seed: 3, ...spec }), {
    stack: featureStack(features),
    shed: { mode },
    keepsRequests: false,
  }).run(untilMs)

/** Half the capacity for two seconds, then so many times it without end. */
const openLoop = (work, times) => ({
  seconds: 1000,
  pools: { pool: 10 },
  routes: [{ steps: WORKS[work].steps }],
  open: [
    { route: 0, arrivals: 'constant', perSecond: capacityOf(work) / 2, toMs: 2000 },
    { route: 0, arrivals: 'constant', perSecond: capacityOf(work) * times, fromMs: 2000 },
  ],
})
const UNTIL_MS = 6000

const WITHIN = 0.25
const BOUNDS = {
  'bounds that nothing exceeds': { features: ample(1) },
  'a maxAge and a deadline of a second': { features: { ages, deadlines: [AGE_MS] } },
  'a deadline of 100 ms': { features: { deadlines: [100] } },
  'a limit of 40': { features: { bulkheads: [40] } },
  'a limit of 12': { features: { bulkheads: [12] } },
  'a limit of 4': { features: { bulkheads: [4] } },
}
/** @type {[string, number][]} */
const OVERLOADS = [
  ['cpu', 2],
  ['cpu', 5],
  ['await', 0.6],
  ['await', 1.2],
  ['await', 10],
  ['mixed', 1.2],
  ['mixed', 5],
]

const MAX_SHARE = 0.34
const reasonsOf = ({ admission }) => admission.sample().shed.map(({ reason }) => reason)

/** @param {(name: string, body: () => void) => void} test */
function testBounded(test) {
  test('invariant 3: eight times the rejections of a limit change the cost of a request by less than 5 %', () => {
    const [few, many] = [2, 10].map((times) => {
      const routes = [{ steps: WORKS.await.steps }]
      const open = [{ route: 0, perSecond: times * capacityOf('await'), arrivals: 'constant' }]
      const { admission } = run(
        { seconds: 3, routes, open },
        { bulkheads: [{ maxConcurrent: 8, maxQueue: 0 }] }
      )
      assert.ok(total(admission.sample().shed) > 1000)
      return admission.measurements.cost.meanMs
    })
    assert.ok(Math.abs(many / few - 1) < 0.05, `${few} and ${many} ms`)
  })

  for (const [what, { features }] of Object.entries(BOUNDS))
    for (const [work, times] of OVERLOADS)
      test(`invariant 6: observe says what adaptive does: ${what}, ${work} at ${times} times the capacity`, () => {
        const [adaptive, observe] = ['adaptive', 'observe'].map((mode) => {
          const { admission, requests } = run(openLoop(work, times), features, { mode, untilMs: UNTIL_MS })
          const { shed, wouldShed } = admission.sample()
          return total(mode === 'observe' ? wouldShed : shed) / requests.length
        })
        assert.ok(
          Math.abs(observe - adaptive) <= WITHIN * adaptive,
          `${observe.toFixed(3)} for ${adaptive.toFixed(3)}`
        )
        if (times > 1) assert.ok(adaptive > 0.1)
      })

  for (const [work, times] of /** @type {[string, number][]} */ ([
    ['await', 10],
    ['mixed', 10],
    ['mixed', 1.2],
  ]))
    test(`invariant 9: a flood of a route with a limit does not keep out other routes: ${work} at ${times} times`, () => {
      const routes = [{ steps: WORKS[work].steps }, { steps: [{ burn: 0.1 }] }]
      const open = [
        { route: 0, arrivals: 'constant', perSecond: capacityOf(work) * times },
        { route: 1, arrivals: 'constant', perSecond: 50 },
      ]
      const spec = { seconds: 1000, pools: { pool: 10 }, routes, open }
      const { admission, requests } = run(spec, { bulkheads: [4] }, { untilMs: UNTIL_MS })
      const others = requests.filter(({ route, atMs }) => route === 1 && atMs < UNTIL_MS - 200)
      const late = others.filter(({ servedMs, atMs }) => !(servedMs - atMs <= 100))
      assert.ok(late.length <= 0.01 * others.length, `${late.length} of ${others.length} are late`)
      assert.deepEqual(reasonsOf({ admission }), ['limit:route 0'])
      // The slots are in use, and the gate holds back nobody.
      assert.ok(admission.sample().queued < 20)
    })

  test('invariant 8: a reason names what is short: an age, a deadline or a limit, and no other', () => {
    const slow = [{ steps: [{ wait: 100 }] }]
    const open = [{ route: 0, perSecond: 500 }]
    // They wait in the proxy. The loop idles.
    const gateways = [{ connections: 8, queues: true }]
    const old = run({ seconds: 12, routes: slow, gateways, open: [{ ...open[0], through: 0 }] }, { ages })
    assert.deepEqual(reasonsOf(old), ['age'])
    const full = run({ seconds: 4, routes: slow, open }, { bulkheads: [4] })
    assert.deepEqual(reasonsOf(full), ['limit:route 0'])
    const late = run({ seconds: 4, routes: slow, open }, { bulkheads: [4], deadlines: [50] })
    assert.deepEqual(reasonsOf(late), ['limit:route 0'])
    const spec = { seconds: 6, routes: [{ steps: WORKS.cpu.steps }], open: [{ route: 0, perSecond: 1000 }] }
    assert.deepEqual(new Set(reasonsOf(run(spec, { deadlines: [100] }))), new Set(['loop', 'deadline']))
  })

  for (const [what, features] of Object.entries({
    'a full limit': { bulkheads: [{ maxConcurrent: 1, maxQueue: 0 }] },
    'a deadline that has passed': { deadlines: [0] },
  }))
    for (const [how, clients] of Object.entries({
      '1000 clients that ask again at once': { closed: [{ route: 0, clients: 1000 }] },
      '8000 clients a second': { open: [{ route: 0, perSecond: 8000 }] },
    }))
      test(`invariant 11: rejections for ${what} take ${MAX_SHARE} of the loop at most, with ${how}`, () => {
        const seconds = 6
        const routes = [{ steps: [{ wait: 1000 }, { burn: 1 }] }]
        const { requests } = run({ seconds, routes, ...clients }, features)
        const tookMs = new Float64Array(seconds)
        for (const { shedMs } of requests)
          if (shedMs < seconds * 1000) tookMs[Math.floor(shedMs / 1000)] += PARSE_MS + REFUSE_MS
        assert.ok(Math.max(...tookMs.subarray(1)) <= 1050 * MAX_SHARE, [...tookMs].map(Math.round).join(' '))
        assert.ok(tookMs[4] > 100)
      })
}

module.exports = { testBounded }
