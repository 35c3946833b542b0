'use strict'
// What each mode does, and that they can be switched while requests run.

const assert = require('node:assert/strict')
const Module = require('node:module')
const { describe, it, test } = require('node:test')
const { QUEUED, REJECTED, RUN } = require('../../src/core/gate/decision')
const { createSpillway } = require('../../src/index.js')
const { runNode } = require('../support/run-node')
const { spillwayFor } = require('../support/spillway')
const { DrivenAdmission } = require('./driven-admission')

const decisions = (driven, count) => Array.from({ length: count }, () => driven.ask().decision)

test('off decides nothing, counts nothing and calls no function', () => {
  const driven = new DrivenAdmission({ mode: 'off', maxConcurrent: 1, classify: () => assert.fail() })
  assert.deepEqual(decisions(driven, 3), [RUN, RUN, RUN])
  const { admitted, inFlight, shed, wouldShed } = driven.admission.sample()
  assert.deepEqual(
    { admitted, inFlight, shed, wouldShed },
    { admitted: 0, inFlight: 0, shed: [], wouldShed: [] }
  )
})

describe('observe', () => {
  for (const [name, shed, provoke, reason, figures] of [
    ['shortage', { shortage: () => 1 }, (driven) => driven.turn(1), 'shortage', { value: 1, bound: 0 }],
    [
      'a threshold',
      { maxHeapUsedBytes: 100 },
      (driven) => {
        driven.memory = { heapUsedBytes: 101 }
        driven.turn(1000)
      },
      'heap_used_bytes',
      { value: 101, bound: 100 },
    ],
  ]) {
    it(`counts what it would have shed for ${name}, and rejects nothing`, () => {
      const driven = new DrivenAdmission({ mode: 'observe', ...shed })
      driven.ask()
      provoke(driven)
      assert.equal(driven.ask().decision, RUN)
      const { shed: refused, wouldShed, admitted } = driven.admission.sample()
      assert.deepEqual(refused, [])
      assert.deepEqual(wouldShed, [{ reason, priority: 'normal', count: 1 }])
      assert.equal(admitted, 2)
      assert.deepEqual(driven.told, [])
    })

    it(`logs ${name} when it would have shed, and after ten quiet seconds how many`, () => {
      const driven = new DrivenAdmission({ mode: 'observe', ...shed })
      driven.ask()
      provoke(driven)
      driven.ask()
      driven.turn(100)
      driven.ask()
      assert.deepEqual(driven.observed, [['overload', { reason, ...figures }]])
      driven.turn(1, 9998)
      assert.equal(driven.observed.length, 1)
      driven.turn(1, 9999)
      const [, [event, details]] = driven.observed
      assert.equal(event, 'recovered')
      assert.deepEqual(details, { reason, reasons: { [reason]: 2 }, durationMs: 100, rejected: 2 })
    })
  }
})

/** Feeds one sample interval of a second. */
const INTERVALS = {
  maxEventLoopDelay(driven, ms) {
    driven.turn(ms)
    driven.turn(ms, 1000 - 2 * ms)
  },
  maxEventLoopUtilization(driven, share) {
    for (let i = 0; i < 10; i++) driven.turn(share * 100, (1 - share) * 100)
  },
  maxHeapUsedBytes(driven, heapUsedBytes) {
    driven.memory = { heapUsedBytes }
    driven.turn(1, 999)
  },
  maxRssBytes(driven, rssBytes) {
    driven.memory = { rssBytes }
    driven.turn(1, 999)
  },
}

