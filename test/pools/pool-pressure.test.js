'use strict'
// Whether a request would wait too long for a connection, by the figures of a pool, with numbers in the place
// of a pool.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { NORMAL } = require('../../src/core/gate/decision')
const { PoolPressure } = require('../../src/features/pools/pool-pressure')

/** Without `maxWait`, and for a burst. */
const MAX_WAIT_MS = 180
const BURST_MS = 500
const ROUTE = { travelMs: 0, asksPerRequest: 1 }
const USE_MS = 20
const SIZE = 5

class Pool {
  figures = { max: SIZE, waiting: 0, held: SIZE, routes: { updateAsksBefore: () => 0 } }
  pressure = new PoolPressure({ maxWait: undefined, figures: this.figures })
  nowMs = 0

  use(count, ms = USE_MS) {
    for (let i = 0; i < count; i++) {
      this.nowMs += USE_MS / SIZE
      this.pressure.onUse(ms, this.nowMs)
    }
  }

  /** With how many waiting, for longer than a burst may last, a request is rejected. */
  get rejectsFrom() {
    for (let waiting = 1; waiting < 10_000; waiting++) {
      this.figures.waiting = 0
      this.pressure.judge(ROUTE, NORMAL, this.nowMs)
      this.figures.waiting = waiting
      this.pressure.onAdmit(this.nowMs + BURST_MS)
      if (this.pressure.judge(ROUTE, NORMAL, this.nowMs + BURST_MS + 1)) return waiting
    }
    return Number.POSITIVE_INFINITY
  }
}

test('with equal uses a request is rejected that would wait for longer than 180 ms', () => {
  const pool = new Pool()
  pool.use(1000)
  assert.equal(pool.rejectsFrom, (MAX_WAIT_MS * SIZE) / USE_MS + 1)
})

test('the shortage is the wait of the next caller, as a share of the longest that is tolerated', () => {
  const pool = new Pool()
  pool.use(100)
  assert.equal(pool.pressure.shortage, 0)
  // A slot becomes free every 4 ms, and 45 of them are 180 ms.
  pool.figures.waiting = 9
  assert.equal(pool.pressure.shortage.toFixed(2), '0.20')
  const bounded = new PoolPressure({ maxWait: 100, figures: pool.figures })
  const unbounded = new PoolPressure({ maxWait: false, figures: pool.figures })
  for (const each of [bounded, unbounded]) each.onUse(USE_MS, 0)
  assert.equal(bounded.shortage.toFixed(2), '0.36')
  assert.equal(unbounded.shortage, 0)
})

test('one connection that was held for ten minutes does not switch the rule off', () => {
  const pool = new Pool()
  pool.use(1000)
  const before = pool.rejectsFrom
  pool.use(1, 600_000)
  assert.ok(pool.rejectsFrom <= 2 * before, `${pool.rejectsFrom} right after it, ${before} before`)
  pool.use(200)
  assert.ok(pool.rejectsFrom <= before, String(pool.rejectsFrom))
})

test('where one use in twenty takes twenty times as long, more are tolerated ahead: chance makes such queues', () => {
  const pool = new Pool()
  for (let i = 0; i < 100; i++) {
    pool.use(19, 100)
    pool.use(1, 2000)
  }
  assert.ok(pool.rejectsFrom > 40, String(pool.rejectsFrom))
})

for (const [what, useMs, gapMs] of [
  ['an ordinary pool gets a request every 100 ms', USE_MS, 100],
  ['a slow pool gets one as often as it serves one, so that its queue does not grow', 2000, 400],
]) {
  test(`while a request would wait too long, ${what}`, () => {
    const pool = new Pool()
    pool.use(1000, useMs)
    pool.figures.waiting = 1000
    pool.pressure.onAdmit(0)
    assert.equal(pool.pressure.judge(ROUTE, NORMAL, gapMs), true)
    assert.equal(pool.pressure.judge(ROUTE, NORMAL, gapMs + 1), false)
    assert.equal(pool.pressure.judge({ ...ROUTE, asksPerRequest: 2 }, NORMAL, gapMs + 1), gapMs > 100)
  })
}

test('the wait that is tolerated now is what decides: that of a burst, 180 ms, a queue by chance, or maxWait', () => {
  const pool = new Pool()
  assert.equal(pool.pressure.toleratedNowMs(0), BURST_MS)
  pool.use(1000)
  const { figures, pressure } = pool
  figures.waiting = 1
  assert.equal(pressure.toleratedNowMs(pool.nowMs + BURST_MS), BURST_MS)
  assert.equal(pressure.toleratedNowMs(pool.nowMs + BURST_MS + 1), MAX_WAIT_MS)
  figures.waiting = 0
  assert.equal(pressure.toleratedNowMs(pool.nowMs + BURST_MS + 1), BURST_MS)

  // Uses of 100 ms: twenty callers ahead are a wait of 400 ms.
  const slow = new Pool()
  slow.use(1000, 100)
  const [waiting, slotMs] = [slow.rejectsFrom, 100 / SIZE]
  slow.figures.waiting = waiting
  assert.equal(slow.pressure.toleratedNowMs(slow.nowMs + BURST_MS + 1), waiting * slotMs)
  for (const maxWait of [50, 1000])
    assert.equal(new PoolPressure({ maxWait, figures }).toleratedNowMs(0), maxWait)
})
