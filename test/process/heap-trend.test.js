'use strict'
// Heaps made up, a collection every five seconds or so for hours of simulated time. Noise is what is in
// flight when a collection ends: it adds, and never takes.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { HeapTrend } = require('../../src/core/process/heap-trend')
const recorded = require('./heap-series.json')
const { runNode } = require('../support/run-node')

const MB = 1e6
const HOUR = 3600
const LIMIT_BYTES = 256 * MB

/** Numbers from 0 to 1, the same in every run. */
function randomFrom(seed) {
  let state = seed
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
}

/** The verdict of each minute of a heap, in MB over seconds. */
function judge(heapAt, { hours, noise = 1, everySeconds = 5, seed = 1 }) {
  const random = randomFrom(seed)
  const trend = new HeapTrend(0)
  const minutes = []
  for (let s = 0; s < hours * HOUR; s += everySeconds * (0.5 + random())) {
    trend.onMajor(s * 1000, (heapAt(s) + noise * (random() + random())) * MB)
    if (s / 60 > minutes.length) minutes.push(trend.sample(s * 1000, LIMIT_BYTES))
  }
  return minutes
}

const leak = (perHour) => (s) => 50 + (perHour * s) / HOUR
const saturating = (seconds) => (s) => 50 + 60 * (1 - Math.exp(-s / seconds))
const countOf = (minutes, verdict) => minutes.filter((each) => each.verdict === verdict).length

for (const [title, heapAt, options, foundInMinutes, perHour] of [
  ['600 MB an hour', leak(600), { hours: 0.25 }, 3, 600],
  [
    '600 MB an hour that begins after ten minutes',
    (s) => 50 + Math.max(0, s - 600) / 6,
    { hours: 0.4, noise: 0.5 },
    13,
    600,
  ],
  ['60 MB an hour', leak(60), { hours: 1, noise: 0.5 }, 15, 60],
  ['100 MB an hour', leak(100), { hours: 1 }, 15, 100],
  ['10 MB an hour', leak(10), { hours: 3 }, 35, 10],
  ['10 MB an hour in noise of 20 MB', leak(10), { hours: 12, noise: 10 }, 300, 10],
  ['1 MB an hour', leak(1), { hours: 12 }, 260, 1],
  ['30 MB an hour that begins after six', (s) => 50 + Math.max(0, s - 6 * HOUR) / 120, { hours: 8 }, 420, 30],
  ['60 MB an hour, collected twice a minute', leak(60), { hours: 2, everySeconds: 30 }, 40, 60],
]) {
  test(`a leak of ${title} grows, and is known in ${foundInMinutes} minutes`, () => {
    const minutes = judge(heapAt, options)
    const first = minutes.findIndex(({ verdict }) => verdict === 'growing')
    assert.ok(first >= 0 && first <= foundInMinutes, `in ${first}`)
    const since = minutes.slice(foundInMinutes)
    assert.ok(
      countOf(since, 'growing') > 0.9 * since.length,
      `${countOf(since, 'growing')} of ${since.length}`
    )
    const last = minutes.findLast(({ verdict }) => verdict === 'growing')
    const megabytesPerHour = (last.bytesPerSecond * HOUR) / MB
    assert.ok(Math.abs(megabytesPerHour / perHour - 1) < 0.2, `${megabytesPerHour} MB an hour`)
    assert.ok(last.confidence >= 0.98)
    const left = (LIMIT_BYTES / MB - heapAt(options.hours * HOUR)) / last.bytesPerSecond / 1e-6
    assert.ok(Math.abs(last.secondsToLimit / left - 1) < 0.2, `${last.secondsToLimit} s of ${left}`)
  })
}