for (const mode of ['threshold', 'adaptive']) {
  for (const [option, limit, steps] of [
    ['maxEventLoopDelay', 100, [50, 99, 101, 102, 99, 101]],
    ['maxEventLoopUtilization', 0.8, [0.3, 0.79, 0.85, 0.9, 0.79, 0.85]],
    ['maxHeapUsedBytes', 1000, [500, 999, 1001, 1002, 999, 1001]],
    ['maxRssBytes', 1000, [500, 999, 1001, 1002, 999, 1001]],
  ]) {
    test(`${mode}: ${option} rejects while it is above the limit`, () => {
      const driven = new DrivenAdmission({ mode, [option]: limit })
      const seen = steps.map((value) => {
        INTERVALS[option](driven, value)
        return driven.refuses
      })
      assert.deepEqual(seen, [false, false, true, true, false, true])
      const [{ reason }] = driven.admission.sample().shed
      assert.equal(option.toLowerCase(), `max${reason.replaceAll('_', '')}`)
    })

    test(`${mode}: 0 switches ${option} off`, () => {
      const driven = new DrivenAdmission({ mode, [option]: 0 })
      INTERVALS[option](driven, limit * 1.2)
      assert.equal(driven.refuses, false)
    })
  }

  test(`${mode}: one slow turn in an interval does not exceed maxEventLoopDelay, two do`, () => {
    const driven = new DrivenAdmission({ mode, maxEventLoopDelay: 100 })
    driven.turn(500)
    driven.turn(1, 600)
    assert.equal(driven.refuses, false)
    driven.turn(500)
    driven.turn(101, 600)
    assert.equal(driven.refuses, true)
  })
}

test('the limit that is shown is enforced', () => {
  for (const [mode, maxConcurrent, limit] of [
    ['adaptive', 100, 8],
    ['threshold', undefined, Number.POSITIVE_INFINITY],
    ['threshold', 100, 100],
    ['observe', 100, Number.POSITIVE_INFINITY],
    ['off', 100, Number.POSITIVE_INFINITY],
  ]) {
    const driven = new DrivenAdmission({ mode, maxConcurrent })
    for (let i = 0; i < 20; i++) {
      const asked = driven.ask()
      driven.turn(50)
      driven.end(asked)
    }
    assert.equal(driven.admission.sample().limit, limit, mode)
  }
})

test('threshold queues nothing: over maxConcurrent it rejects', () => {
  const driven = new DrivenAdmission({ mode: 'threshold', maxConcurrent: 2 })
  assert.deepEqual(decisions(driven, 3), [RUN, RUN, REJECTED])
})

test('adaptive queues over maxConcurrent', () => {
  const driven = new DrivenAdmission({ mode: 'adaptive', maxConcurrent: 2 })
  assert.deepEqual(decisions(driven, 3), [RUN, RUN, QUEUED])
})

test('maxConcurrent is never exceeded, however long no request was admitted', () => {
  for (const mode of ['threshold', 'adaptive']) {
    const driven = new DrivenAdmission({ mode, maxConcurrent: 1, deadlineMs: () => 0 })
    assert.deepEqual(decisions(driven, 2), [RUN, REJECTED])
    driven.clock.advance(101)
    assert.deepEqual(decisions(driven, 2), [REJECTED, REJECTED])
  }
})

test('with every limit exceeded, one request in 100 ms is still admitted', () => {
  const driven = new DrivenAdmission({ mode: 'threshold', maxHeapUsedBytes: 1 })
  driven.memory = { heapUsedBytes: 2 }
  driven.turn(1000)
  assert.deepEqual(decisions(driven, 2), [RUN, REJECTED])
  driven.clock.advance(101)
  assert.deepEqual(decisions(driven, 2), [RUN, REJECTED])
})

