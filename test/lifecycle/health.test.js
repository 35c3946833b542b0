'use strict'
// What a probe is told. The checks are real functions; time is a clock moved by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { setImmediate: turn } = require('node:timers/promises')
const { Health } = require('../../src/core/lifecycle/health')

const OK = { status: 200, body: { status: 'ok' } }
const unavailable = (reason, rest) => ({ status: 503, body: { status: 'unavailable', reason, ...rest } })

function healthFor({ isManual = false } = {}) {
  let nowMs = 0
  let timers = []
  const clock = {
    now: () => nowMs,
    after: (delayMs, callback) => {
      const timer = { atMs: nowMs + delayMs, callback }
      timers.push(timer)
      return timer
    },
    cancel: (timer) => {
      timers = timers.filter((each) => each !== timer)
    },
  }
  const advance = (ms) => {
    nowMs += ms
    const due = timers.filter(({ atMs }) => atMs <= nowMs)
    timers = timers.filter(({ atMs }) => atMs > nowMs)
    for (const { callback } of due) callback()
  }
  const reports = []
  const report = (...told) => reports.push(told)
  const health = new Health({ isManual, clock, onCheckChange: report })
  const check = (name, ask, options) => health.addCheck(name, ask, { timeout: 1000, cache: 0, ...options })
  return { health, check, advance, reports }
}

test('open: alive and ready', () => {
  const { health } = healthFor()
  assert.deepEqual(health.live(), OK)
  assert.deepEqual(health.ready(), OK)
})

const STATES = {
  degraded: (health) => health.degrade(),
  draining: (health) => health.markDraining(),
  closed: (health) => health.close(),
}

for (const [reason, enter] of Object.entries(STATES)) {
  test(`${reason}: alive but not ready, and no check runs`, () => {
    const { health, check } = healthFor()
    check('database', () => assert.fail('asked'))
    enter(health)
    assert.deepEqual(health.live(), OK)
    assert.deepEqual(health.ready(), unavailable(reason))
  })
}

test('draining prevails over degraded, and closed over draining', () => {
  const { health } = healthFor()
  health.degrade()
  health.markDraining()
  health.degrade()
  assert.deepEqual(health.ready(), unavailable('draining'))
  health.markReady()
  assert.deepEqual(health.ready(), unavailable('draining'))
  health.close()
  health.markDraining()
  assert.deepEqual(health.ready(), unavailable('closed'))
})

test('manual: not ready until markReady(), and alive from the start', async () => {
  const { health } = healthFor({ isManual: true })
  assert.deepEqual(health.ready(), unavailable('starting'))
  assert.deepEqual(health.live(), OK)
  health.markReady()
  assert.deepEqual(health.ready(), OK)
  await health.started
})

const thenable = Object.defineProperty({}, 'then', { get: () => assert.fail('a getter') })
const VERDICTS = {
  'returns nothing': [() => {}, 'ok'],
  'returns true': [() => true, 'ok'],
  'returns 0': [() => 0, 'ok'],
  resolves: [async () => 'rows', 'ok'],
  'returns false': [() => false, 'failed'],
  'resolves with false': [async () => false, 'failed'],
  throws: [
    () => {
      throw new Error('down')
    },
    'failed',
  ],
  'throws nothing at all': [
    () => {
      throw undefined
    },
    'failed',
  ],
  rejects: [() => Promise.reject(new Error('down')), 'failed'],
  'returns what throws when looked at': [() => thenable, 'failed'],
}

for (const [what, [ask, verdict]] of Object.entries(VERDICTS)) {
  test(`a check that ${what}: ${verdict}`, async () => {
    const { health, check } = healthFor()
    check('database', ask)
    const checks = { database: verdict }
    const expected =
      verdict === 'ok' ? { status: 200, body: { status: 'ok', checks } } : unavailable('check', { checks })
    assert.deepEqual(await health.ready(), expected)
    assert.deepEqual(health.live(), OK)
  })
}

test('a check that times out has its signal aborted and fails; its next run may pass', async () => {
  const { health, check, advance, reports } = healthFor()
  let signals = 0
  let isUp = false
  check('database', ({ signal }) => {
    if (isUp) return true
    return new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(new Error(`gone ${++signals}`)))
    )
  })
  const answer = health.ready()
  advance(1000)
  assert.deepEqual(await answer, unavailable('check', { checks: { database: 'timed out' } }))
  assert.equal(signals, 1)
  await turn()
  isUp = true
  assert.equal((await health.ready()).status, 200)
  assert.deepEqual(reports, [
    ['database', 'timed out', undefined],
    ['database', 'ok', undefined],
  ])
})

