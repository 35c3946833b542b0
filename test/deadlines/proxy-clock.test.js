'use strict'
// What tells an age from the difference of two clocks.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ProxyClock } = require('../../src/features/deadlines/proxy-clock')

const QUIET = true
const BUSY = false

function clockOf() {
  const learnt = []
  const doubts = []
  let nowMs = 0
  const clock = new ProxyClock(
    (ms) => learnt.push(ms),
    () => doubts.push(nowMs)
  )

  let rejected = 0
  /** One request after so long, which is rejected if it is older than two seconds. */
  const see = (differenceMs, isQuiet = BUSY, afterMs = 10) => {
    nowMs += afterMs
    const ms = clock.learnAge(differenceMs, isQuiet, nowMs)
    const isOdd = clock.recordStamp(differenceMs, isQuiet, nowMs)
    if (ms < 2000) clock.onYoung()
    else {
      if (!isQuiet) clock.onOld(differenceMs, nowMs)
      if (!clock.countDoubt(isOdd, nowMs)) rejected++
    }
    return ms
  }
  return { clock, learnt, doubts, see, rejected: () => rejected }
}

test('no age is believed before a request was young', () => {
  const { clock, see } = clockOf()
  assert.deepEqual([see(3000), clock.isKnown], [0, false])
  assert.deepEqual([see(40), clock.isKnown], [40, true])
  assert.equal(see(3000), 3000)
})

test('a clock that is three seconds behind rejects nothing, and is learnt', () => {
  const { learnt, see } = clockOf()
  const ages = []
  for (let i = 0; i < 1000; i++) ages.push(see(3000 + (i % 7)))
  assert.deepEqual(learnt, [3000])
  assert.ok(Math.max(...ages) < 10)
})

test('a clock that is set back by three seconds is learnt after five seconds of rejections', () => {
  const { learnt, see } = clockOf()
  see(2)
  let rejected = 0
  for (let i = 0; i < 2000; i++) if (see(3002 + (i % 5)) >= 2000) rejected++
  assert.deepEqual(learnt, [3002])
  assert.ok(rejected >= 500 && rejected <= 502, String(rejected))
})

test('a queue in the proxy is no difference of clocks: whoever is young says so', () => {
  const { clock, learnt, see } = clockOf()
  see(2)
  for (let i = 0; i < 5000; i++) see(i % 20 === 0 ? 1500 : 4000)
  assert.deepEqual([learnt, clock.behindMs], [[], 0])
})

test('a queue that stands when the process starts is taken for a difference at first, and given back', () => {
  const { clock, see } = clockOf()
  for (let i = 0; i < 1000; i++) see(8000)
  assert.equal(clock.behindMs, 8000)
  for (let i = 0; i < 1000; i++) see(6000 - i)
  assert.ok(clock.behindMs <= 6000, String(clock.behindMs))
  for (let i = 0; i < 2000; i++) see(1)
  assert.equal(clock.behindMs, 0)
  assert.equal(see(3000), 3000)
})

test('requests that come alone teach a smaller difference, too', () => {
  const { learnt, see } = clockOf()
  see(5)
  for (let i = 0; i < 60; i++) assert.equal(see(700 + i, QUIET, 1000), 700 + i)
  assert.equal(see(705, QUIET, 1000), 5)
  assert.deepEqual(learnt, [700])
  assert.equal(see(705), 5)
})

test('before a clock is known, requests that come alone teach it within five seconds', () => {
  const { learnt, see } = clockOf()
  for (let i = 0; i < 6; i++) see(2500, QUIET, 1000)
  assert.deepEqual(learnt, [2500])
})

test('a proxy that delays each request for half a minute has no other clock', () => {
  const { clock, learnt, see } = clockOf()
  for (let burst = 0; burst < 10; burst++) {
    see(3, QUIET, 1000)
    for (let i = 0; i < 150; i++) see(2500, QUIET, 200)
  }
  assert.deepEqual([learnt, clock.behindMs], [[], 0])
})

