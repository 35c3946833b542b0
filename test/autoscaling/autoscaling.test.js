'use strict'
// The figure for autoscalers, on a clock that is advanced by hand.

const assert = require('node:assert/strict')
const { describe, test } = require('node:test')
const { Autoscaling } = require('../../src/features/autoscaling/autoscaling')
const { Pool } = require('tarn')
const { CallPlace } = require('../../src/core/call-place')
const { resolveOptions } = require('../../src/core/options/options')
const { Instance } = require('../../src/instance')
const { FakeClock } = require('../support/fake-clock')
const { handClock } = require('../support/hand-clock')
const { parse, oneValue } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

const TURN_MS = 20

function made() {
  const clock = new FakeClock()
  const now = { pool: 0, inFlight: 0, maxConcurrent: Number.POSITIVE_INFINITY, shortage: 0 }
  const admission = { limits: now, shortages: now }
  const autoscaling = new Autoscaling({ clock, admission, poolUse: () => now.pool })
  /** The loop is busy for a share of each turn. */
  const pass = (ms, busy = 0, figures = {}) => {
    Object.assign(now, figures)
    for (let left = ms; left > 0; left -= TURN_MS) {
      clock.idle(TURN_MS * (1 - busy))
      clock.advance(TURN_MS * busy)
      autoscaling.onInterval(clock.now(), clock.idleMs())
    }
  }
  // The first interval is left out.
  pass(100)
  return { autoscaling, clock, now, pass, ratio: () => autoscaling.sample().ratio }
}

