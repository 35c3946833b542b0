'use strict'
// When a 503 is sent: at once while rejecting is cheap, late where that brings fewer requests, and never late at a drain. The clock, its timers and what rejections cost are driven by hand.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { EventEmitter } = require('node:events')
const { test } = require('node:test')
const { onHalfClose } = require('../../src/admission/half-closed')
const { LateRejections } = require('../../src/admission/late-rejections')
const { TimedClock } = require('./driven-admission')

const WINDOW_MS = 200
/** What comes on it is never held. */
const HALF_CLOSED = new EventEmitter()
onHalfClose({ socket: HALF_CLOSED }, () => {})
HALF_CLOSED.emit('end')

/**
 * @param {object} [start]
 * @param {number} [start.rejectedShare] of the loop's time that rejections take
 * @param {boolean} [start.isHolding] whether the first step has been taken
 * @param {{ open: number, busy?: number }} [start.connections] how many are open, and wait for an answer: by default those that are held
 */
function driven({ rejectedShare = 0.05, isHolding = true, connections = { open: 0 } } = {}) {
  const clock = new TimedClock()
  const cost = { rejectedShare }
  const given = { random: 0.5 }
  const use = {
    get open() {
      return connections.open
    },
    get busy() {
      return connections.busy ?? late.held
    },
  }
  const stats = { decided: 0 }
  const late = new LateRejections({ clock, cost, stats, random: () => given.random, connections: use })
  let sent = 0
  const reject = (/** @type {any} */ request = { res: {} }) => {
    stats.decided++
    late.deliver(request, () => sent++)
  }
  const pass = (ms) => {
    clock.advance(ms)
    clock.fire()
    late.onTurn()
  }
  if (isHolding) {
    for (let window = 0; window < 2; window++) {
      reject({ res: {}, socket: HALF_CLOSED })
      pass(WINDOW_MS)
    }
    reject({ res: {}, socket: HALF_CLOSED })
    sent = 0
  }
  return { clock, cost, given, late, pass, reject, sent: () => sent, stats }
}

for (const [rejectedShare, sentAtOnce] of [
  [0, 1],
  [0.02, 1],
  [0.021, 0],
]) {
  test(`where rejections take ${rejectedShare} of the loop, a 503 is sent ${sentAtOnce ? 'at once' : 'late'}`, () => {
    const { late, pass, reject, sent } = driven({ rejectedShare, isHolding: false })
    for (let window = 0; window < 2; window++) {
      reject()
      pass(WINDOW_MS)
    }
    assert.equal(sent(), 2)
    reject()
    assert.deepEqual([sent() - 2, late.held, late.total], [sentAtOnce, 1 - sentAtOnce, 1 - sentAtOnce])
  })
}

for (const [random, holdMs] of [
  [0, 50],
  [0.5, 100],
  [0.999, 149.9],
]) {
  test(`with a random number of ${random} a 503 is held for ${holdMs} ms`, () => {
    const { given, pass, reject, sent } = driven()
    given.random = random
    reject()
    pass(holdMs - 0.01)
    assert.equal(sent(), 0)
    pass(0.02)
    assert.equal(sent(), 1)
  })
}

test('each 503 is sent once, in the async context of its rejection', () => {
  const storage = new AsyncLocalStorage()
  const { late, pass } = driven()
  const seen = []
  storage.run('its own', () => late.deliver({ res: {} }, () => seen.push(storage.getStore())))
  pass(200)
  late.drain()
  pass(200)
  assert.deepEqual([seen, late.held, late.total], [['its own'], 0, 1])
})

for (const [rejectedShare, most] of [
  [0.5, 512],
  [0.51, 10_000],
]) {
  test(`where rejections take ${rejectedShare} of the loop, no more than ${most} are held`, () => {
    const { late, reject, sent } = driven({ rejectedShare })
    for (let i = 0; i < most + 5; i++) reject()
    assert.deepEqual([late.held, sent()], [most, 5])
  })
}

