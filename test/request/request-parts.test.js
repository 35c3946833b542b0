'use strict'
// Where the time of a request went. Each request goes through phases of work, collections and idling that are
// drawn by lot, so that the truth is known; the clock only moves when told.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { LoadSlope } = require('../../src/core/request/load-slope')
const { ABORTED, COMPLETED, TIMED_OUT } = require('../../src/core/request/outcome')
const { GAVE_UP, LOOP, PART_COLUMNS, RequestParts } = require('../../src/core/request/request-parts')
const { FakeClock } = require('../support/fake-clock')
const { requestWith } = require('../support/request')
const { randomFrom } = require('../simulation/random')

const REQUESTS = 10_000
const seriesOf = () => ({ load: new LoadSlope(), partsRow: undefined })
const SPAN_MS = 30_000

/** The parts, and a loop whose turns are over when told, with what it collected in them. */
function driven(isOn = true) {
  const clock = new FakeClock()
  const parts = new RequestParts(/** @type {any} */ (clock), isOn, {
    hooked: { proxyMsOf: [] },
    internalErrors: { report() {} },
  })
  let lastMs = clock.now()
  let lastIdleMs = clock.idleMs()
  let pauses = []
  return {
    clock,
    parts,
    collect(ms) {
      pauses.push([clock.now(), ms])
      clock.advance(ms)
    },
    turn() {
      const [nowMs, idleMs] = [clock.now(), clock.idleMs()]
      for (const pause of pauses) parts.collections.record(...pause)
      pauses = []
      parts.onTurn(nowMs - lastMs - (idleMs - lastIdleMs), nowMs, idleMs)
      lastMs = nowMs
      lastIdleMs = idleMs
    },
    receive(fields) {
      const request = requestWith({ startedMs: clock.now(), series: seriesOf(), ...fields })
      parts.onReceive(request)
      request.ticket.onAdmit(clock.now(), 0)
      request.ticket.idleMs = clock.idleMs()
      return request
    },
    end(request) {
      request.endedIdleMs = clock.idleMs()
      request.durationMs = clock.now() - request.startedMs
      parts.onEnd(request)
    },
    queue({ ticket }) {
      const idleMs = clock.idleMs()
      const marks = { queuedMs: clock.now(), queuedIdleMs: idleMs, dequeuedIdleMs: idleMs }
      ticket.queueEntry = /** @type {any} */ (marks)
    },
    admit({ ticket }) {
      ticket.onAdmit(clock.now(), 0)
      ticket.idleMs = clock.idleMs()
      if (ticket.queueEntry !== undefined) ticket.queueEntry.dequeuedIdleMs = ticket.idleMs
    },
    head(request) {
      request.firstByteMs = clock.now() - request.startedMs
      parts.onHead(request, clock.now())
    },
  }
}

const NONE = { queueMs: 0, runMs: 0, loopBusyMs: 0, gcMs: 0, waitMs: 0, bodyMs: 0 }
const sumOf = (parts) => Object.values(parts).reduce((sum, ms) => sum + ms, 0)

/** One request, and what each part of it must be. */
function lived(loop, random) {
  const { clock } = loop
  const truth = { ...NONE }
  const drawMs = () => Math.ceil(random() * 40)
  /** Up to four pieces, each of which counts for the part given for its kind. */
  const phase = ({ work, gc, idle }) => {
    for (let i = Math.floor(random() * 5); i > 0; i--) {
      const ms = drawMs()
      const lot = random()
      if (idle !== undefined && lot < 0.4) {
        loop.turn()
        clock.idle(ms)
        truth[idle] += ms
      } else if (lot < 0.6) {
        loop.collect(ms)
        truth[gc] += ms
      } else {
        clock.advance(ms)
        truth[work] += ms
      }
    }
  }
  const request = loop.receive()
  if (random() < 0.5) phase({ work: 'loopBusyMs', gc: 'gcMs', idle: 'waitMs' })
  if (random() < 0.5) {
    loop.queue(request)
    phase({ work: 'queueMs', gc: 'queueMs', idle: 'queueMs' })
  }
  loop.admit(request)
  phase({ work: 'runMs', gc: 'gcMs' })
  const answersInHandler = random() < 0.3
  if (answersInHandler) loop.head(request)
  phase({ work: 'runMs', gc: 'gcMs' })
  request.returnedMs = clock.now()
  if (!answersInHandler) {
    phase({ work: 'loopBusyMs', gc: 'gcMs', idle: 'waitMs' })
    if (random() < 0.9) loop.head(request)
  }
  phase({ work: 'loopBusyMs', gc: 'gcMs', idle: request.firstByteMs < 0 ? 'waitMs' : 'bodyMs' })
  loop.end(request)
  loop.turn()
  return { request, truth }
}

