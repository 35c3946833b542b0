'use strict'
// Handlers that wait for something else, on a loop with room, in simulated time: whatever they wait for,
// no request is rejected with reason `loop`. A slow backend or a full pool is never called a full loop.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { burst, load, wasRejected } = require('./simulated-load')

const BURN = { burn: 0.2 }
const STEP = [
  { route: 0, perSecond: 150, toMs: 4000 },
  { route: 0, perSecond: 1500, fromMs: 4000, toMs: 10_000 },
]
const rejectedOf = ({ requests }) => requests.filter(wasRejected).length
const serves = (steps, open, more = {}) =>
  rejectedOf(load({ seconds: 14, routes: [{ steps }, { steps: [{ wait: 2000 }] }], open, ...more }))

for (const [what, wait] of /** @type {const} */ ([
  ['of 10 to 60 ms', [10, 60]],
  ['of 100 to 600 ms', [100, 600]],
  ['of which one answer in a hundred takes two seconds', { rare: 2000, share: 0.01, usual: 15 }],
])) {
  test(`a backend ${what} causes no rejection, nor do ten times as many requests`, () => {
    assert.equal(serves([{ wait }, BURN], STEP), 0)
  })
}

for (const [factor, ms] of [
  [100, 100],
  [3, 8000],
  [40, 8000],
]) {
  test(`a backend of 20 ms that becomes ${factor} times as slow, for ${ms} ms, causes no rejection`, () => {
    const disturbances = [{ kind: 'slow', atMs: 5000, ms, factor }]
    assert.equal(serves([{ wait: 20 }, BURN], [{ route: 0, perSecond: 300 }], { disturbances }), 0)
  })
}

for (const [count, waitMs] of [
  [300, 200],
  [100, 200],
  [400, 400],
]) {
  test(`${count} at the beginning of each second, before a backend of ${waitMs} ms, cause no rejection`, () => {
    const wait = [waitMs / 2, waitMs * 1.5]
    const bursts = Array.from({ length: 12 }, (_, i) => burst(1000 * (i + 1), count))
    assert.equal(serves([{ wait }, BURN], [{ route: 0, perSecond: count / 5 }, ...bursts]), 0)
  })
}

test('fifty reports of two seconds at once cause no rejection of other requests', () => {
  const reports = [3000, 7000, 11_000].map((atMs) => burst(atMs, 50, { route: 1 }))
  assert.equal(serves([{ wait: 10 }, BURN], [{ route: 0, perSecond: 500 }, ...reports]), 0)
})

test('a thousand long polls cause no rejection of other requests', () => {
  const closed = [{ route: 1, clients: 1000, thinkMs: 1, spreadMs: 5000 }]
  assert.equal(serves([BURN], [{ route: 0, perSecond: 500 }], { closed }), 0)
})

for (const multiple of [2, 10]) {
  test(`a pool with ${multiple} times its load is never called a full loop`, () => {
    const open = [{ route: 0, perSecond: 500 * multiple * 0.2 }]
    const pools = { pool: 2 }
    assert.equal(serves([{ wait: 20, pool: 'pool' }, BURN], open, { pools }), 0)
  })
}

test('a pool with a bound of its own rejects when it is full, and the gate does not', () => {
  const routes = [{ steps: [{ wait: 20, pool: 'pool' }, BURN] }]
  const spec = { seconds: 6, pools: { pool: 10 }, routes, open: [{ route: 0, perSecond: 1000 }] }
  const { admission, requests } = load(spec, { maxConcurrent: 20 })
  const reasons = new Set(admission.sample().shed.map(({ reason }) => reason))
  assert.deepEqual([...reasons], ['concurrency'])
  const served = requests.filter(({ servedMs }) => servedMs >= 2000 && servedMs < 5000).length
  assert.ok(served >= 0.97 * 3 * 500, String(served))
})
