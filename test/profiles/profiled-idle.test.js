'use strict'
// The idle time while a profile runs: what Node says is too little, and what the thread did not run is idle.
// Time is moved by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { replaceIdle, systemClock } = require('../../src/core/clock')
const { ProfiledIdle, openThreadCpu } = require('../../src/features/profiles/profiled-idle')
const { FakeClock } = require('../support/fake-clock')

function setUp() {
  const clock = new FakeClock()
  let ranMs = 0
  let nodeIdleMs = 100
  let isClosed = false
  const cpu = {
    ranMs: () => ranMs,
    close: () => {
      isClosed = true
    },
  }
  const idle = new ProfiledIdle({ clock, cpu, nodeIdleMs: () => nodeIdleMs, beganMs: 5000 })
  return {
    idle,
    clock,
    /** A wait of which Node counts the end only, after the last signal. */
    wait(ms, { toldMs = 1, ran = 0 } = {}) {
      clock.advance(ms)
      ranMs += ran
      nodeIdleMs += toldMs
    },
    run(ms, { onCpuMs = ms } = {}) {
      clock.advance(ms)
      ranMs += onCpuMs
    },
    isClosed: () => isClosed,
  }
}

test('an interrupted wait is idle, whenever it is asked for first', () => {
  const { idle, clock, wait, run } = setUp()
  wait(50)
  assert.equal(idle.idleMs(), 5050)
  run(10)
  assert.equal(idle.idleMs(), 5050)
  clock.turn()
  wait(20)
  run(3)
  assert.equal(idle.idleMs(), 5070)
  clock.turn()
  wait(30)
  clock.turn()
  assert.equal(idle.idleMs(), 5100)
})

test('what signals take during the wait is not idle', () => {
  const { idle, wait } = setUp()
  wait(100, { ran: 3 })
  assert.equal(idle.idleMs(), 5097)
})

test('a thread that waits for a CPU in the middle of its work is not idle', () => {
  const { idle, clock, wait, run } = setUp()
  wait(10)
  assert.equal(idle.idleMs(), 5010)
  run(40, { onCpuMs: 10 })
  clock.turn()
  wait(10)
  assert.equal(idle.idleMs(), 5020)
})

test('work without a wait is not idle, even off the CPU', () => {
  const { idle, clock, run } = setUp()
  for (let i = 0; i < 3; i++) {
    run(10, { onCpuMs: 2 })
    clock.turn()
  }
  assert.equal(idle.idleMs(), 5000)
})

test("it is never less than Node's own", () => {
  const { idle, wait } = setUp()
  wait(10, { toldMs: 9, ran: 5 })
  assert.equal(idle.idleMs(), 5009)
})

test('closed, it listens to no turn and reads no CPU', () => {
  const { idle, clock, isClosed } = setUp()
  idle.close()
  assert.deepEqual([clock.scheduled, isClosed()], [0, true])
})

test('the clock goes on from where it was replaced, and back', () => {
  const beforeMs = systemClock.idleMs()
  let missedMs = 0
  const goBack = replaceIdle((nodeIdleMs, beganMs) => {
    assert.equal(beganMs, nodeIdleMs())
    return () => nodeIdleMs() + missedMs
  })
  missedMs = 70
  assert.ok(systemClock.idleMs() >= beforeMs + 70)
  goBack()
  const afterMs = systemClock.idleMs()
  assert.ok(afterMs >= beforeMs + 70 && afterMs < beforeMs + 1000)
})

test('the CPU time of this thread grows while it computes', { skip: process.platform !== 'linux' }, () => {
  const cpu = openThreadCpu()
  assert.ok(cpu)
  const beganMs = cpu.ranMs()
  const { user, system } = process.cpuUsage()
  for (;;) {
    const now = process.cpuUsage()
    if (now.user + now.system - user - system > 5000) break
  }
  assert.ok(cpu.ranMs() > beganMs)
  cpu.close()
})

test('without a file Node tells it, or nobody', () => {
  const cpu = openThreadCpu('/nowhere')
  if ('threadCpuUsage' in process) assert.ok(/** @type {any} */ (cpu).ranMs() > 0)
  else assert.equal(cpu, undefined)
})