test('no more than a hundred of one HTTP/2 session are held, and a 503 that was sent frees its place', () => {
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

test('a drain sends all held 503s, and from then on none is held', () => {
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
  reject({ res: {}, socket })
  reject({ res: {}, socket: new EventEmitter() })
  socket.emit('end')
  assert.deepEqual([late.held, sent()], [1, 1])
  pass(1000)
  assert.equal(sent(), 2)
})

test('a 503 that was sent listens to its socket no longer', () => {
  const { pass, reject } = driven()
  const socket = new EventEmitter()
  for (let i = 0; i < 100; i++) {
    reject({ res: {}, socket })
    pass(1000)
    assert.equal(socket.listenerCount('end'), 0)
  }
})

const STEP_MS = 5
const BACK_MS = 10

/**
 * Rejects clients that ask again as soon as they are answered, and others that come whatever becomes of the last. From the tenth second to the 14th, some
 * leave before they are answered.
 *
 * @returns {number[]} for each second, how long the last that was sent in it had been held
 */
function holdsOver(
  seconds,
  { late, clock, pass, stats },
  { clients = 0, perSecond = 0, leavers = 0, backMs = BACK_MS }
) {
  const holds = []
  let isOver = false
  let lastMs = 0
  const ask = (isBack) => {
    const sinceMs = clock.now()
    stats.decided++
    late.deliver({ res: {} }, () => {
      lastMs = Math.round((clock.now() - sinceMs) / 10) * 10
      if (isBack && !isOver) clock.after(backMs, () => ask(true))
    })
  }
  for (let i = 0; i < clients; i++) ask(true)
  for (let second = 0; second < seconds; second++) {
    for (let ms = 0; ms < 1000; ms += STEP_MS) {
      for (let i = 0; i < (perSecond * STEP_MS) / 1000; i++) ask(false)
      for (let i = 0; i < leavers && second >= 10 && second < 14; i++) {
        stats.decided++
        late.deliver({ res: { destroyed: true } }, () => {})
      }
      pass(STEP_MS)
    }
    holds.push(lastMs)
  }
  isOver = true
  return holds
}

test('if clients wait for their answers, so that fewer requests arrive, the hold grows to a second and no further', () => {
  const holds = holdsOver(12, driven({ isHolding: false }), { clients: 100 })
  // The step before is measured again from time to time.
  assert.ok(holds.at(-1) >= 400)
  assert.equal(Math.max(...holds), 1000)
})

test('if as many requests arrive as before, 503s are held only for a fifth of a second every five', () => {
  const all = driven({ isHolding: false })
  holdsOver(30, all, { perSecond: 400 })
  const share = all.late.total / (30 * 400)
  assert.ok(share > 0.02 && share < 0.06, `${share} of all were held`)
})

/** Requests come through a proxy that has so many connections, and queues the requests for which none is free. */
function holdsOfProxy(seconds, all, { connections, perSecond, backlog = 0 }) {
  const { late, pass, stats } = all
  let waiting = backlog
  let longest = 0
  const send = () => {
    // A connection carries one request a loop turn.
    for (let spare = connections.open - late.held; waiting > 0 && spare > 0; spare--) {
      waiting--
      stats.decided++
      late.deliver({ res: {} }, () => {})
    }
  }
  for (let ms = 0; ms < seconds * 1000; ms += STEP_MS) {
    waiting += (perSecond * STEP_MS) / 1000
    pass(STEP_MS)
    send()
    if (ms > 2000) longest = Math.max(longest, waiting)
  }
  return longest
}

// With 60 000, the proxy needs a second to catch up.
for (const perSecond of [8000, 60_000]) {
  test(`a hold that uses up the 400 connections of a proxy with ${perSecond} requests a second is taken back: its requests would wait`, () => {
    const connections = { open: 400 }
    const all = driven({ isHolding: false, connections })
    assert.ok(holdsOfProxy(20, all, { connections, perSecond }) < 0.25 * perSecond)
    assert.ok(all.late.total < 20 * perSecond * 0.1, `${all.late.total} were held`)
  })
}

test('a proxy that a burst has filled is not taken for impatient clients: no hold begins before it has caught up', () => {
  const connections = { open: 40 }
  const all = driven({ isHolding: false, connections })
  // A calm time, in which its connections are spare.
  for (let i = 0; i < 1200; i++) all.pass(5)
  assert.ok(holdsOfProxy(20, all, { connections, perSecond: 4000, backlog: 6000 }) < 1000)
  assert.ok(all.late.total < 20 * 4000 * 0.1, `${all.late.total} were held`)
})

/**
 * A stall, in an overload of 3600 requests a second that comes through a proxy. Clients give up after two seconds, so that a proxy's requests are as old as that when they arrive.
 *
 * @returns {number[]} for each second, the share of the requests that reach the server within 200 ms
 */
function inTimeAfterStall(seconds, { open, answersPerSecond, stallMs, rejectedShare }) {
  const connections = { open, busy: 0 }
  const { cost, late, pass, stats } = driven({ rejectedShare: 0, isHolding: false, connections })
  const shares = []
  const waiting = []
  const received = []
  let sent = []
  let inTime = 0
  let tooLate = 0
  const free = (request) => {
    if (!request.isFree) connections.busy--
    request.isFree = true
  }
  for (let ms = 0; ms < seconds * 1000; ms += STEP_MS) {
    const isCalm = ms < 3000
    cost.rejectedShare = isCalm ? 0 : rejectedShare
    for (let i = 0; i < (isCalm ? 1 : 18); i++)
      waiting.push({ dueMs: ms, isFree: false, res: { destroyed: false } })
    while (waiting.length > 0 && ms - waiting[0].dueMs > 2000) {
      waiting.shift()
      tooLate++
    }
    pass(STEP_MS)
    for (; waiting.length > 0 && connections.busy < connections.open; connections.busy++) {
      const request = waiting.shift()
      received.push(request)
      sent.push(request)
      if (ms - request.dueMs <= 200) inTime++
      else tooLate++
    }
    for (const request of sent)
      if (ms - request.dueMs > 2000) {
        request.res.destroyed = true
        free(request)
      }
    sent = sent.filter(({ isFree }) => !isFree)
    const isStalled = ms >= 4000 && ms < 4000 + stallMs
    for (let i = 0; i < (answersPerSecond * STEP_MS) / 1000 && !isStalled && received.length > 0; i++) {
      const request = received.shift()
      stats.decided++
      if (isCalm) free(request)
      else late.deliver(request, () => free(request))
    }
    if (ms % 1000 === 1000 - STEP_MS) {
      shares.push(inTime / Math.max(1, inTime + tooLate))
      inTime = tooLate = 0
    }
  }
  return shares
}

for (const [open, answersPerSecond, stallMs, rejectedShare, withinSeconds] of [
  [100, 4000, 300, 0.3, 4],
  [100, 4800, 1000, 0.8, 5],
  [400, 5900, 2000, 0.3, 20],
  [400, 5900, 2000, 0.8, 20],
  [100, 4100, 2000, 0.3, 25],
  [1024, 9000, 2000, 0.8, 20],
])
  test(`a proxy of ${open} connections that has waited for ${stallMs} ms catches up within ${withinSeconds} seconds, where rejections take ${rejectedShare} of the loop, at most ${answersPerSecond} a second`, () => {
    const shares = inTimeAfterStall(30, { open, answersPerSecond, stallMs, rejectedShare })
    const after = shares.slice(4 + withinSeconds)
    assert.ok(Math.min(...after) > 0.95, shares.map((share) => share.toFixed(2)).join(' '))
  })

for (const [open, isHeld] of [
  [512, false],
  [513, true],
])
  test(`a flood that fills ${open} connections, of which some were spare, is ${isHeld ? 'held at once' : 'not held at once: a proxy may catch up'}`, () => {
    const connections = { open, busy: 1 }
    const all = driven({ rejectedShare: 0, isHolding: false, connections })
    all.reject()
    all.pass(WINDOW_MS)
    all.reject()
    all.cost.rejectedShare = 0.8
    connections.busy = open
    for (let window = 0; window < 2; window++) {
      all.pass(WINDOW_MS)
      all.reject({ res: {}, socket: HALF_CLOSED })
    }
    all.reject()
    assert.equal(all.late.held, isHeld ? 1 : 0)
  })

test('distant clients that retry at once are held: their round trip leaves as long between two requests as before', () => {
  const all = driven({ isHolding: false, connections: { open: 200 } })
  // Clients whose holds are equal would come back in one loop turn.
  let spread = 0
  Object.defineProperty(all.given, 'random', { get: () => (spread = (spread + 0.618) % 1) })
  holdsOver(12, all, { clients: 200, backMs: 40 })
  assert.ok(all.late.held > 150, `${all.late.held} of 200 are held`)
})

test('impatient clients are held although other connections idle', () => {
  const all = driven({ isHolding: false, connections: { open: 300 } })
  assert.equal(Math.max(...holdsOver(12, all, { clients: 100 })), 1000)
})

for (const [what, leave] of [
  ['are cut', ({ res }) => (res.destroyed = true)],
  ['end their side', ({ socket }) => socket.emit('end')],
])
  test(`a step that fewer requests followed is taken back where clients ${what} before their 503`, () => {
    for (const [share, isHeld] of [
      [0.4, true],
      [0.6, false],
    ]) {
      const { late, pass, reject, stats } = driven({ isHolding: false })
      for (let window = 0; window < 2; window++) {
        reject({ res: {}, socket: HALF_CLOSED })
        pass(WINDOW_MS)
        stats.decided += 1000
      }
      reject({ res: {}, socket: HALF_CLOSED })
      const requests = Array.from({ length: 10 }, () => ({
        res: { destroyed: false },
        socket: new EventEmitter(),
      }))
      for (const request of requests) reject(request)
      assert.equal(late.held, 10)
      for (const request of requests.slice(0, share * 10)) leave(request)
      pass(WINDOW_MS)
      reject({ res: {}, socket: HALF_CLOSED })
      reject()
      assert.equal(late.held, isHeld ? 1 : 0, `${share} of them`)
    }
  })

test('one client that leaves again and again does not end the hold of those that ask again at once', () => {
  const all = driven({ isHolding: false, connections: { open: 1000 } })
  const holds = holdsOver(40, all, { clients: 100, leavers: 1 })
  assert.equal(Math.max(...holds.slice(0, 10)), 1000)
  assert.ok(Math.min(...holds.slice(16)) >= 100, holds.join(' '))
})

test('clients that stop waiting for their answers are no longer held', () => {
  const all = driven({ isHolding: false })
  assert.ok(holdsOver(6, all, { clients: 10 }).at(-1) >= 100)
  assert.equal(holdsOver(4, all, { perSecond: 2000 }).at(-1), 0)
})

test('the window in which rejections become costly is not compared with: part of it was calm', () => {
  const all = driven({ isHolding: false })
  all.reject()
  all.pass(1000)
  assert.ok(holdsOver(3, all, { clients: 100 }).at(-1) >= 100)
})

for (const [before, what, isHeld] of [
  [0.3, 'that was costly already is evidence: 503s are held', true],
  [0, 'that was partly calm is no evidence: it is measured again', false],
]) {
  test(`when a flood begins, a window ${what}`, () => {
    const { cost, late, pass, reject } = driven({ rejectedShare: before, isHolding: false })
    for (let window = 0; window < 2; window++) {
      reject()
      pass(WINDOW_MS)
    }
    cost.rejectedShare = 0.8
    reject()
    assert.equal(late.held, isHeld ? 1 : 0)
  })
}

test('the number of rejections at once is no evidence of the arrival rate', () => {
  const all = driven({ isHolding: false })
  for (let ms = 0; ms < 3000; ms += 5) {
    all.stats.decided++
    if (ms % 500 === 495) for (let i = 0; i < 100; i++) all.late.deliver({ res: {} }, () => {})
    all.pass(5)
  }
  assert.ok(all.late.total <= 200, `${all.late.total} of 600`)
})

test('rates from before a long calm are forgotten', () => {
  const all = driven({ isHolding: false })
  assert.equal(Math.max(...holdsOver(12, all, { clients: 100 })), 1000)
  all.pass(60_000)
  const before = all.sent()
  all.reject()
  assert.equal(all.sent() - before, 1)
})

test('when rejections are cheap again, the hold shrinks to nothing', () => {
  const all = driven({ isHolding: false })
  assert.equal(Math.max(...holdsOver(12, all, { clients: 100 })), 1000)
  all.cost.rejectedShare = 0.004
  assert.equal(holdsOver(10, all, { clients: 100 }).at(-1), 0)
})

test('between cheap and costly no hold is begun', () => {
  const all = driven({ isHolding: false })
  all.cost.rejectedShare = 0.01
  assert.equal(holdsOver(3, all, { clients: 100 }).at(-1), 0)
})

test('a step that was taken back by mistake is taken again as soon as the step before shows that it paid', () => {
  const all = driven({ isHolding: false })
  // A calm second is what the first step is compared with.
  for (let window = 0; window < 2; window++) {
    all.reject()
    all.pass(WINDOW_MS)
  }
  assert.ok(holdsOver(2, all, { clients: 100 }).at(-1) >= 100)
})
