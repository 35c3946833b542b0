'use strict'
// How many requests may be in flight: each reserves the share of the loop's time that it costs, and one that
// waits for others comes to reserve nothing. The clock, the cost and the turns are driven by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { LoopShare } = require('../../src/core/gate/limits/loop-share')
const { LoopTurns } = require('../../src/core/gate/measurements/loop-turns')
const { Ticket } = require('../../src/core/request/request-record')
const { FakeClock } = require('../support/fake-clock')

const LEAST = 8
/** Twenty of these fill the loop, in spite of how numbers are rounded. */
const COST_MS = 1.99

/** A loop whose requests cost `costMs`. */
function driven({ costMs = COST_MS, rejectionMs = 0.03, rejectedShare = 0 } = {}) {
  const clock = new FakeClock()
  const turns = new LoopTurns(clock)
  const cost = { ms: costMs, rejectionMs, rejectedShare }
  const share = new LoopShare({ clock, cost, turns })
  const turn = (busyMs, { idledMs = 0, isContended = false } = {}) => {
    clock.idle(idledMs)
    clock.advance(busyMs)
    turns.onTurn(busyMs, clock.now(), clock.idleMs(), busyMs)
    share.onTurn(clock.now(), clock.idleMs(), isContended)
  }
  const admit = () => {
    const ticket = new Ticket()
    share.onAdmit(ticket, clock.now(), clock.idleMs())
    return ticket
  }
  const end = (ticket) => share.onEnd(ticket, clock.now(), clock.idleMs())
  const hasFreeShare = () => share.hasFreeShare(clock.now())
  const fill = () => {
    const tickets = []
    while (tickets.length < 1000 && hasFreeShare()) tickets.push(admit())
    return tickets
  }
  return { admit, clock, cost, end, fill, hasFreeShare, share, turn }
}

test('requests that await nothing may be in flight for 40 ms of the loop together', () => {
  const { fill } = driven()
  assert.equal(fill().length, 20)
})

test('eight requests may always be in flight, whatever they cost', () => {
  const { fill } = driven({ costMs: 1000 })
  assert.equal(fill().length, LEAST)
})

test('rejecting is pointless where a request costs no more than three rejections', () => {
  const { cost, fill, share } = driven({ costMs: 0.09 })
  assert.equal(share.isRejectingPointless, true)
  assert.equal(fill().length, 1000)
  assert.equal(share.limit, Number.POSITIVE_INFINITY)
  cost.ms = 0.091
  assert.equal(share.isRejectingPointless, false)
})

for (const [rejectedShare, most] of [
  [0.5, 20],
  [0.75, 10],
]) {
  test(`where rejections take ${rejectedShare} of the loop, ${most} may be in flight in place of 40`, () => {
    assert.equal(driven({ costMs: 0.99, rejectedShare }).fill().length, most)
  })
}

test('requests have what rejections leave of the loop', () => {
  assert.equal(driven({ costMs: 0.199, rejectedShare: 0.9 }).fill().length, 20)
})

test('the limit is the number at which no share is free', () => {
  const { fill, share } = driven()
  assert.equal(share.limit, 20)
  fill()
  assert.equal(share.limit, 20)
})

test('time the loop idles while requests are in flight proves that they await something else', () => {
  const { fill, hasFreeShare, share, turn } = driven()
  fill()
  turn(2, { idledMs: 39 })
  turn(0, { idledMs: 1.5, isContended: true })
  // Each reserves cost / (40 + 40), half as much as before; the next is taken to be as dear as ever.
  assert.ok(hasFreeShare())
  fill()
  assert.ok(share.inFlight >= 29 && share.inFlight <= 31, String(share.inFlight))
})

test('a stream comes to reserve nothing', () => {
  const { admit, fill, share, turn } = driven()
  for (let i = 0; i < 1000; i++) admit()
  for (let i = 0; i < 100; i++) turn(0.1, { idledMs: 1000 })
  turn(0, { idledMs: 2, isContended: true })
  const more = fill().length
  // A thousand streams of 100 s reserve less than one request that waits for nobody.
  assert.ok(more >= 19 && more <= 21, String(more))
  assert.equal(share.inFlight, 1000 + more)
})

test('while the loop does not idle, no reservation shrinks', () => {
  const { fill, hasFreeShare, turn } = driven()
  fill()
  for (let i = 0; i < 100; i++) turn(50, { isContended: true })
  assert.equal(hasFreeShare(), false)
})

test('while no request is held back, reservations are not refreshed', () => {
  const { fill, hasFreeShare, turn } = driven()
  fill()
  turn(2, { idledMs: 400 })
  assert.equal(hasFreeShare(), false)
})