test(`each part of ${REQUESTS} requests is what happened, and they sum to the duration`, () => {
  const loop = driven()
  const random = randomFrom(11)
  for (let i = 0; i < REQUESTS; i++) {
    const { request, truth } = lived(loop, random)
    const parts = loop.parts.of(request)
    for (const [name, ms] of Object.entries(truth)) {
      assert.ok(Math.abs(parts[name] - ms) < 0.001, `${name} ${parts[name]} instead of ${ms}, request ${i}`)
    }
    assert.ok(Math.abs(sumOf(parts) - request.durationMs) < 0.01)
  }
})

test('the sums of a route are those of its requests', () => {
  const loop = driven()
  const random = randomFrom(12)
  const series = seriesOf()
  let durationMs = 0
  for (let i = 0; i < 500; i++) {
    const { request } = lived({ ...loop, receive: () => loop.receive({ series }) }, random)
    durationMs += request.durationMs
  }
  const sums = loop.parts.copy()
  assert.equal(sums.length, PART_COLUMNS)
  assert.ok(Math.abs(sumOf([...sums.subarray(0, 6)]) - durationMs) < 1)
})

test('a handler that goes on after the answer has ended runs no longer than its request, but as long on the loop', () => {
  const { clock, end, parts, receive } = driven()
  const request = receive()
  clock.advance(10)
  end(request)
  clock.advance(90)
  request.returnedMs = clock.now()
  assert.deepEqual(parts.of(request), { ...NONE, runMs: 10 })
  assert.equal(parts.copy()[LOOP], 100)
})

test('a request whose handler never returned has no run', () => {
  const { clock, end, parts, receive } = driven()
  const request = receive()
  clock.advance(10)
  clock.idle(5)
  end(request)
  assert.deepEqual(parts.of(request), { ...NONE, loopBusyMs: 10, waitMs: 5 })
})

test('a request that leaves while it waits in a bulkhead has waited, and its loop was busy', () => {
  const { admit, clock, end, parts, queue, receive } = driven()
  const request = receive()
  queue(request)
  clock.idle(5)
  admit(request)
  request.ticket.idleMs = Number.NEGATIVE_INFINITY // paused
  clock.advance(10)
  clock.idle(20)
  end(request)
  assert.deepEqual(parts.of(request), { ...NONE, queueMs: 5, loopBusyMs: 10, waitMs: 20 })
})

test('the parts sum to the duration even if the two clocks differ', () => {
  const { clock, end, parts, receive } = driven()
  const request = receive()
  clock.idle(50)
  end(request)
  request.receivedIdleMs -= 3
  assert.deepEqual(parts.of(request), { ...NONE, waitMs: 50 })
  request.receivedIdleMs += 60
  assert.deepEqual(parts.of(request), { ...NONE, loopBusyMs: 50 })
})

test('a collection within another counts once', () => {
  const { clock, end, parts, receive, turn } = driven()
  const request = receive()
  const startMs = clock.now()
  clock.advance(100)
  parts.collections.record(startMs + 10, 40)
  parts.collections.record(startMs + 20, 40)
  end(request)
  turn()
  assert.deepEqual(parts.of(request), { ...NONE, loopBusyMs: 50, gcMs: 50 })
})

