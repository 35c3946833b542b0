'use strict'
// Memory outside the heap grows as with a leak, or does not: by simulated figures, and by real Buffers.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ExternalTrend } = require('../../src/core/process/external-trend')
const recorded = require('./heap-series.json')
const { runNode } = require('../support/run-node')

const MB = 1e6
const HOUR = 3600
const memoryAt = (externalBytes) => ({
  limitBytes: 512 * MB,
  rssBytes: externalBytes + 80 * MB,
  externalBytes,
})

function randomFrom(seed) {
  let state = seed
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
}

/**
 * The verdict of each minute. A minor collection every two seconds still sees `deadAt` if no major collection
 * has found it dead.
 */
const clockAt = (clock = { nowMs: 0 }) =>
  Object.assign(clock, { now: () => clock.nowMs, after: (_ms, callback) => (clock.callback = callback) })

function judge(aliveAt, { hours, majorEverySeconds = 20, deadAt = () => 0, noise = 1, seed = 1 }) {
  const random = randomFrom(seed)
  const trend = new ExternalTrend(clockAt())
  const minutes = []
  let majorAt = majorEverySeconds
  for (let s = 2; s < hours * HOUR; s += 1 + 2 * random()) {
    const isMajor = s >= majorAt
    if (isMajor) majorAt += majorEverySeconds
    if (isMajor) trend.onMajor()
    const dead = isMajor ? 0 : deadAt(s)
    trend.onMinor(s * 1000, (aliveAt(s) + dead + noise * random()) * MB)
    if (s / 60 > minutes.length) minutes.push(trend.sample(s * 1000, memoryAt(aliveAt(s) * MB)))
  }
  return minutes
}

const growing = (minutes) => minutes.filter(({ verdict }) => verdict === 'growing').length

for (const [title, aliveAt, options, foundInMinutes, perHour] of [
  ['5800 MB an hour', (s) => 4 + s * 1.6, { hours: 0.08 }, 3, 5760],
  ['600 MB an hour', (s) => 4 + s / 6, { hours: 0.25 }, 4, 600],
  ['60 MB an hour, seldom collected', (s) => 4 + s / 60, { hours: 1, majorEverySeconds: 240 }, 25, 60],
]) {
  test(`a leak of Buffers of ${title} grows, and is known in ${foundInMinutes} minutes`, () => {
    for (const seed of [1, 2, 3]) {
      const minutes = judge(aliveAt, { ...options, seed })
      const first = minutes.findIndex(({ verdict }) => verdict === 'growing')
      assert.ok(first >= 0 && first <= foundInMinutes, `in ${first}`)
      const last = minutes.findLast(({ verdict }) => verdict === 'growing')
      const megabytesPerHour = (last.bytesPerSecond * HOUR) / MB
      assert.ok(Math.abs(megabytesPerHour / perHour - 1) < 0.2, `${megabytesPerHour} MB an hour`)
    }
  })
}

for (const [title, aliveAt, options] of [
  ['memory that stands', () => 20, { hours: 12 }],
  ['uploads in flight, up to 30 MB', () => 5, { hours: 12, noise: 30 }],
  ['a cache that is warm after a minute', (s) => 5 + 60 * (1 - Math.exp(-s / 30)), { hours: 4 }],
  ['a cache that levels in five minutes', (s) => 5 + 60 * (1 - Math.exp(-s / 300)), { hours: 4 }],
  ['a step', (s) => (s > 1800 ? 100 : 20), { hours: 8 }],
  // Between two major collections of four minutes, 64 MB of Buffers die and are still counted.
  [
    'a saw-tooth of dead Buffers',
    () => 20,
    { hours: 8, majorEverySeconds: 240, deadAt: (s) => ((s % 240) * 64) / 240 },
  ],
  ['a rise of 5 MB in a day', (s) => 5 + (5 * s) / 24 / HOUR, { hours: 24, noise: 0.2 }],
]) {
  test(`outside the heap, ${title} never grows`, () => {
    for (const seed of [1, 2, 3]) assert.equal(growing(judge(aliveAt, { ...options, seed })), 0)
  })
}

test('if no minor collection comes in between, the reading of a second later counts', () => {
  for (const [perSecond, verdict] of [
    [1.6, 'growing'],
    [0, 'none'],
  ]) {
    let bytes = 0
    const clock = clockAt()
    const trend = new ExternalTrend(clock, () => bytes)
    for (let s = 5; s < 180; s += 5) {
      trend.onMajor()
      clock.nowMs = (s + 1) * 1000
      bytes = (20 + perSecond * s) * MB
      clock.callback()
    }
    assert.equal(trend.sample(clock.nowMs, memoryAt(bytes)).verdict, verdict)
  }
})

test('the limit is what the limit of the process leaves', () => {
  const minutes = judge((s) => 4 + s / 6, { hours: 0.25 })
  const { secondsToLimit } = minutes.at(-1)
  const left = (512 - 80 - 4 - 0.25 * 600) * 6
  assert.ok(Math.abs(secondsToLimit / left - 1) < 0.2, `${secondsToLimit} s of ${left}`)
})

for (const [title, series] of Object.entries(recorded)) {
  if (title.startsWith('leak')) continue
  test(`with the figures recorded of a process with ${title}, it never grows`, () => {
    const trend = new ExternalTrend(clockAt())
    const verdicts = []
    for (const [second, kilobytes, isMajor] of series) {
      if (isMajor === 1) trend.onMajor()
      else trend.onMinor(second * 1000, kilobytes * 1000)
      verdicts.push(trend.sample(second * 1000, memoryAt(kilobytes * 1000)))
    }
    assert.equal(growing(verdicts), 0)
  })
}

// The Buffers and their collections are real, only time is not. `keep` decides what becomes of the Buffers. In
// Node 20 `gc()` alone is a major collection.
const programOf = (keep) => `
  const { createRuntime } = require('./src/core/process/runtime.js')
  const { FakeClock } = require('./test/support/fake-clock.js')
  const clock = new FakeClock()
  const runtime = createRuntime(clock, () => {})
  runtime.collections.start()
  const kept = []
  const verdicts = []
  async function collect(type) {
    type === 'minor' ? gc({ type }) : gc()
    await new Promise((resolve) => setImmediate(resolve))
    runtime.collections.recordPending()
  }
  async function run() {
    for (let i = 0; i < 120; i++) {
      kept.push(Buffer.alloc(1e6, 1))
      ${keep}
      clock.advance(2000)
      if (i % 10 === 9) await collect('major')
      await collect('minor')
      verdicts.push(runtime.externalTrend.sample(clock.now(), runtime.memory.sample()).verdict)
    }
    console.log(JSON.stringify(verdicts))
    runtime.collections.close()
  }
  run()`

test('a process that keeps its Buffers grows', async (t) => {
  const { output } = await runNode(programOf(''), { args: ['--expose-gc'], t })
  assert.equal(output.at(-1), 'growing', JSON.stringify(output))
})

test('a process that drops its Buffers every minute does not', async (t) => {
  const { output } = await runNode(programOf('if (i % 30 === 29) kept.length = 0'), {
    args: ['--expose-gc'],
    t,
  })
  assert.ok(!output.includes('growing') && output.includes('none'), JSON.stringify(output))
})
