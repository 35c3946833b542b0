'use strict'
// When a queue counts as an overload: by the time it has stood and the load, over turns of a loop with a
// queue, told by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Overload } = require('../../src/core/gate/limits/queue-delay')
const { randomFrom } = require('../simulation/random')

const TURN_MS = 10
const WARM_MS = 1000
const SLICE_MS = 100
const ENDLESS = Number.POSITIVE_INFINITY

/**
 * A loop that serves its queue in turns of 10 ms, or as long as one request takes. It idles in what is left
 * of a turn.
 */
class Served {
  nowMs = 0
  /** For each turn, its end and whether an overload was told then; and the arrivals meanwhile. */
  told = []
  toldArrivals = 0
  arrivals = 0
  #idleMs = 0
  #queue = []
  #overload
  #usualMs

  /**
   * @param {{ usualMs: number, maxOutstanding?: number, areGateways?: boolean }} given what a request takes in
   *   the mean; how many can be outstanding
   */
  constructor({ usualMs, maxOutstanding = ENDLESS, areGateways = false }) {
    this.#usualMs = usualMs
    this.#overload = new Overload({ maxOutstanding, areGateways, cpuShare: 1 }, 0)
  }

  turn(costs) {
    this.#queue.push(...costs)
    let [busyMs, ended] = [0, 0]
    while (this.#queue.length > 0 && busyMs < TURN_MS - 1e-6) {
      busyMs += this.#queue.shift()
      ended++
    }
    const idledMs = Math.max(0, TURN_MS - busyMs)
    this.nowMs += busyMs + idledMs
    this.#idleMs += idledMs
    const isEmpty = this.#queue.length === 0 && idledMs >= TURN_MS / 10
    this.#overload.onTurn({
      nowMs: this.nowMs,
      idleMs: this.#idleMs,
      arrived: costs.length,
      ended,
      usualMs: this.#usualMs,
      isEmpty,
    })
    const isOn = this.#overload.isOn(this.#usualMs, this.nowMs)
    if (isOn) this.told.push(this.nowMs)
    this.arrivals += costs.length
    if (isOn) this.toldArrivals += costs.length
  }

  /** So many requests a second, evenly, for so long. */
  run(ms, perSecond, costMs = this.#usualMs) {
    const endMs = this.nowMs + ms
    let due = 0
    while (this.nowMs < endMs - 1e-6) {
      due += (perSecond * TURN_MS) / 1000
      const count = Math.floor(due + 1e-9)
      due -= count
      this.turn(Array.from({ length: count }, () => costMs))
    }
    return this
  }
}

/** How long after a step to `load` from .5 the overload is told; undefined if it is not, in a minute. */
function toldAfterMs(load, { maxOutstanding = ENDLESS, areGateways = false } = {}) {
  const served = new Served({ usualMs: 1, maxOutstanding, areGateways }).run(WARM_MS, 500)
  served.run(20_000, load * 1000)
  return served.told.length === 0 ? undefined : served.told[0] - WARM_MS
}

for (const [load, atLeastMs] of [
  [1.2, 800],
  [2, 308],
  [10, 300],
]) {
  test(`at ${load} times the capacity the overload is told after ${atLeastMs} ms and up to a slice`, () => {
    const afterMs = toldAfterMs(load)
    assert.ok(afterMs >= atLeastMs && afterMs <= atLeastMs + SLICE_MS + TURN_MS, String(afterMs))
  })
}

test('a closed loop that just fills the loop is told after 1.3 s, unless its clients bound the queue to 450 ms', () => {
  const afterMs = toldAfterMs(1)
  assert.ok(afterMs >= 1333 && afterMs <= 1333 + SLICE_MS + TURN_MS, String(afterMs))
  assert.equal(toldAfterMs(1, { maxOutstanding: 450 }), undefined)
  assert.equal(toldAfterMs(1, { maxOutstanding: 451 }), afterMs)
  assert.equal(toldAfterMs(10, { maxOutstanding: 450 }), undefined)
})

test('a gateway that just fills the loop is told after 0.7 s: its surplus waits in its own queue', () => {
  const afterMs = toldAfterMs(1, { areGateways: true })
  assert.ok(afterMs >= 666 && afterMs <= 666 + SLICE_MS + TURN_MS, String(afterMs))
})

test('a load of 0.7 is never told, however long its queue stands', () => {
  const overload = new Overload({ maxOutstanding: ENDLESS, areGateways: false, cpuShare: 1 }, 0)
  for (let nowMs = 10; nowMs <= 60_000; nowMs += 10) {
    overload.onTurn({ nowMs, idleMs: 0.3 * nowMs, arrived: 7, ended: 7, usualMs: 1, isEmpty: false })
    assert.equal(overload.isOn(1, nowMs), false)
  }
})

test('500 ms of work at once, beside an ordinary load, are not told, however often they come', () => {
  const served = new Served({ usualMs: 1 }).run(WARM_MS, 200)
  for (let i = 0; i < 10; i++) {
    served.turn(Array.from({ length: 500 }, () => 1))
    served.run(1500, 200)
  }
  assert.deepEqual(served.told, [])
})

