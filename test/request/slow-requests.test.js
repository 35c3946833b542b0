'use strict'
// Which requests are slow, and what is kept of them, with time told by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { RequestFields } = require('../../src/core/log/request-fields')
const { SlowRequests } = require('../../src/core/request/slow-requests')
const { COMPLETED, UPGRADED } = require('../../src/core/request/outcome')
const { FakeClock } = require('../support/fake-clock')

const MINUTE = 60_000

function watching({ slowAfter, slowest = 0 } = {}) {
  const clock = new FakeClock()
  const told = { slow: [], windows: [] }
  let loopDelayMs = 0
  let turnMs = 0
  let collectedMs = 0
  let asked = 0
  const slow = new SlowRequests(
    { slowAfter, slowest },
    {
      clock,
      fields: new RequestFields({ query: false }),
      loopDelay: { longestSinceMs: () => loopDelayMs },
      timeParts: {
        isOn: true,
        of: () => ({ gcMs: collectedMs }),
        proxyMsOf: () => undefined,
        turnMs: () => turnMs,
      },
      traceOf: () => ({ trace_id: 't' }),
      onSlow: (each) => told.slow.push(each),
      onWindow: (each) => told.windows.push(each.map(({ durationMs }) => durationMs)),
    }
  )
  return {
    clock,
    slow,
    told,
    asked: () => asked,
    /** The current turn has been busy for so long, and in it V8 has reported so much. */
    during: (busyMs, gcMs = 0) => {
      turnMs = busyMs
      collectedMs = gcMs
    },
    turn: (delayMs = 0) => {
      loopDelayMs = delayMs
      slow.onTurn(clock.now())
    },
    end(durationMs, properties = {}) {
      const request = {
        req: { method: 'GET', url: '/7', headers: {} },
        series: { route: '/:id' },
        method: 0,
        status: 200,
        outcome: COMPLETED,
        isStream: false,
        startedMs: clock.now() - durationMs,
        durationMs,
        unreadMs: 7,
        firstByteMs: durationMs / 2,
        ticket: { waitedMs: 0 },
        ...properties,
      }
      if (request.durationMs <= slow.thresholdMs) return
      asked++
      slow.record(request)
    },
    shown: () => slow.sample(clock.now()).map(({ durationMs }) => durationMs),
  }
}

test('the ten slowest are kept, the slowest first', () => {
  const { end, shown } = watching()
  for (let i = 1; i <= 50; i++) end((i * 7) % 53)
  assert.deepEqual(shown(), [52, 51, 50, 49, 48, 47, 45, 44, 43, 42])
})

test('a request faster than the ten kept is not recorded', () => {
  const { end, asked } = watching()
  for (let i = 0; i < 10; i++) end(100)
  for (let i = 0; i < 1000; i++) end(100)
  assert.equal(asked(), 10)
  end(101)
  assert.equal(asked(), 11)
})

test('each minute starts a new window, and the previous window is shown for another minute', () => {
  const { clock, end, shown, turn } = watching()
  for (let i = 0; i < 20; i++) end(1000)
  clock.advance(MINUTE)
  turn()
  end(5)
  assert.deepEqual(shown(), [...Array(10).fill(1000)])
  clock.advance(MINUTE)
  turn()
  assert.deepEqual(shown(), [5])
})

test('a request that ended two minutes ago is not shown, even if the loop has not turned since', () => {
  const { clock, end, shown } = watching()
  end(1000)
  clock.advance(2 * MINUTE)
  assert.deepEqual(shown(), [])
})

test('a request over the threshold is reported after the turn it ended in, with the longest turn since it began', () => {
  const { end, told, turn } = watching({ slowAfter: 100 })
  end(100)
  end(101)
  assert.deepEqual(told.slow, [])
  turn(42)
  turn(43)
  assert.deepEqual(
    told.slow.map(({ durationMs, loopDelayMs, trace }) => [durationMs, loopDelayMs, trace]),
    [[101, 42, { trace_id: 't' }]]
  )
})

test('the turn that a request ended in counts before it is over, and the parts are final when it is', () => {
  const { clock, during, end, slow, turn } = watching()
  during(1300)
  end(1290)
  const shown = () =>
    slow.sample(clock.now()).map(({ loopDelayMs, parts, unreadMs }) => [loopDelayMs, parts.gcMs, unreadMs])
  assert.deepEqual(shown(), [[1300, 0, 7]])
  during(0, 12)
  turn(1350)
  assert.deepEqual(shown(), [[1350, 12, 7]])
})

test('every request over the threshold is reported, not only the ten slowest', () => {
  const { end, told, turn } = watching({ slowAfter: 100 })
  for (let i = 0; i < 30; i++) end(200 - i)
  turn()
  assert.equal(told.slow.length, 30)
})

test('the time in the queue and the time to the first byte are shown', () => {
  const { end, slow, clock } = watching()
  end(80, { ticket: { waitedMs: 30.5 } })
  end(70, { firstByteMs: -1, status: 0 })
  const [waited, silent] = slow.sample(clock.now())
  assert.deepEqual([waited.queueMs, waited.firstByteMs, waited.status], [30.5, 40, 200])
  assert.deepEqual([silent.queueMs, silent.firstByteMs, silent.status], [0, null, null])
})

test('streams and upgraded connections are never slow', () => {
  const { end, shown } = watching()
  end(9999, { isStream: true })
  end(9999, { outcome: UPGRADED })
  assert.deepEqual(shown(), [])
})

test('the slowest of a minute are reported at its end, up to the number asked for; an empty minute reports nothing', () => {
  const { clock, end, told, turn } = watching({ slowest: 12 })
  for (let i = 1; i <= 30; i++) end(i)
  clock.advance(MINUTE - 1)
  turn()
  assert.deepEqual(told.windows, [])
  clock.advance(1)
  turn()
  clock.advance(MINUTE)
  turn()
  assert.deepEqual(told.windows, [[30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19]])
})
