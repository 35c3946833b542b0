'use strict'
// How busy the loop was over the last half minute to minute, with time told by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Utilization } = require('../../src/core/process/utilization')
const { FakeClock } = require('../support/fake-clock')

const MINUTE_MS = 60_000

function started() {
  const clock = new FakeClock()
  const utilization = new Utilization(clock)
  /** `seconds` of turns of 100 ms, of which so much is work. */
  const run = (seconds, busyRatio) => {
    for (let i = 0; i < seconds * 10; i++) {
      clock.idle(100 * (1 - busyRatio))
      clock.advance(100 * busyRatio)
      utilization.onInterval(clock.now())
    }
  }
  return { clock, utilization, run, loopRatio: () => utilization.sample().loopRatio }
}

const isNear = (value, exact) => assert.ok(Math.abs(value - exact) < 0.01, `${value} for ${exact}`)
const isWithin = (value, least, most) =>
  assert.ok(value >= least && value <= most, `${value} of ${least} to ${most}`)

for (const busy of [0, 0.25, 1]) {
  test(`a loop that works ${busy * 100} % of the time has a utilization of ${busy}, from the first second on`, () => {
    const { run, loopRatio } = started()
    for (const seconds of [1, 20, 30, 100]) {
      run(seconds, busy)
      isNear(loopRatio(), busy)
    }
  })
}

test('values of more than a minute ago are forgotten', () => {
  const { run, loopRatio } = started()
  run(600, 1)
  run(60, 0.1)
  isNear(loopRatio(), 0.1)
  run(60, 0.9)
  isNear(loopRatio(), 0.9)
})

test('two readers at different intervals do not affect each other', () => {
  const { run, loopRatio } = started()
  for (let i = 0; i < 100; i++) {
    run(1, i % 2)
    loopRatio()
    if (i % 10 !== 9) continue
    isNear(loopRatio(), 0.5)
    assert.equal(loopRatio(), loopRatio())
  }
})

test('work after an hour of sleep is seen at once, not drowned in the hour', () => {
  const { clock, utilization, run, loopRatio } = started()
  clock.idle(60 * MINUTE_MS)
  utilization.onInterval(clock.now())
  run(29, 1)
  assert.ok(loopRatio() > 0.45, String(loopRatio()))
  run(31, 1)
  isNear(loopRatio(), 1)
})

test('an hour of sleep after work reads as sleep', () => {
  const { clock, run, loopRatio } = started()
  run(120, 1)
  clock.idle(60 * MINUTE_MS)
  isNear(loopRatio(), 0)
})

test('a turn of ten minutes reads as work, during it and after', () => {
  const { clock, utilization, run, loopRatio } = started()
  run(120, 0)
  clock.advance(10 * MINUTE_MS)
  isNear(loopRatio(), 1)
  utilization.onInterval(clock.now())
  isNear(loopRatio(), 1)
})

test('active and idle seconds are counted since the loop began', () => {
  const { clock, utilization } = started()
  const before = utilization.sample()
  clock.idle(3000)
  clock.advance(2000)
  const { loopActiveSeconds, loopIdleSeconds } = utilization.sample()
  isNear(loopIdleSeconds - before.loopIdleSeconds, 3)
  isNear(loopActiveSeconds - before.loopActiveSeconds, 2)
})

// The kernel counts by ticks of 4 ms and shares them out: a young process may have no system time at all.
test("CPU time is the process's own, user and system apart", () => {
  const { clock, utilization } = started()
  clock.advance(1000)
  const before = process.cpuUsage()
  const { cpuUserSeconds, cpuSystemSeconds, cpuRatio } = utilization.sample()
  const after = process.cpuUsage()
  isWithin(cpuUserSeconds, before.user / 1e6, after.user / 1e6)
  isWithin(cpuSystemSeconds, before.system / 1e6, after.system / 1e6)
  assert.ok(cpuRatio >= 0)
})

test('the share of CPU time is told by user and system', (t) => {
  const cpu = { user: 0, system: 0 }
  t.mock.method(process, 'cpuUsage', () => ({ ...cpu }))
  const { clock, utilization } = started()
  clock.advance(10_000)
  Object.assign(cpu, { user: 6_000_000, system: 1_000_000 })
  const { cpuUserRatio, cpuSystemRatio, cpuRatio } = utilization.sample()
  isNear(cpuUserRatio, 0.6)
  isNear(cpuSystemRatio, 0.1)
  isNear(cpuRatio, 0.7)
})

test('a reading at the very moment of the start is a number', () => {
  const { loopRatio } = started()
  assert.equal(loopRatio(), 0)
})

test('active seconds never fall, although one of the two clocks may be ahead', () => {
  const { clock, utilization } = started()
  clock.advance(2000)
  const { loopActiveSeconds } = utilization.sample()
  const idleMs = clock.idleMs()
  clock.idleMs = () => idleMs + 0.5
  assert.equal(utilization.sample().loopActiveSeconds, loopActiveSeconds)
})
