'use strict'
// When a 503 is sent: at once while rejections take less than their share of the loop, else in its turn. The clock, its timers and what a
// rejection costs are driven by hand.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { EventEmitter } = require('node:events')
const { test } = require('node:test')
const { onHalfClose } = require('../../src/requests/half-closed')
const { RejectionPace } = require('../../src/admission/rejection-pace')
const { TimedClock } = require('./driven-admission')

/** What a second that was not used allows at once. */
const CREDIT_MS = 120

/** All clients wait for an answer, unless told otherwise. */
function driven({ rejectionMs = 1, areWaiting = true } = {}) {
  const clock = new TimedClock()
  const pace = new RejectionPace({ clock, clients: { areWaiting }, cost: { rejectionMs } })
  /** The numbers of the rejections, in the order in which they were sent. */
  const sent = []
  let count = 0
  const reject = (/** @type {any} */ request = { res: {} }) => {
    const number = count++
    pace.deliver(request, () => sent.push(number), clock.now())
  }
  const rejectMany = (many) => {
    for (let i = 0; i < many; i++) reject()
  }
  const pass = (ms) => {
    for (let i = 0; i < ms; i++) {
      clock.advance(1)
      clock.fire()
      pace.onTurn(clock.now())
    }
  }
  return { clock, pace, pass, reject, rejectMany, sent }
}

for (const [areWaiting, share] of /** @type {const} */ ([
  [true, 0.12],
  [false, 0.17],
])) {
  for (const rejectionMs of [0.02, 0.5, 4]) {
    for (const perMs of [1, 10]) {
      test(`${perMs} rejections of ${rejectionMs} ms each millisecond${areWaiting ? ', while all clients wait' : ''}, take ${share} of a second at most, and all of it if they need it`, () => {
        const { pass, rejectMany, sent } = driven({ rejectionMs, areWaiting })
        // The credit of a calm second is spent first.
        pass(1000)
        rejectMany(Math.ceil((share * 1000) / rejectionMs))
        const before = sent.length
        for (let ms = 0; ms < 1000; ms++) {
          rejectMany(perMs)
          pass(1)
        }
        const tookMs = (sent.length - before) * rejectionMs
        const wantedMs = Math.min(perMs * 1000 * rejectionMs, share * 1000)
        assert.ok(tookMs <= share * 1000 + rejectionMs + 1e-6, String(tookMs))
        assert.ok(tookMs >= wantedMs - rejectionMs - 1, String(tookMs))
      })
    }
  }
}

test('beyond twenty thousand that wait the next is sent at once', () => {
  const { pace, reject, rejectMany, sent } = driven()
  rejectMany(CREDIT_MS + 20_000)
  assert.deepEqual([sent.length, pace.waiting], [CREDIT_MS, 20_000])
  reject()
  assert.deepEqual([sent.at(-1), pace.waiting], [CREDIT_MS + 20_000, 20_000])
})

test('what a calm second has left may be used at once, and no more however long the calm was', () => {
  const { pace, pass, rejectMany, sent } = driven()
  pass(60_000)
  rejectMany(400)
  assert.deepEqual([sent.length, pace.waiting, pace.waited], [CREDIT_MS, 400 - CREDIT_MS, 400 - CREDIT_MS])
})

test('rejections are sent in their order, those that come later behind those that wait', () => {
  const { clock, pace, pass, reject, rejectMany, sent } = driven()
  rejectMany(1000)
  for (let i = 0; i < 100; i++) {
    pass(10)
    // There is credit again, and those that wait come first.
    clock.advance(20)
    reject()
  }
  // More than are kept before the list is compacted.
  rejectMany(4000)
  pass(60_000)
  assert.equal(pace.waiting, 0)
  assert.deepEqual(
    sent,
    Array.from({ length: 5100 }, (_, i) => i)
  )
})

test('a timer sends what waits while the loop does not turn', () => {
  const { clock, pace, rejectMany, sent } = driven()
  rejectMany(CREDIT_MS + 3)
  for (let i = 0; i < 20; i++) {
    clock.advance(2)
    clock.fire()
  }
  assert.deepEqual([sent.length, pace.waiting], [CREDIT_MS + 3, 0])
})

test('a drain sends all that wait, in their order, and each later one at once', () => {
  const { pace, pass, reject, rejectMany, sent } = driven()
  rejectMany(2000)
  pace.drain()
  assert.deepEqual(
    sent,
    Array.from({ length: 2000 }, (_, i) => i)
  )
  reject()
  assert.deepEqual([sent.at(-1), pace.waiting], [2000, 0])
  pass(1000)
  assert.equal(sent.length, 2001)
})

test('a client that has half-closed gets its answer at once, past those that wait', () => {
  const { pace, reject, rejectMany, sent } = driven()
  const socket = new EventEmitter()
  onHalfClose({ socket }, () => {})
  socket.emit('end')
  rejectMany(200)
  reject({ res: {}, socket })
  assert.deepEqual([sent.at(-1), pace.waited], [200, 200 - CREDIT_MS])
})

test('a client that half-closes while its answer waits gets it then, once', () => {
  const { pass, reject, rejectMany, sent } = driven()
  const socket = new EventEmitter()
  rejectMany(200)
  reject({ res: {}, socket })
  rejectMany(1)
  assert.equal(sent.length, CREDIT_MS)
  socket.emit('end')
  assert.equal(sent.at(-1), 200)
  pass(2000)
  assert.deepEqual([sent.length, sent.at(-1)], [202, 201])
})

test('a client that disconnects while its answer waits costs the others nothing', () => {
  const { pass, reject, rejectMany, sent } = driven()
  rejectMany(CREDIT_MS)
  const left = Array.from({ length: 1000 }, () => ({ res: { destroyed: false } }))
  for (const request of left) reject(request)
  reject()
  for (const { res } of left) res.destroyed = true
  pass(10)
  assert.deepEqual([sent.length, sent.at(-1)], [CREDIT_MS + 1, CREDIT_MS + 1000])
})

test('a rejection that was sent listens to its socket no longer', () => {
  const { pass, reject, rejectMany } = driven()
  const socket = new EventEmitter()
  rejectMany(200)
  for (let i = 0; i < 20; i++) reject({ res: {}, socket })
  assert.equal(socket.listenerCount('end'), 1)
  pass(2000)
  assert.equal(socket.listenerCount('end'), 0)
})

test('each is sent in the async context of its request', () => {
  const { clock, pace, pass, rejectMany } = driven()
  const storage = new AsyncLocalStorage()
  const seen = []
  rejectMany(200)
  for (const name of ['first', 'second'])
    storage.run(name, () => pace.deliver({ res: {} }, () => seen.push(storage.getStore()), clock.now()))
  storage.run('another', () => pass(2000))
  assert.deepEqual(seen, ['first', 'second'])
})