for (const [title, heapAt, options] of [
  ['a heap that stands', () => 50, { hours: 24 }],
  ['a heap that stands, in noise of its own size', () => 50, { hours: 24, noise: 25 }],
  ['a warm-up of a minute and a half', (s) => 50 + Math.min(s, 90) / 1.5, { hours: 2 }],
  ['a start of a minute that fades', saturating(60), { hours: 2 }],
  ['a step', (s) => (s > 1800 ? 100 : 50), { hours: 8 }],
  ['two steps', (s) => 50 + (s > 1800 ? 50 : 0) + (s > 2700 ? 50 : 0), { hours: 8 }],
  ['a step down', (s) => (s > 1800 ? 50 : 100), { hours: 8 }],
  ['a heap that shrinks', (s) => 200 - (s * 10) / HOUR, { hours: 8 }],
]) {
  test(`${title} never grows`, () => {
    for (const seed of [1, 2, 3]) {
      const minutes = judge(heapAt, { ...options, seed })
      assert.equal(countOf(minutes, 'growing'), 0)
      assert.equal(minutes.at(-1).verdict, 'none')
      assert.equal(minutes.at(-1).secondsToLimit, undefined)
    }
  })
}

// While it rises for the first time nothing tells it from a leak; once it slows, falls or has been there,
// something does.
for (const [title, heapAt, hours, mostShare] of [
  ['a cache that fills in a quarter of an hour', saturating(300), 3, 0],
  ['a cache that fills in half an hour', saturating(600), 3, 0.1],
  ['a cache that fills linearly in half an hour', (s) => 50 + Math.min(s, 1800) / 30, 6, 0.1],
  ['a saw-tooth of five minutes', (s) => 50 + (s % 300) / 10, 6, 0.02],
  ['a saw-tooth of ten minutes', (s) => 50 + (s % 600) / 20, 6, 0.02],
  ['a saw-tooth of an hour', (s) => 50 + (s % HOUR) / 100, 24, 0.05],
  ["the day's tide", (s) => 80 - 30 * Math.cos((s / HOUR / 24) * 2 * Math.PI), 72, 0.12],
]) {
  test(`${title} grows for a while at most, and is over it`, () => {
    const minutes = judge(heapAt, { hours, everySeconds: 10 })
    const growing = countOf(minutes, 'growing')
    assert.ok(growing <= mostShare * minutes.length, `${growing} of ${minutes.length} minutes`)
    assert.equal(countOf(minutes.slice(-minutes.length / 3), 'growing'), 0)
  })
}

test('the first two minutes give no verdict', () => {
  const minutes = judge(leak(1000), { hours: 0.035 })
  assert.equal(countOf(minutes, 'unknown'), minutes.length)
  assert.deepEqual(minutes.at(-1), { verdict: 'unknown' })
})

test('a process that has hardly collected for a long time has no verdict any more', () => {
  const trend = new HeapTrend(0)
  for (let s = 300; s < 1200; s += 5) trend.onMajor(s * 1000, leak(100)(s) * MB)
  assert.equal(trend.sample(1_200_000, LIMIT_BYTES).verdict, 'growing')
  assert.equal(trend.sample(1_200_000 + 40 * HOUR * 1000, LIMIT_BYTES).verdict, 'unknown')
})

test('a heap above the limit has no time left', () => {
  const trend = new HeapTrend(0)
  for (let s = 300; s < 1200; s += 5) trend.onMajor(s * 1000, leak(100)(s) * MB)
  assert.equal(trend.sample(1_200_000, 10 * MB).secondsToLimit, 0)
})

// The heap and its collections are real, only time is not: 90 collections in a quarter of an hour.
const LEAKING = `
  const { Spillway } = require('./src/spillway.js')
  const { FakeClock } = require('./test/support/fake-clock.js')
  const clock = new FakeClock()
  const spillway = new Spillway({ logger: false, shed: { mode: 'off' } }, clock)
  const kept = []
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  async function run() {
    for (let i = 0; i < 90; i++) {
      // 400 kB that a collection need not look into.
      kept.push(new Array(50_000).fill(i + 0.5))
      clock.advance(10_000)
      gc()
      while (spillway.snapshot().runtime.collections.major.count <= i) await turn()
    }
    console.log(JSON.stringify(spillway.snapshot().runtime.heap.trend))
  }
  run()`

test('a process that leaks is told so by its own collections', async (t) => {
  const { output } = await runNode(LEAKING, { args: ['--expose-gc'], t })
  const { verdict, megabytesPerHour, confidence, secondsToLimit } = output
  assert.equal(verdict, 'growing', JSON.stringify(output))
  assert.ok(megabytesPerHour > 100 && megabytesPerHour < 1000, String(megabytesPerHour))
  // Of few periods the verdict rests on how far the heap rose, and the ranks, which are the confidence, say
  // less.
  assert.ok(confidence > 0.9 && secondsToLimit > 1000, JSON.stringify(output))
})