test('500 ms of work within 200 ms are not told', () => {
  const served = new Served({ usualMs: 1 }).run(WARM_MS, 200)
  served.run(200, 2500).run(1500, 200)
  assert.deepEqual(served.told, [])
})

test('a burst of requests far cheaper than the mean is not told: what has ended shows what they cost', () => {
  const served = new Served({ usualMs: 1 }).run(WARM_MS, 200)
  served.turn(Array.from({ length: 800 }, () => 0.3))
  served.run(600, 2000, 0.3).run(1500, 200)
  assert.deepEqual(served.told, [])
})

test('a loop that idles is no overload where requests cost less than the mean: idle time is none of their cost', () => {
  const overload = new Overload({ maxOutstanding: ENDLESS, areGateways: false, cpuShare: 1 }, 0)
  for (let nowMs = 10; nowMs <= 60_000; nowMs += 10) {
    overload.onTurn({ nowMs, idleMs: 0.3 * nowMs, arrived: 7, ended: 7, usualMs: 2, isEmpty: false })
    assert.equal(overload.isOn(2, nowMs), false)
  }
})

test('two tenths of a second in which the loop is busy for no more than 0.7 end it, although requests are queued', () => {
  const overload = new Overload({ maxOutstanding: ENDLESS, areGateways: false, cpuShare: 1 }, 0)
  let [nowMs, idleMs] = [0, 0]
  const pass = (ms, idleShare) => {
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs += 10
      idleMs += 10 * idleShare
      overload.onTurn({ nowMs, idleMs, arrived: 30, ended: 10, usualMs: 1, isEmpty: false })
    }
    return overload.isOn(1, nowMs)
  }
  assert.equal(pass(1000, 0), true)
  assert.equal(pass(100, 0.25), true)
  assert.equal(pass(100, 0.31), true)
  assert.equal(pass(100, 0.31), false)
  assert.equal(pass(290, 0), false)
  assert.equal(pass(200, 0), true)
})

test('where slots are short the idle time of the loop says nothing', () => {
  const overload = new Overload({ maxOutstanding: ENDLESS, areGateways: false, cpuShare: 1 }, 0)
  for (let nowMs = 10; nowMs <= 1000; nowMs += 10)
    overload.onTurn({
      nowMs,
      idleMs: 0.9 * nowMs,
      arrived: 2,
      ended: 1,
      usualMs: 10,
      isEmpty: false,
      isSlotShort: true,
    })
  assert.equal(overload.isOn(10, 1000), true)
})

test('the idle time before the first slice is not its own', () => {
  const overload = new Overload({ maxOutstanding: ENDLESS, areGateways: false, cpuShare: 1 }, 0, 60_000)
  for (let nowMs = 10; nowMs <= 320; nowMs += 10)
    overload.onTurn({ nowMs, idleMs: 60_000, arrived: 30, ended: 10, usualMs: 1, isEmpty: false })
  assert.equal(overload.isOn(1, 320), true)
})

test('an empty queue ends the overload, and the time it stood begins anew', () => {
  const overload = new Overload({ maxOutstanding: ENDLESS, areGateways: false, cpuShare: 1 }, 0)
  let nowMs = 0
  const pass = (ms, isEmpty = false) => {
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      nowMs += 10
      overload.onTurn({ nowMs, idleMs: 0, arrived: 30, ended: 10, usualMs: 1, isEmpty })
    }
  }
  pass(500)
  assert.equal(overload.isOn(1, nowMs), true)
  pass(10, true)
  assert.equal(overload.isOn(1, nowMs), false)
  pass(290)
  assert.equal(overload.isOn(1, nowMs), false)
  pass(20)
  assert.equal(overload.isOn(1, nowMs), true)
  overload.onEmpty(nowMs)
  assert.equal(overload.isOn(1, nowMs), false)
})

test('rare long work that takes 0.58 of the loop is hardly ever told', () => {
  const random = randomFrom(5)
  const [share, rareMs, usualMs] = [0.03, 150, 0.1]
  const meanMs = share * rareMs + (1 - share) * usualMs
  const served = new Served({ usualMs: meanMs })
  const perMs = 0.58 / meanMs
  let nextMs = 0
  while (served.nowMs < 300_000) {
    const costs = []
    for (; nextMs <= served.nowMs; nextMs += -Math.log(1 - random()) / perMs)
      costs.push(random() < share ? rareMs : usualMs)
    served.turn(costs)
  }
  assert.ok(served.arrivals > 30_000)
  const toldShare = served.toldArrivals / served.arrivals
  assert.ok(toldShare < 0.03, String(toldShare))
})

test('clients are bounded by the CPU time of their requests', () => {
  const isBounded = (cpuShare) =>
    new Overload({ maxOutstanding: 300, areGateways: false, cpuShare }, 0).isBounded(2)
  assert.deepEqual([1, 0.76, 0.75].map(isBounded), [false, false, true])
})