const isAbout = (actual, expected, within = 0.01) =>
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not about ${expected}`)

describe('the scarcest resource', () => {
  test('is the loop where handlers compute: its busy share', () => {
    const { pass, ratio } = made()
    pass(60_000, 0.6)
    isAbout(ratio(), 0.6)
  })

  test('is the pool where handlers wait: its connections in use, before anybody waits for one', () => {
    const { pass, ratio } = made()
    pass(60_000, 0.05, { pool: 0.7 })
    isAbout(ratio(), 0.7)
  })

  test('is maxConcurrent where that is set, and never above 1', () => {
    const { pass, ratio } = made()
    pass(60_000, 0.05, { inFlight: 20, maxConcurrent: 50 })
    isAbout(ratio(), 0.4)
    pass(60_000, 0.05, { inFlight: 70 })
    isAbout(ratio(), 1)
    assert.ok(ratio() <= 1)
  })

  test("is the user's own, and one that is not a number counts as none", () => {
    const { pass, ratio } = made()
    pass(60_000, 0.2, { shortage: 0.5 })
    isAbout(ratio(), 0.5)
    pass(120_000, 0.2, { shortage: Number.NaN, pool: Number.NaN })
    isAbout(ratio(), 0.2)
  })
})

test('it is proportional: twice the load is twice the figure', () => {
  for (const figures of [
    (load) => ({ pool: load }),
    (load) => ({ inFlight: load * 100, maxConcurrent: 100 }),
  ]) {
    const at = (load) => {
      const { pass, ratio } = made()
      pass(60_000, 0.01, figures(load))
      return ratio()
    }
    isAbout(at(0.8) / at(0.4), 2, 0.02)
  }
})

describe('it is smooth', () => {
  test('a stall of a second moves it by a tenth, and a minute later nothing is left of it', () => {
    const { clock, pass, ratio } = made()
    clock.advance(1000)
    isAbout(ratio(), 0.095)
    pass(60_000)
    isAbout(ratio(), 0)
  })

  test('after ten seconds of a new load it has gone 63 per cent of the way, and after thirty 95', () => {
    const { pass, ratio } = made()
    pass(10_000, 1)
    isAbout(ratio(), 0.632)
    pass(20_000, 1)
    isAbout(ratio(), 0.95)
  })

  test('a pool whose use jumps at each turn shows its mean', () => {
    const { pass, ratio } = made()
    for (let i = 0; i < 600; i++) pass(100, 0, { pool: i % 2 })
    isAbout(ratio(), 0.5, 0.02)
  })

  test('the frequency of scrapes changes nothing', () => {
    const [scraped, unread] = [made(), made()]
    for (let i = 0; i < 600; i++) {
      scraped.pass(50, 0.7, { pool: 0.3 })
      scraped.ratio()
      unread.pass(50, 0.7, { pool: 0.3 })
    }
    isAbout(scraped.ratio(), unread.ratio(), 0.001)
  })
})

describe('an idle loop has no turns', () => {
  test('a scrape after a silent minute sees a free process', () => {
    const { clock, pass, ratio } = made()
    pass(60_000, 0.9, { pool: 0.9 })
    // The last connection is released just after a reading.
    pass(20, 0, { pool: 0 })
    clock.idle(60_000)
    isAbout(ratio(), 0)
  })

  test('connections that are held all the time count, though the loop sleeps', () => {
    const { clock, now, pass, ratio } = made()
    pass(200, 0, { pool: 1 })
    for (let i = 0; i < 10; i++) {
      clock.idle(10_000)
      assert.equal(now.pool, 1)
      ratio()
    }
    isAbout(ratio(), 1)
  })

  test('a request that wakes the process does not count for the sleep before it', () => {
    const { clock, now, ratio } = made()
    clock.idle(60_000)
    now.pool = 1
    assert.equal(ratio(), 0)
  })
})

test('the loading of modules does not count', () => {
  const clock = new FakeClock()
  const admission = { limits: { inFlight: 0, maxConcurrent: 1 }, shortages: { shortage: 0 } }
  const autoscaling = new Autoscaling({ clock, admission, poolUse: () => 0 })
  clock.advance(3000)
  autoscaling.onInterval(clock.now(), clock.idleMs())
  assert.equal(autoscaling.sample().ratio, 0)
})

describe('the metric', () => {
  const ratioOf = async ({ get }) => oneValue(parse((await get('/metrics')).body), 'spillway_pressure_ratio')

  test('is there without an option, from 0 to 1, and the pressure itself stays unloaded', async (t) => {
    const spillway = spillwayFor(t)
    const served = await serve(
      t,
      spillway.wrap((_req, res) => res.end())
    )
    const ratio = await ratioOf(served)
    assert.ok(ratio >= 0 && ratio <= 1, ratio)
  })
})

describe('the use of pools', () => {
  const poolsFor = (t) => {
    const instance = new Instance(resolveOptions({ logger: false }), handClock(), new CallPlace(test))
    t.after(() => instance.close())
    return instance.features.use('pools')
  }
  const given = (size, max) => ({ size, idle: 0, waiting: 0, max })

  test('is that of the fullest pool, and falls when a connection is given back', async (t) => {
    const pools = poolsFor(t)
    assert.equal(pools.use, 0)
    const tarn = new Pool({ min: 0, max: 4, create: async () => ({}), destroy() {} })
    pools.add('orders', tarn, { maxWait: undefined })
    pools.add('files', given(2, 10), { maxWait: undefined })
    assert.equal(pools.use, 0.2)
    const connections = await Promise.all([1, 2, 3].map(() => tarn.acquire().promise))
    assert.equal(pools.use, 0.75)
    for (const each of connections) tarn.release(each)
    assert.equal(pools.use, 0.2)
    await tarn.destroy()
  })

  test('leaves out a pool with maxWait false, one without a bound, and a connection that all share', (t) => {
    const pools = poolsFor(t)
    pools.add('optional', given(10, 10), { maxWait: false })
    pools.add('unbounded', given(10, 0), { maxWait: undefined })
    pools.add('redis', given(1, 1), { maxWait: undefined })
    assert.equal(pools.use, 0)
  })

  test('survives figures of the user that throw', (t) => {
    const pools = poolsFor(t)
    const max = () => {
      throw new Error('as it should')
    }
    pools.add('orders', given(10, max), { maxWait: undefined })
    assert.equal(pools.use, 0)
  })
})