/**
 * The verdict of each minute of a recorded series: [second, kB in use, 1 after a major collection and 0 after
 * a minor one].
 */
function replay(series) {
  const trend = new HeapTrend(0)
  const minutes = []
  for (const [second, kilobytes, isMajor] of series) {
    for (let minute = minutes.length + 1; minute * 60 < second; minute++)
      minutes.push(trend.sample(minute * 60_000, LIMIT_BYTES))
    if (isMajor === 1) trend.onMajor(second * 1000, kilobytes * 1000)
    else trend.onMinor(second * 1000, kilobytes * 1000)
  }
  return minutes
}

// Recorded by bench/heap-series/index.js: Express, its body parser, pino and 40 requests/s.
for (const [title, series] of Object.entries(recorded)) {
  const perHour = Number(/^leak of (\d+)/.exec(title)?.[1] ?? 0)
  if (perHour > 0) {
    const within = perHour === 100 ? 15 : 60
    test(`recorded: a ${title}, grows within ${within} minutes`, () => {
      const minutes = replay(series)
      const first = minutes.findIndex(({ verdict }) => verdict === 'growing')
      assert.ok(first >= 0 && first < within, `in ${first + 1}`)
      assert.equal(minutes.at(-1).verdict, 'growing')
      const megabytesPerHour = (minutes.at(-1).bytesPerSecond * HOUR) / MB
      assert.ok(Math.abs(megabytesPerHour / perHour - 1) < 0.25, `${megabytesPerHour} MB an hour`)
    })
  } else {
    test(`recorded: a process with ${title}, never grows in an hour`, () => {
      const minutes = replay(series)
      assert.ok(minutes.length >= 50)
      assert.equal(countOf(minutes, 'growing'), 0)
    })
  }
}

const seldom = { hours: 1, noise: 0.4, everySeconds: 150 }
for (const [title, heapAt, options, foundInMinutes] of [
  ['100 MB an hour, collected every 150 seconds', leak(100), seldom, 20],
  ['10 MB an hour, collected every 150 seconds', (s) => 20 + (10 * s) / HOUR, { ...seldom, hours: 2 }, 70],
]) {
  test(`a leak of ${title} is known in ${foundInMinutes} minutes`, () => {
    for (const seed of [1, 2, 3]) {
      const first = judge(heapAt, { ...options, seed }).findIndex(({ verdict }) => verdict === 'growing')
      assert.ok(first >= 0 && first <= foundInMinutes, `in ${first} with seed ${seed}`)
    }
  })
}

for (const [title, heapAt] of [
  ['a heap that stands', () => 50],
  ['a step', (s) => (s > 1800 ? 100 : 50)],
  ['two steps', (s) => 50 + (s > 1800 ? 50 : 0) + (s > 2700 ? 50 : 0)],
  ['a warm-up of a minute and a half', (s) => 50 + Math.min(s, 90) / 1.5],
  ['a heap that shrinks', (s) => 200 - (s * 10) / HOUR],
]) {
  test(`${title} never grows, though it is seldom collected`, () => {
    for (const everySeconds of [60, 120, 300]) {
      for (const seed of [1, 2, 3]) {
        const minutes = judge(heapAt, { hours: 2, noise: 1, everySeconds, seed })
        assert.equal(countOf(minutes, 'growing'), 0, `every ${everySeconds} s, seed ${seed}`)
      }
    }
  })
}

test('of few values, one that was high by what was in flight hides no leak', () => {
  const trend = new HeapTrend(0)
  // The first five were recorded in a real process on Node 24; the others go on as they do.
  const floors = [
    [501, 17.65],
    [830, 19.7],
    [912, 17.84],
    [1343, 18.81],
    [2034, 20.87],
    [2700, 22.65],
    [3380, 24.6],
  ]
  for (const [second, megabytes] of floors) trend.onMajor(second * 1000, megabytes * MB)
  assert.equal(trend.sample(HOUR * 1000, LIMIT_BYTES).verdict, 'growing')
})