test('after the process stood still, requests of several connections come in any order', () => {
  const { doubts, see, rejected } = clockOf()
  for (let i = 0; i < 100; i++) see(2)
  see(3000, BUSY, 3000)
  for (let i = 0; i < 100; i++) see((i * 1700) % 3000, BUSY, 1)
  assert.deepEqual([rejected() > 20, doubts], [true, []])
  // A second later, the order counts again.
  see(2, BUSY, 150)
  for (let i = 0; i < 10; i++) see(2, BUSY, 150)
  for (let i = 0; i < 4; i++) see(2900, BUSY, 1)
  assert.equal(doubts.length, 1)
})

test('few of them teach nothing, however long it takes, and neither do many at once', () => {
  const { learnt, see } = clockOf()
  see(5)
  for (let i = 0; i < 4; i++) see(700, QUIET, 60_000)
  assert.deepEqual(learnt, [])
  const other = clockOf()
  other.see(5)
  for (let i = 0; i < 100; i++) other.see(700, QUIET, 1)
  assert.deepEqual(other.learnt, [])
})

test('a stamp from the future makes no other request old', () => {
  const { clock, see } = clockOf()
  see(5)
  assert.equal(see(-900), 0)
  assert.equal(see(20), 20)
  assert.deepEqual([clock.behindMs, clock.aheadMs], [0, 900])
})

test('a clock that is set right again is believed after five seconds', () => {
  const { clock, see } = clockOf()
  for (let i = 0; i < 1000; i++) see(3000)
  assert.equal(clock.behindMs, 3000)
  for (let i = 0; i < 490; i++) see(1)
  assert.equal(clock.behindMs, 3000)
  for (let i = 0; i < 20; i++) see(1)
  assert.equal(clock.behindMs, 0)
})

test('younger stamps of others reject nobody, whether the difference is known or not', () => {
  const { clock, see, rejected } = clockOf()
  for (let i = 0; i < 1000; i++) see(3000)
  for (let i = 0; i < 20_000; i++) see(i % 300 === 0 ? 0 : 3000 + (i % 7))
  assert.deepEqual([rejected(), clock.behindMs], [0, 3000])
})

for (const every of [2, 30, 300, 499])
  test(`two clocks behind one address: three rejections, with one young request in ${every}`, () => {
    const { doubts, see, rejected } = clockOf()
    for (let i = 0; i < 50_000; i++) see(i % every === 0 ? 0 : 3000)
    assert.deepEqual([rejected(), doubts.length], [3, 1])
  })

test('a clock that falls back costs three rejections, at any rate of requests', () => {
  for (const [isQuiet, afterMs] of [
    [BUSY, 10],
    [QUIET, 2000],
    [QUIET, 60_000],
  ]) {
    const { see, rejected } = clockOf()
    for (let i = 0; i < 50; i++) see(5, isQuiet, afterMs)
    for (let i = 0; i < 1000; i++) see(3005, isQuiet, afterMs)
    assert.ok(rejected() <= 5, `${rejected()} each ${afterMs} ms`)
  }
})

test('a queue in order is never doubted, and ages count again half a minute after the last that was odd', () => {
  const { doubts, see, rejected } = clockOf()
  see(2)
  for (let i = 0; i < 1000; i++) see(Math.min(2100, i * 8))
  const inOrder = rejected()
  assert.ok(inOrder > 100)
  see(5)
  for (let i = 0; i < 10; i++) see(4000)
  assert.deepEqual([rejected() - inOrder, doubts.length], [3, 1])
  for (let i = 0; i < 4000; i++) see(5)
  for (let i = 0; i < 1000; i++) see(Math.min(2100, i * 8))
  assert.ok(rejected() > inOrder + 100)
})

test('a clock that is a little behind is learnt too, if every request is too old by it', () => {
  const clock = new ProxyClock(() => assert.fail('too little to warn of'))
  let rejected = 0
  for (let nowMs = 0; nowMs < 20_000; nowMs += 10) {
    const ms = clock.learnAge(80, BUSY, nowMs)
    if (ms < 50) clock.onYoung()
    else {
      rejected++
      clock.onOld(80, nowMs)
    }
  }
  assert.deepEqual([rejected, clock.behindMs], [501, 80])
})
