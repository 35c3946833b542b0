'use strict'
// When a 503 is sent: with the others of 20 ms while rejections take less than their share of the loop, else
// in its turn. The clock, its timers and what a rejection costs are driven by hand.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { EventEmitter } = require('node:events')
const { test } = require('node:test')
const { onHalfClose } = require('../../src/core/request/half-closed')
const { RejectionPace } = require('../../src/core/gate/rejection-pace')
const { TimedClock } = require('./driven-admission')

const TOGETHER_MS = 20
/** What a second that was not used allows at once. */
const CREDIT_MS = 120
/** The same, and the first, which is sent alone. */
const CREDIT_AND_FIRST = CREDIT_MS + 1

/** For how long all clients have been waiting: the share is then .12. */
const WAITING_MS = 1000 * Math.log2(0.34 / 0.12)

function driven({ rejectionMs = 1, areGateways = false, waitingMs = WAITING_MS } = {}) {
  const clock = new TimedClock()
  const pace = new RejectionPace({
    clock,
    clients: { areGateways, waitingMs },
    cost: { rejectionMs },
    answer: (/** @type {any} */ request) => request.answer(),
  })
  /** The numbers of the rejections, in the order in which they were sent. */
  const sent = []
  let count = 0
  const reject = (/** @type {any} */ request = { res: {} }) => {
    const number = count++
    pace.deliver({ ...request, answer: () => sent.push(number) }, clock.now())
  }
  const rejectMany = (many) => {
    for (let i = 0; i < many; i++) reject()
  }
  const pass = (ms) => {
    for (let i = 0; i < ms; i++) {
      clock.advance(1)
      clock.fire()
    }
  }
  return { clock, pace, pass, reject, rejectMany, sent }
}

for (const [waitingMs, share] of /** @type {const} */ ([
  [0, 0.34],
  [1000, 0.17],
  [10_000, 0.05],
])) {
  for (const rejectionMs of [0.02, 0.5, 4]) {
    for (const perMs of [1, 10]) {
      test(`${perMs} rejections of ${rejectionMs} ms each millisecond, while all clients wait since ${waitingMs} ms, take ${share} of a second at most, and all of it if they need it`, () => {
        const { pass, rejectMany, sent } = driven({ rejectionMs, waitingMs })
        // The credit of a calm second is spent first.
        pass(1000)
        rejectMany(Math.ceil((2 * share * 1000) / rejectionMs))
        pass(20 * TOGETHER_MS)
        const before = sent.length
        for (let ms = 0; ms < 1000; ms++) {
          rejectMany(perMs)
          pass(1)
        }
        const tookMs = (sent.length - before) * rejectionMs
        const wantedMs = Math.min(perMs * 1000 * rejectionMs, share * 1000)
        const ofOneRound = share * TOGETHER_MS
        assert.ok(tookMs <= share * 1000 + ofOneRound + rejectionMs, String(tookMs))
        assert.ok(tookMs >= wantedMs - ofOneRound - rejectionMs, String(tookMs))
      })
    }
  }
}

test('the first after a pause is sent at once, and those of the next 20 ms together', () => {
  const { pass, rejectMany, sent } = driven()
  const counts = []
  for (const [many, afterMs] of [
    [3, 19],
    [2, 1],
    [1, 19],
    [0, 1],
    [0, 20],
    [2, 20],
  ]) {
    rejectMany(many)
    const atOnce = sent.length
    pass(afterMs)
    counts.push([atOnce, sent.length])
  }
  assert.deepEqual(counts, [
    [1, 1],
    [1, 5],
    [5, 5],
    [5, 6],
    [6, 6],
    [7, 8],
  ])
})

test('through gateways each is sent at once, and those beyond the share together, in order', () => {
  const { pass, rejectMany, sent } = driven({ areGateways: true, waitingMs: 0 })
  rejectMany(CREDIT_MS)
  assert.equal(sent.length, CREDIT_MS)
  rejectMany(10)
  pass(TOGETHER_MS - 1)
  rejectMany(1)
  assert.equal(sent.length, CREDIT_MS)
  pass(1)
  assert.equal(sent.length, CREDIT_MS + 7)
  assert.deepEqual(
    sent,
    sent.toSorted((a, b) => a - b)
  )
})

test('beyond twenty thousand that wait the oldest is sent at once', () => {
  const { pace, reject, rejectMany, sent } = driven()
  rejectMany(1 + 20_000)
  assert.deepEqual([sent.length, pace.waiting], [1, 20_000])
  reject()
  assert.deepEqual([sent, pace.waiting], [[0, 1], 20_000])
})