test('the next request is expected to wait as the last ones did, as far as the loop idled', () => {
  const { admit, clock, end, fill, share, turn } = driven()
  const serve = (busyMs, idledMs) => {
    const ticket = admit()
    turn(busyMs, { idledMs })
    clock.idle(1)
    end(ticket)
  }
  for (let i = 0; i < 300; i++) serve(1, 160)
  assert.ok(share.limit > 95, `${share.limit} after requests that waited`)
  const learnt = share.limit
  for (let i = 0; i < 300; i++) serve(200, 0)
  assert.ok(share.limit <= learnt, `${share.limit} after requests that waited for the loop`)
  fill()
})

test('requests that waited for the loop itself raise no expected wait', () => {
  const { admit, end, share, turn } = driven()
  turn(1000)
  for (let i = 0; i < 100; i++) {
    const ticket = admit()
    turn(100)
    turn(100)
    turn(100)
    end(ticket)
  }
  assert.equal(share.limit, 20)
})

test('if the loop idles while requests are held back, their measured cost is not trusted', () => {
  const { fill, share, turn } = driven({ costMs: 100 })
  fill()
  for (let i = 0; i < 40; i++) turn(1, { idledMs: 10, isContended: true })
  assert.ok(share.expectedCostMs < 10, String(share.expectedCostMs))
  assert.ok(share.limit > 4 * LEAST, String(share.limit))
})

test('a released slot can be used again, in any order', () => {
  const { admit, end, fill, hasFreeShare, share } = driven()
  const tickets = fill()
  for (const i of [0, 19, 7]) {
    end(tickets[i])
    assert.ok(hasFreeShare())
    tickets[i] = admit()
    assert.equal(hasFreeShare(), false)
  }
  for (const ticket of tickets) end(ticket)
  assert.deepEqual([share.inFlight, share.limit], [0, 20])
  assert.deepEqual(new Set(tickets.map(({ isInFlight }) => isInFlight)), new Set([false]))
})

test('the expected wait is the cost of the requests ahead over what rejections leave of the loop', () => {
  assert.equal(driven().share.waitMs(10), 10 * COST_MS)
  assert.equal(driven({ rejectedShare: 0.5 }).share.waitMs(10), 20 * COST_MS)
})

test('while the loop is full, requests start at a pace, except up to eight in flight', () => {
  const { admit, clock, fill, hasFreeShare, turn } = driven()
  for (let i = 0; i < LEAST - 1; i++) admit()
  turn(300)
  assert.equal(fill().length, 11)
  clock.advance(2)
  assert.equal(hasFreeShare(), true)
  assert.equal(fill().length, 1)
})

test('a request that waits for a slot in the limit of its route reserves nothing once the loop idles, and all again when it runs', () => {
  const { clock, end, fill, share, turn } = driven()
  const waiting = fill()
  for (const ticket of waiting) share.onPause(ticket, clock.now())
  // In a full loop nothing is proven: beyond the eight that may always run, no request starts.
  turn(500, { isContended: true })
  const few = fill()
  assert.equal(few.length, LEAST)
  for (const ticket of few) end(ticket)
  turn(5, { idledMs: 100, isContended: true })
  const others = fill()
  assert.ok(others.length > waiting.length)
  for (const ticket of others) end(ticket)
  for (const ticket of waiting) share.onResume(ticket, clock.now(), clock.idleMs())
  assert.equal(fill().length, others.length - waiting.length)
})

test('in a full loop, requests that wait for a slot leave the eight that may always run to others', () => {
  const { admit, clock, end, fill, hasFreeShare, share, turn } = driven()
  const waiting = fill()
  turn(300, { isContended: true })
  for (const ticket of waiting) share.onPause(ticket, clock.now())
  assert.equal(share.limit, waiting.length + LEAST)
  // One gets its slot, one gives up, and one ends while it waits.
  share.onResume(waiting[0], clock.now(), clock.idleMs())
  share.onWithdraw(waiting[1], clock.now())
  end(waiting[2])
  for (let running = 1; running < LEAST; running++) {
    assert.equal(hasFreeShare(), true, `${running} run`)
    admit()
  }
  assert.equal(hasFreeShare(), false)
})

test('a request that gives up its wait for a slot leaves nothing reserved', () => {
  const { clock, fill, share } = driven()
  const waiting = fill()
  for (const ticket of waiting) share.onPause(ticket, clock.now())
  for (const ticket of waiting) share.onWithdraw(ticket, clock.now())
  assert.equal(fill().length, waiting.length)
})