test('a request that outlasts more collections than are kept is told of the recent ones', () => {
  const loop = driven()
  const request = loop.receive()
  for (let i = 0; i < 1000; i++) {
    loop.collect(1)
    loop.clock.advance(1)
    loop.turn()
  }
  loop.end(request)
  loop.turn()
  const { gcMs, loopBusyMs } = loop.parts.of(request)
  assert.ok(gcMs > 100 && gcMs <= 1000)
  assert.equal(gcMs + loopBusyMs, 2000)
})

test('the collections that a turn has not reported by its end are asked for', () => {
  const { clock, end, parts, receive, turn } = driven()
  const startMs = clock.now()
  let told
  const collections = {
    listen: (listener) => (told = listener),
    recordPending() {
      told(startMs, 40)
      return 40
    },
  }
  parts.follow(collections)
  const request = receive()
  clock.advance(100)
  end(request)
  turn()
  assert.deepEqual(parts.of(request), { ...NONE, loopBusyMs: 60, gcMs: 40 })
})

test('switched off, a request is not split, and only its duration is kept, for the slope', () => {
  const { clock, end, head, parts, receive, turn } = driven(false)
  const collections = { listen: () => {}, recordPending: () => assert.fail('asked for collections') }
  parts.follow(collections)
  clock.advance(300)
  const series = seriesOf()
  const request = receive({ series })
  clock.advance(10)
  parts.onReturn(request)
  head(request)
  end(request)
  turn()
  assert.deepEqual([parts.of(request), parts.copy().length, series.partsRow], [null, 0, undefined])
  series.load.endSlice()
  assert.equal(series.load.sample().count, 1)
  assert.deepEqual([request.unreadMs, request.returnedMs, request.headIdleMs], [0, -1, -1])
  clock.advance(20)
  assert.equal(parts.turnMs(), 20)
})

test('a request without an answer counts for no slope, whether its client left or it timed out', () => {
  const { clock, end, head, receive, turn } = driven()
  const countWith = (outcome, isAnswered) => {
    const request = receive()
    request.outcome = outcome
    clock.idle(100)
    if (isAnswered) head(request)
    end(request)
    turn()
    request.series.load.endSlice()
    return request.series.load.sample().count
  }
  assert.equal(countWith(COMPLETED, true), 1)
  assert.equal(countWith(ABORTED, true), 1)
  assert.equal(countWith(ABORTED, false), 0)
  assert.equal(countWith(TIMED_OUT, true), 0)
})

test('a stream counts for the loop time of its route, and for no part and no slope', () => {
  const { clock, end, parts, receive, turn } = driven()
  const request = receive()
  clock.advance(10)
  request.returnedMs = clock.now()
  clock.idle(20_000)
  request.isStream = true
  end(request)
  turn()
  assert.deepEqual([...parts.copy()], Object.assign(Array(PART_COLUMNS).fill(0), { [LOOP]: 10 }))
  request.series.load.endSlice()
  assert.equal(request.series.load.sample().count, 0)
})

test('a request is counted at the end of its turn, at once if a thousand have ended or no turn follows, and at a scrape', () => {
  const { end, parts, receive, turn } = driven()
  const series = seriesOf()
  const isCounted = () => series.partsRow !== undefined
  end(receive({ series }))
  assert.equal(isCounted(), false)
  turn()
  assert.equal(isCounted(), true)
  series.partsRow = undefined
  for (let i = 0; i < 1000; i++) end(receive({ series }))
  assert.equal(isCounted(), true)
  series.partsRow = undefined
  end(receive({ series }))
  parts.copy()
  assert.equal(isCounted(), true)
  parts.close()
  series.partsRow = undefined
  end(receive({ series }))
  assert.equal(isCounted(), true)
})