test('what is sent together takes 50 ms at most, and the rest of the credit follows', () => {
  const { pass, rejectMany, sent } = driven()
  pass(60_000)
  rejectMany(400)
  const counts = []
  for (let i = 0; i < 3; i++) {
    pass(TOGETHER_MS)
    counts.push(sent.length)
  }
  assert.deepEqual(counts.slice(0, 2), [51, 101])
  assert.ok(counts[2] >= CREDIT_MS && counts[2] <= CREDIT_MS + 0.12 * 3 * TOGETHER_MS + 1, String(counts[2]))
})

test('what was sent at once beyond the share keeps those that wait for a second at most', () => {
  const { pass, reject, sent } = driven()
  for (let i = 0; i < 10_000; i++) {
    const socket = new EventEmitter()
    onHalfClose({ socket }, () => {})
    socket.emit('end')
    reject({ res: {}, socket })
  }
  reject()
  assert.equal(sent.length, 10_000)
  pass(1000 + TOGETHER_MS)
  assert.equal(sent.at(-1), 10_000)
})

test('one that was sent for its half-close neither waits nor is late', () => {
  const { pace, pass, reject, sent } = driven()
  reject()
  const sockets = Array.from({ length: 5 }, () => new EventEmitter())
  for (const socket of sockets) reject({ res: {}, socket })
  for (const socket of sockets) socket.emit('end')
  assert.deepEqual([sent.length, pace.waiting], [6, 0])
  pass(100)
  assert.deepEqual([pace.waiting, pace.late], [0, 0])
})

test('what a calm second has left may be used at once, and no more however long the calm was', () => {
  const { pace, pass, rejectMany, sent } = driven()
  pass(60_000)
  rejectMany(4000)
  pass(10 * TOGETHER_MS)
  const most = CREDIT_MS + 0.12 * 10 * TOGETHER_MS
  assert.ok(sent.length >= most - 4 && sent.length <= most + 1, String(sent.length))
  assert.equal(pace.waiting, 4000 - sent.length)
})

test('each that waits for its share is counted once, and none that waits for the others of its 20 ms', () => {
  const { pace, pass, rejectMany } = driven()
  rejectMany(50)
  pass(2000)
  assert.equal(pace.late, 0)
  rejectMany(200)
  rejectMany(200)
  pass(60_000)
  assert.deepEqual([pace.waiting, pace.late], [0, 400 - 51])
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

test('a rejection that throws, as a framework of another package may, keeps back no other', () => {
  const { clock, pace, pass, reject, rejectMany, sent } = driven()
  reject()
  const answer = () => {
    throw new Error('of a test')
  }
  pace.deliver({ res: {}, answer }, clock.now())
  rejectMany(3)
  assert.throws(() => pass(TOGETHER_MS), /of a test/)
  pass(2 * TOGETHER_MS)
  assert.deepEqual([sent.length, pace.waiting], [4, 0])
})

test('a drain sends all that wait, in their order, and each later one at once', () => {
  const { pace, pass, reject, rejectMany, sent } = driven()
  rejectMany(2000)
  pace.sendAllAtOnce()
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
  assert.deepEqual([sent, pace.waiting], [[0, 200], 199])
})

test('a client that half-closes while its answer waits gets it then, once', () => {
  const { pass, reject, rejectMany, sent } = driven()
  const socket = new EventEmitter()
  rejectMany(200)
  reject({ res: {}, socket })
  rejectMany(1)
  assert.equal(sent.length, 1)
  socket.emit('end')
  assert.equal(sent.at(-1), 200)
  pass(2000)
  assert.deepEqual([sent.length, sent.at(-1)], [202, 201])
})

test('a client that disconnects while its answer waits costs the others nothing', () => {
  const { pass, reject, rejectMany, sent } = driven()
  rejectMany(CREDIT_AND_FIRST)
  pass(3 * TOGETHER_MS)
  const left = Array.from({ length: 1000 }, () => ({ res: { destroyed: false } }))
  for (const request of left) reject(request)
  reject()
  for (const { res } of left) res.destroyed = true
  pass(TOGETHER_MS)
  assert.deepEqual([sent.length, sent.at(-1)], [CREDIT_AND_FIRST + 1, CREDIT_AND_FIRST + 1000])
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
  const answer = () => seen.push(storage.getStore())
  for (const name of ['first', 'second'])
    storage.run(name, () => pace.deliver({ res: {}, answer }, clock.now()))
  storage.run('another', () => pass(2000))
  assert.deepEqual(seen, ['first', 'second'])
})
