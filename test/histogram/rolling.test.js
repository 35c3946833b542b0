'use strict'
// The rotation by times told by hand: what the last minute still knows, and that since-start forgets nothing.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const fc = require('fast-check')
const { newHistogram, recordInto, toMicroseconds } = require('../../src/core/histogram/hdr-histogram')
const { RollingHistogram } = require('../../src/core/histogram/rolling')

const SECOND = 1000

test('the last minute has the values of that time, and since-start has all', () => {
  const rolling = new RollingHistogram(0)
  for (let second = 0; second < 300; second++) rolling.record(10, second * SECOND, second % 10 === 0)
  const nowMs = 300 * SECOND
  const last = rolling.lastMinute(nowMs)
  assert.ok(last.count >= 30 && last.count <= 60, String(last.count))
  assert.equal(last.histogram.totalCount, last.count)
  assert.ok(Math.abs(last.count / last.seconds - 1) < 0.05, 'its rate is over the time it covers')
  const all = rolling.sinceStart(nowMs)
  assert.deepEqual([all.count, all.errors, all.seconds, all.histogram.totalCount], [300, 30, 300, 300])
})

test('after a pause of a minute the last minute is empty, although nothing ran', () => {
  const rolling = new RollingHistogram(0)
  rolling.record(10, 0, false)
  assert.equal(rolling.lastMinute(59 * SECOND).count, 1)
  assert.equal(rolling.lastMinute(60 * SECOND).count, 0)
  assert.equal(rolling.sinceStart(60 * SECOND).count, 1)
})

test('a value after a long pause does not bring the old ones back', () => {
  const rolling = new RollingHistogram(0)
  rolling.record(500, 0, false)
  rolling.record(10, 3600 * SECOND, false)
  const last = rolling.lastMinute(3600 * SECOND)
  assert.equal(last.count, 1)
  assert.ok(last.histogram.maxValue < 11_000)
  assert.equal(rolling.sinceStart(3600 * SECOND).histogram.maxValue >= 499_000, true)
})

test('after a pause the rate is over the idle time too', () => {
  const rolling = new RollingHistogram(0)
  rolling.record(10, 0, false)
  rolling.record(10, 125 * SECOND, false)
  const { count, seconds } = rolling.lastMinute(125 * SECOND)
  assert.deepEqual([count, seconds], [1, 35])
  assert.equal(rolling.sinceStart(125 * SECOND).seconds, 125)
})

test('at any time the rate is over half a minute to a minute, or since the start, and misses no value', () => {
  const timesMs = fc
    .array(fc.nat(200 * SECOND), { maxLength: 30 })
    .map((times) => times.sort((a, b) => a - b))
  fc.assert(
    fc.property(fc.nat(1e6), timesMs, fc.nat(200 * SECOND), (startMs, times, pauseMs) => {
      const rolling = new RollingHistogram(startMs)
      for (const ms of times) rolling.record(10, startMs + ms, false)
      const lastMs = (times.at(-1) ?? 0) + pauseMs
      const { count, seconds } = rolling.lastMinute(startMs + lastMs)
      const windowMs = Math.round(seconds * SECOND)
      assert.ok(windowMs >= Math.min(lastMs, 30 * SECOND) && windowMs <= 60 * SECOND, `${windowMs} ms`)
      assert.equal(count, times.filter((ms) => ms >= lastMs - windowMs).length)
    })
  )
})

test('a value that is only counted, such as a stream, moves no quantile', () => {
  const rolling = new RollingHistogram(0)
  rolling.record(10, 0, false)
  rolling.count(0, true)
  const { count, errors, histogram } = rolling.lastMinute(SECOND)
  assert.deepEqual([count, errors, histogram.totalCount], [2, 1, 1])
})

for (const [title, given, expected] of [
  ['NaN', Number.NaN, 1],
  ['undefined', undefined, 1],
  ['a negative duration', -5, 1],
  ['nothing', 0, 1],
  ['Infinity', Number.POSITIVE_INFINITY, 60_000_000],
  ['an hour', 3_600_000, 60_000_000],
  ['1.2345 ms', 1.2345, 1235],
]) {
  test(`${title} is recorded as ${expected} µs`, () => {
    assert.equal(toMicroseconds(given), expected)
    const rolling = new RollingHistogram(0)
    rolling.record(given, 0, false)
    const { histogram } = rolling.lastMinute(0)
    assert.equal(histogram.totalCount, 1)
    assert.equal(histogram.getCountAtIndex(histogram.countsArrayIndex(expected)), 1)
  })
}

test('a value is recorded in the cell that the library uses, at every power of two and its neighbours', () => {
  const ours = newHistogram(32)
  const theirs = newHistogram(32)
  const values = [3, 200, 999, 12_345, 59_999_999, 60_000_000]
  for (let power = 1; power <= 2 ** 25; power *= 2) values.push(power, power + 1, Math.max(power - 1, 1))
  for (const us of values) {
    recordInto(ours, us)
    theirs.recordValue(us)
  }
  const counts = (histogram) =>
    Array.from({ length: histogram.countsArrayLength }, (_, i) => histogram.getCountAtIndex(i))
  assert.deepEqual(counts(ours), counts(theirs))
  for (const key of ['totalCount', 'maxValue', 'minNonZeroValue']) assert.equal(ours[key], theirs[key], key)
})
