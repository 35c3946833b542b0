'use strict'
// Rows of latencies: which value is in which, and what was recorded since a mark, over the half minutes of a
// rolling histogram.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ROWS, ROW_STARTS_MS, RowsSinceMark } = require('../../src/core/histogram/latency-rows')
const { RollingHistogram } = require('../../src/core/histogram/rolling')

/**
 * @param {InstanceType<typeof RowsSinceMark>} since
 * @returns {Record<number, number>} by the start of the row
 */
function read(since) {
  const rows = new Uint32Array(ROWS)
  since.addTo(rows, 0)
  return Object.fromEntries(
    [...rows.entries()].filter(([, n]) => n > 0).map(([row, n]) => [ROW_STARTS_MS[row], n])
  )
}

test('a value is in the row that starts at or below it', () => {
  assert.deepEqual(ROW_STARTS_MS.slice(0, 8), [0, 0.1, 0.16, 0.25, 0.4, 0.63, 1, 1.6])
  assert.equal(ROW_STARTS_MS[ROWS - 1], 40_000)
  for (const [row, startMs] of ROW_STARTS_MS.entries()) {
    const rolling = new RollingHistogram(0)
    const since = new RowsSinceMark(rolling)
    rolling.record(startMs, 0, false)
    // A cell is up to one percent wide.
    rolling.record((ROW_STARTS_MS[row + 1] ?? 60_000) * 0.985, 0, false)
    assert.deepEqual(read(since), { [startMs]: 2 })
  }
  const rolling = new RollingHistogram(0)
  rolling.record(0, 0, false)
  rolling.record(1e9, 0, false)
  assert.deepEqual(read(new RowsSinceMark(rolling)), { 0: 1, 40000: 1 })
})

test('what was recorded before a mark does not count, and reading changes nothing', () => {
  const rolling = new RollingHistogram(0)
  rolling.record(5, 10, false)
  const since = new RowsSinceMark(rolling)
  assert.deepEqual(read(since), { 4: 1 })
  since.mark()
  assert.deepEqual(read(since), {})
  for (let i = 0; i < 3; i++) rolling.record(5, 20, false)
  rolling.record(700, 20, false)
  for (let i = 0; i < 2; i++) assert.deepEqual(read(since), { 4: 3, 630: 1 })
  since.mark()
  assert.deepEqual(read(since), {})
})

test('values on both sides of a half minute count once, whenever the mark was set', () => {
  const rolling = new RollingHistogram(0)
  const since = new RowsSinceMark(rolling)
  rolling.record(5, 29_000, false)
  since.mark()
  rolling.record(50, 29_900, false)
  rolling.record(500, 30_100, false)
  assert.deepEqual(read(since), { 40: 1, 400: 1 })
  since.mark()
  assert.deepEqual(read(since), {})
  rolling.record(500, 30_200, false)
  assert.deepEqual(read(since), { 400: 1 })
})

test('after a pause of minutes, the half minute of the mark is gone, and what came since counts', () => {
  const rolling = new RollingHistogram(0)
  const since = new RowsSinceMark(rolling)
  for (const atMs of [1000, 31_000]) rolling.record(5, atMs, false)
  since.mark()
  rolling.record(50, 400_000, false)
  assert.deepEqual(read(since), { 40: 1 })
  rolling.record(50, 431_000, false)
  assert.deepEqual(read(since), { 40: 2 })
})
