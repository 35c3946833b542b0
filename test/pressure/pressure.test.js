'use strict'
// The pressure as a number, on a clock that is advanced by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Pressure } = require('../../src/features/pressure/pressure')
const { Steps } = require('../../src/features/pressure/steps')
const { FakeClock } = require('../support/fake-clock')

const IDLE = { queue: () => 0, memory: 0, shortage: 0, decided: 0, rejected: 0 }

/** A clock whose timers run when `pass` reaches them. */
function clockWithTimers() {
  const clock = new FakeClock()
  const timers = new Set()
  clock.after = (delayMs, callback) => {
    const timer = { dueMs: clock.now() + delayMs, callback }
    timers.add(timer)
    return timer
  }
  clock.cancel = (timer) => timers.delete(timer)
  /** Time goes by, of which the loop is busy for a share. */
  clock.pass = (ms, busy = 0) => {
    for (let left = ms; left > 0; left -= 10) {
      clock.idle(10 * (1 - busy))
      clock.advance(10 * busy)
      for (const timer of [...timers])
        if (timer.dueMs <= clock.now() && timers.delete(timer)) timer.callback()
    }
  }
  clock.armed = () => timers.size
  return clock
}

function made({ shortages = { ...IDLE }, poolShortage = () => 0, isStarted = true } = {}) {
  const clock = clockWithTimers()
  const degrading = { counts: [], shouldDegrade: () => false }
  const pressure = new Pressure({ clock, shortages, poolShortage, degrading })
  const pass = (ms, busy) => {
    for (let left = ms; left > 0; left -= 100) {
      clock.pass(Math.min(left, 100), busy)
      pressure.onInterval(clock.now(), clock.idleMs())
    }
  }
  // The first interval is left out.
  if (isStarted) pass(100)
  return { clock, pass, pressure, shortages }
}

const isAbout = (actual, expected, within = 0.01) =>
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not about ${expected}`)

test('the pressure settles at the busy share of the loop', () => {
  const { pass, pressure } = made()
  pass(10_000, 0.7)
  isAbout(pressure.ratio, 0.7)
  assert.equal(pressure.by, 'loop')
})

test('it follows within a second: after one it has gone 63 per cent of the way', () => {
  const { pass, pressure } = made()
  pass(1000, 1)
  isAbout(pressure.ratio, 0.632)
  pass(1000, 0)
  isAbout(pressure.ratio, 0.632 * 0.368)
})

test('a process that loads modules for two seconds, and is idle then, has a pressure of 0 all the time', () => {
  const { clock, pressure } = made({ isStarted: false })
  const sampled = []
  pressure.onSample((ratio) => sampled.push(ratio))
  const turn = (ms, busy) => {
    clock.pass(ms, busy)
    pressure.onInterval(clock.now(), clock.idleMs())
    return pressure.ratio
  }
  // The turn that loads them ends after it, or was short and another loads the rest.
  assert.deepEqual([turn(50, 1), turn(2000, 1), turn(100, 0), turn(5000, 0)], [0, 0, 0, 0])
  assert.deepEqual(sampled, [0, 0])
  assert.ok(turn(1000, 1) > 0.6)
})

for (const [by, shortages, expected] of [
  ['queue', { queue: () => 0.8 }, 0.8],
  ['queue', { queue: () => 7 }, 1],
  ['memory', { memory: 0.6 }, 0.6],
  ['shortage', { shortage: 0.9 }, 0.9],
]) {
  test(`of a half busy loop and ${by} ${JSON.stringify(expected)} the pressure is the larger`, () => {
    const { pass, pressure } = made({ shortages: { ...IDLE, ...shortages } })
    pass(10_000, 0.5)
    isAbout(pressure.ratio, expected)
    assert.equal(pressure.by, by)
  })
}

test('a pool whose callers wait for half of what is tolerated is a pressure of 0.5', () => {
  const { pass, pressure } = made({ poolShortage: () => 0.5 })
  pass(10_000, 0.1)
  isAbout(pressure.ratio, 0.5)
  assert.equal(pressure.by, 'pool')
})

test('a tenth of the requests rejected is a pressure of 1, and a hundredth of 0.1', () => {
  for (const [rejectedOf100, expected] of [
    [10, 1],
    [1, 0.1],
  ]) {
    const { clock, pressure, shortages } = made()
    for (let i = 0; i < 100; i++) {
      shortages.decided += 100
      shortages.rejected += rejectedOf100
      clock.pass(100)
      pressure.onInterval(clock.now(), clock.idleMs())
    }
    isAbout(pressure.ratio, expected)
    assert.equal(pressure.by, 'rejections')
  }
})

test('a wait that is not a number is left out', () => {
  const { pass, pressure } = made({ shortages: { ...IDLE, queue: () => Number.NaN } })
  pass(10_000, 0.3)
  isAbout(pressure.ratio, 0.3)
})

test('a timer runs until the pressure is 0, and none after that: an idle process is not woken', () => {
  const { clock, pass, pressure } = made()
  assert.equal(clock.armed(), 0)
  pass(1000, 1)
  assert.equal(clock.armed(), 1)
  // The loop sleeps: it has no turns, so only the timer samples.
  clock.pass(10_000)
  assert.equal(pressure.ratio, 0)
  assert.equal(clock.armed(), 0)
  pass(200, 1)
  assert.equal(clock.armed(), 1)
  pressure.close()
  assert.equal(clock.armed(), 0)
  pass(1000, 1)
  assert.equal(clock.armed(), 0)
})

test('each step is passed once on the way up, and at 0.05 less on the way down', () => {
  const passed = []
  const steps = new Steps([0.9, 0.5, 0.9], ({ step, isAbove, pressure, by }) =>
    passed.push([step, isAbove, pressure, by])
  )
  for (const pressure of [0.2, 0.5, 0.47, 0.52, 0.95, 0.86, 0.84, 0.46, 0.95, 0])
    steps.onSample(pressure, 'loop')
  assert.deepEqual(passed, [
    [0.5, true, 0.5, 'loop'],
    [0.9, true, 0.95, 'loop'],
    [0.9, false, 0.84, 'loop'],
    [0.9, true, 0.95, 'loop'],
    [0.9, false, 0, 'loop'],
    [0.5, false, 0, 'loop'],
  ])
})