test('the last minute is the half minute before this one, and this one so far', () => {
  const { clock, end, parts, receive, turn } = driven()
  const series = seriesOf()
  const requestOf = (ms) => {
    const request = receive({ series })
    clock.advance(ms)
    request.returnedMs = clock.now()
    end(request)
    turn()
  }
  const lastMinute = () => {
    const minuteAgo = parts.minuteAgo(clock.now())
    return Math.round(parts.copy()[1] - (minuteAgo[1] ?? 0))
  }
  requestOf(1)
  assert.equal(lastMinute(), 1)
  clock.idle(SPAN_MS)
  turn()
  requestOf(10)
  assert.equal(lastMinute(), 11)
  clock.idle(SPAN_MS)
  turn()
  requestOf(100)
  assert.equal(lastMinute(), 110)
  // Nothing has turned since: what is old is known by the clock.
  clock.idle(SPAN_MS)
  assert.equal(lastMinute(), 100)
  clock.idle(SPAN_MS)
  assert.equal(lastMinute(), 0)
  turn()
  assert.equal(lastMinute(), 0)
})

test('a request waited in the kernel for no longer than a loop turn, and since the answer before it on its connection', () => {
  const { clock, receive, turn } = driven()
  const unreadMs = (fields) => receive(fields).unreadMs
  // The turn before was short, or the loop has waited for this request.
  assert.equal(unreadMs(), 0)
  clock.advance(300)
  turn()
  clock.idle(1)
  assert.equal(unreadMs(), 0)
  clock.advance(20)
  assert.equal(unreadMs(), 20)
  turn()
  // The poll found it at once.
  clock.advance(5)
  assert.equal(unreadMs(), 20)
  clock.advance(40)
  assert.equal(unreadMs(), 45)
})

test('the time of a route on the loop has what ran after an await, and not what another request ran in the same turn', () => {
  const loop = driven()
  const [first, second] = [loop.receive(), loop.receive()]
  for (const request of [first, second]) {
    loop.clock.advance(3)
    loop.parts.onReturn(request)
  }
  loop.turn()
  loop.clock.idle(50)
  for (const [request, ms] of /** @type {const} */ ([
    [first, 20],
    [second, 5],
  ])) {
    loop.clock.advance(ms)
    loop.head(request)
    loop.end(request)
  }
  loop.turn()
  const loopMs = (request) => loop.parts.copy()[request.series.partsRow * PART_COLUMNS + LOOP]
  // The second was received while the first had not yet run.
  assert.deepEqual([loopMs(first), loopMs(second)], [3 + 20, 6 + 5])
})

test('the time of a route on the loop has what ran between two awaits, if the request asked another process after it', () => {
  const loop = driven()
  const { clock, parts } = loop
  const request = loop.receive()
  clock.advance(3)
  // A call from the handler itself: its time counts once.
  parts.onAsk(request, clock.now())
  clock.advance(2)
  parts.onReturn(request)
  for (const end of [() => parts.onAsk(request, clock.now()), () => loop.head(request)]) {
    loop.turn()
    clock.idle(50)
    clock.advance(10)
    end()
  }
  // After the head, nothing is known of whom the loop runs.
  clock.advance(7)
  parts.onAsk(request, clock.now())
  loop.end(request)
  loop.turn()
  assert.equal(parts.copy()[request.series.partsRow * PART_COLUMNS + LOOP], 5 + 10 + 10)
})

test('a client that disconnects before an answer begins has given up; one that leaves a stream or a long poll has not', () => {
  const { end, parts, receive } = driven()
  const series = seriesOf()
  for (const fields of [
    { outcome: ABORTED },
    { outcome: ABORTED, firstByteMs: 3 },
    { outcome: ABORTED, isLongPoll: true },
    { outcome: COMPLETED },
  ])
    end(Object.assign(receive({ series }), fields))
  assert.equal(parts.copy()[GAVE_UP], 1)
})