describe('update()', () => {
  const modeOf = (spillway) => spillway.snapshot().admission.mode

  it('switches the mode while running, and keeps the options it is not given', (t) => {
    const spillway = spillwayFor(t, { shed: { mode: 'observe', maxDelay: 123 } })
    assert.equal(modeOf(spillway), 'observe')
    for (const mode of ['off', 'threshold', 'adaptive', 'observe']) {
      spillway.update({ shed: { mode } })
      assert.equal(modeOf(spillway), mode)
    }
  })

  it('runs queued requests, whatever it switches to', () => {
    for (const mode of ['off', 'threshold', 'observe']) {
      const driven = new DrivenAdmission({ maxConcurrent: 1 })
      const [first, second] = [driven.ask(), driven.ask()]
      assert.equal(second.decision, QUEUED)
      driven.update({ mode })
      driven.end(first)
      driven.turn(1)
      assert.equal(second.hasRun, true, mode)
      driven.end(second)
      assert.equal(driven.admission.sample().inFlight, 0)
    }
  })

  it('runs queued requests at once in a mode that rejects nothing, whatever the limits say', () => {
    for (const mode of ['off', 'observe']) {
      const driven = new DrivenAdmission({ maxConcurrent: 1 })
      const waiting = [driven.ask(), driven.ask(), driven.ask()].slice(1)
      assert.deepEqual(
        waiting.map(({ decision }) => decision),
        [QUEUED, QUEUED]
      )
      driven.clock.advance(10_000)
      driven.update({ mode, maxConcurrent: 1 })
      driven.turn(1)
      assert.deepEqual(
        waiting.map(({ hasRun, answer }) => [hasRun, answer]),
        [
          [true, undefined],
          [true, undefined],
        ],
        mode
      )
    }
  })

  it('loads what only observe needs when it switches to observe', async (t) => {
    const { output } = await runNode(
      `const { createSpillway } = require('./src/index.js')
      const isLoaded = () => require.resolve('./src/core/gate/shadow-queue') in require.cache
      const spillway = createSpillway({ logger: false, shed: { mode: 'adaptive' } })
      const before = isLoaded()
      spillway.update({ shed: { mode: 'observe' } })
      console.log(JSON.stringify([before, isLoaded()]))
      spillway.close()`,
      { t }
    )
    assert.deepEqual(output, [false, true])
  })

  it('to observe where the process may no longer read the file: requests run, and the error is reported once', (t) => {
    const driven = new DrivenAdmission({ mode: 'adaptive' })
    const load = /** @type {any} */ (Module)._load
    const denied = t.mock.method(/** @type {any} */ (Module), '_load', function (request, ...rest) {
      if (request === './shadow-queue') throw new Error('ERR_ACCESS_DENIED')
      return load.call(this, request, ...rest)
    })
    driven.update({ mode: 'observe' })
    assert.deepEqual(driven.logged, ['shed.mode'])
    assert.deepEqual(decisions(driven, 2), [RUN, RUN])
    driven.turn(1)
    denied.mock.restore()
    driven.update({ mode: 'adaptive' })
    driven.update({ mode: 'observe' })
    assert.deepEqual(driven.internalErrors.list(), [['shed.mode', 1]])
  })

  it('does not count the end of requests whose start it did not count', () => {
    const driven = new DrivenAdmission({ mode: 'off' })
    const before = driven.ask()
    driven.update({ mode: 'threshold', maxConcurrent: 1 })
    driven.end(before)
    assert.deepEqual(decisions(driven, 2), [RUN, REJECTED])
    assert.equal(driven.admission.sample().inFlight, 1)
  })

  for (const [title, given, code] of [
    ['another group', { shed: { mode: 'off' }, routes: { max: 5 } }, 'ERR_SPILLWAY_FIXED_OPTION'],
    ['a value that is wrong', { shed: { mode: 'off', maxDelay: -1 } }, 'ERR_SPILLWAY_OPTION_VALUE'],
    ['an unknown mode', { shed: { mode: 'of' } }, 'ERR_SPILLWAY_OPTION_VALUE'],
    ['an option that does not exist', { shed: { mode: 'off', maxDelai: 1 } }, 'ERR_SPILLWAY_UNKNOWN_OPTION'],
    ['one without its group', { maxDelay: 100 }, 'ERR_SPILLWAY_UNKNOWN_OPTION'],
    ['nothing', undefined, 'ERR_SPILLWAY_OPTION_VALUE'],
  ]) {
    it(`rejects ${title}, and changes nothing then`, (t) => {
      const spillway = spillwayFor(t, { shed: { mode: 'observe' } })
      assert.throws(() => spillway.update(given), { code })
      assert.equal(modeOf(spillway), 'observe')
    })
  }
})

test('an unknown event throws, with the known events in the message', () => {
  const spillway = createSpillway({ logger: false })
  for (const method of ['on', 'off']) {
    assert.throws(() => spillway[method]('overlod', () => {}), {
      code: 'ERR_SPILLWAY_UNKNOWN_EVENT',
      message:
        "Unknown event 'overlod'. Known events: overload, recovered, pressure, degraded, draining, stall.",
    })
  }
  spillway.close()
})

test('a request that is queued from a timer, after which the loop would sleep, makes it turn once more', () => {
  const driven = new DrivenAdmission({ maxConcurrent: 1 })
  driven.ask()
  const before = driven.clock.scheduled
  assert.equal(driven.ask().decision, QUEUED)
  assert.equal(driven.clock.scheduled, before + 1)
})
