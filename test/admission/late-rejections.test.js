'use strict'
// When a 503 is sent: at once while rejecting is cheap, late while it takes more than 2 % of the loop, and never late at a
// drain. The clock, its timers and what rejections cost are driven by hand.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { EventEmitter } = require('node:events')
const { test } = require('node:test')
const { LateRejections } = require('../../src/admission/late-rejections')
const { TimedClock } = require('./driven-admission')

/** @param {number} [rejectedShare] of the loop's time that rejections take */
function driven(rejectedShare = 0.05) {
  const clock = new TimedClock()
  const cost = { rejectedShare }
  const given = { random: 0.5 }
  const late = new LateRejections({ clock, cost, random: () => given.random })
  let sent = 0
  const reject = (request = {}) => late.pass(request, () => sent++)
  const pass = (ms) => {
    clock.advance(ms)
    clock.fire()
  }
  return { clock, cost, given, late, pass, reject, sent: () => sent }
}

for (const [rejectedShare, sentAtOnce] of [
  [0, 1],
  [0.02, 1],
  [0.021, 0],
]) {
  test(`where rejections take ${rejectedShare} of the loop, one is sent ${sentAtOnce ? 'at once' : 'late'}`, () => {
    const { late, reject, sent } = driven(rejectedShare)
    reject()
    assert.deepEqual([sent(), late.held, late.total], [sentAtOnce, 1 - sentAtOnce, 1 - sentAtOnce])
  })
}

for (const [random, holdMs] of [
  [0, 50],
  [0.5, 100],
  [0.999, 149.9],
]) {
  test(`by a random number of ${random} one is held for ${holdMs} ms`, () => {
    const { given, pass, reject, sent } = driven()
    given.random = random
    reject()
    pass(holdMs - 0.01)
    assert.equal(sent(), 0)
    pass(0.02)
    assert.equal(sent(), 1)
  })
}

test('each is sent once, and what it calls runs in the context it was rejected in', () => {
  const storage = new AsyncLocalStorage()
  const { late, pass } = driven()
  const seen = []
  storage.run('its own', () => late.pass({}, () => seen.push(storage.getStore())))
  pass(200)
  late.drain()
  pass(200)
  assert.deepEqual([seen, late.held, late.total], [['its own'], 0, 1])
})

test('no more than ten thousand are held', () => {
  const { late, reject, sent } = driven()
  for (let i = 0; i < 10_005; i++) reject()
  assert.deepEqual([late.held, sent()], [10_000, 5])
})

test('no more than a hundred of one HTTP/2 session are held, and its places come back', () => {
  const { late, pass, reject, sent } = driven()
  const [session, other] = [{}, {}]
  for (let i = 0; i < 150; i++) reject({ session, stream: {} })
  reject({ session: other, stream: {} })
  assert.deepEqual([late.held, sent()], [101, 50])
  pass(100)
  assert.deepEqual([late.held, sent()], [0, 151])
  for (let i = 0; i < 150; i++) reject({ session, stream: {} })
  assert.equal(late.held, 100)
})

test('a drain sends all that are held, and from then on none is held', () => {
  const { late, pass, reject, sent } = driven()
  for (let i = 0; i < 10; i++) reject()
  late.drain()
  assert.deepEqual([late.held, sent()], [0, 10])
  reject()
  assert.equal(sent(), 11)
  pass(1000)
  assert.equal(sent(), 11)
})

test('a client that half-closes gets its answer at once, and only one', () => {
  const { late, pass, reject, sent } = driven()
  const socket = new EventEmitter()
  reject({ socket })
  reject({ socket: new EventEmitter() })
  socket.emit('end')
  assert.deepEqual([late.held, sent()], [1, 1])
  pass(1000)
  assert.equal(sent(), 2)
})

test('one that was sent listens to its socket no longer', () => {
  const { pass, reject } = driven()
  const socket = new EventEmitter()
  for (let i = 0; i < 100; i++) {
    reject({ socket })
    pass(1000)
    assert.equal(socket.listenerCount('end'), 0)
  }
})

const STEP_MS = 5
const BACK_MS = 10

/**
 * Rejects clients that ask again as soon as they are answered, and others that come whatever becomes of the last.
 *
 * @returns {number[]} for each second, how long the last that was sent in it had been held
 */
function holdsOver(seconds, { late, clock, pass }, { clients = 0, perSecond = 0 }) {
  const holds = []
  let isOver = false
  let lastMs = 0
  const ask = (isBack) => {
    const sinceMs = clock.now()
    late.pass({}, () => {
      lastMs = Math.round((clock.now() - sinceMs) / 10) * 10
      if (isBack && !isOver) clock.after(BACK_MS, () => ask(true))
    })
  }
  for (let i = 0; i < clients; i++) ask(true)
  for (let second = 0; second < seconds; second++) {
    for (let ms = 0; ms < 1000; ms += STEP_MS) {
      for (let i = 0; i < (perSecond * STEP_MS) / 1000; i++) ask(false)
      pass(STEP_MS)
    }
    holds.push(lastMs)
  }
  isOver = true
  return holds
}

test('where clients wait for their answer, so that fewer come, the hold grows to a second and no further', () => {
  const holds = holdsOver(12, driven(), { clients: 100 })
  assert.deepEqual([holds.at(-1), Math.max(...holds)], [1000, 1000])
})

test('where as many come as before, a longer hold is taken back, and none is tried for five seconds', () => {
  const holds = holdsOver(30, driven(), { perSecond: 400 })
  assert.ok(Math.max(...holds) <= 200, holds.join())
  const longer = holds.filter((holdMs) => holdMs > 100).length
  assert.ok(longer >= 2 && longer <= 6, holds.join())
})

test('when rejections are cheap again, none is held, and the hold shrinks to where it began', () => {
  const all = driven()
  assert.equal(holdsOver(12, all, { clients: 100 }).at(-1), 1000)
  all.cost.rejectedShare = 0.01
  all.pass(2000)
  assert.equal(holdsOver(10, all, { perSecond: 200 }).at(-1), 0)
  all.cost.rejectedShare = 0.05
  const [before, sinceMs] = [all.sent(), all.clock.now()]
  all.reject()
  while (all.sent() === before) all.pass(10)
  assert.equal(all.clock.now() - sinceMs, 100)
})