test('the signal of a check that has settled is never aborted', async () => {
  const { health, check, advance } = healthFor()
  const signals = []
  const answers = [() => true, () => false, () => Promise.reject(new Error('down'))]
  for (const [i, answer] of answers.entries()) {
    check(`database ${i}`, ({ signal }) => {
      signals.push(signal)
      return answer()
    })
  }
  await health.ready()
  advance(1000)
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [false, false, false]
  )
})

test('a check that never settles runs once, and fails for good', async () => {
  const { health, check, advance } = healthFor()
  let asked = 0
  check('database', () => {
    asked++
    return new Promise(() => {})
  })
  for (let i = 0; i < 3; i++) {
    const answer = health.ready()
    advance(1000)
    assert.equal((await answer).body.checks.database, 'timed out')
  }
  assert.equal(asked, 1)
})

test('the timeout of a run that has settled does not affect the next run', async () => {
  const { health, check, advance } = healthFor()
  let answerNow
  check('database', () => new Promise((resolve) => (answerNow = resolve)))
  const first = health.ready()
  advance(900)
  answerNow(true)
  assert.equal((await first).status, 200)
  await turn()
  const second = health.ready()
  advance(200)
  answerNow(true)
  assert.equal((await second).status, 200)
})

test('simultaneous probes share one run, and its verdict is cached', async () => {
  const { health, check, advance } = healthFor()
  let asked = 0
  check('database', async () => ++asked, { cache: 500 })
  await Promise.all(Array.from({ length: 100 }, () => health.ready()))
  assert.equal(asked, 1)
  advance(499)
  await health.ready()
  assert.equal(asked, 1)
  advance(1)
  await health.ready()
  assert.equal(asked, 2)
})

test('checks run concurrently, and one failure is enough', async () => {
  const { health, check } = healthFor()
  const entered = []
  for (const name of ['a', 'b', 'c']) {
    check(name, async () => {
      entered.push(name)
      await turn()
      assert.equal(entered.length, 3)
      return name !== 'b'
    })
  }
  assert.deepEqual((await health.ready()).body.checks, { a: 'ok', b: 'failed', c: 'ok' })
})

test('a probe reports a drain that begins while its checks run', async () => {
  const { health, check } = healthFor()
  check('database', turn)
  const answer = health.ready()
  health.markDraining()
  assert.deepEqual(await answer, unavailable('draining'))
})

test('a change of the verdict is reported once, with the error', async () => {
  const { health, check, reports } = healthFor()
  const error = new Error('down')
  let isDown = false
  check('database', () => {
    if (isDown) throw error
  })
  for (const each of [false, true, true, false, false]) {
    isDown = each
    await health.ready()
    await turn()
  }
  assert.deepEqual(reports, [
    ['database', 'failed', error],
    ['database', 'ok', undefined],
  ])
})

test('while every verdict is cached, ready() returns the same answer without a promise', async () => {
  const { health, check, advance } = healthFor()
  let asked = 0
  check('database', () => void asked++, { cache: 1000 })
  check('queue', () => true, { cache: 500 })
  const answer = await health.ready()
  assert.equal(health.ready(), answer)
  advance(499)
  assert.equal(health.ready(), answer)
  advance(1)
  const later = health.ready()
  assert.ok(later instanceof Promise)
  assert.deepEqual(await later, answer)
  assert.equal(asked, 1)
  advance(500)
  await health.ready()
  assert.equal(asked, 2)
})

test('a cached answer is dropped when a check is added or a drain begins', async () => {
  const { health, check } = healthFor()
  check('database', () => true, { cache: 1000 })
  await health.ready()
  check('queue', () => false, { cache: 1000 })
  const checks = { database: 'ok', queue: 'failed' }
  assert.deepEqual(await health.ready(), unavailable('check', { checks }))
  health.markDraining()
  assert.deepEqual(health.ready(), unavailable('draining'))
})

test('an answer is cached only as long as its shortest-lived verdict', async () => {
  const { health, check, advance } = healthFor()
  check('database', () => true, { cache: 1000 })
  check('queue', () => true, { cache: 0 })
  await health.ready()
  advance(1)
  assert.ok(health.ready() instanceof Promise)
})
