'use strict'
// What the heat map of the live page shows: its rows, its time, the steps of its colours and its table by
// minute.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const heatFigures = require('../../src/features/admin/page/heat-figures')
const { ROWS, ROW_STARTS_MS } = require('../../src/core/histogram/latency-rows')

const { colorOf, minutesOf, perColumn, rangeOf, requestsOf, rowsOf, stepsOf, timesOf } = heatFigures
const AT = Date.UTC(2026, 0, 1, 12)
const rowOf = (ms) => ROW_STARTS_MS.indexOf(ms)

/** @param {[row: number, requests: number][][]} columns of ten seconds each */
const heatOf = (...columns) => ({
  isKept: true,
  rowStartsMs: [...ROW_STARTS_MS],
  columns: columns.map((cells, i) => ({ from: AT + i * 10_000, to: AT + (i + 1) * 10_000, cells })),
})

test('the rows are whole powers of ten around those in use, at least two', () => {
  const shown = (...used) => {
    const heat = heatOf(used.map((row) => [row, 1]))
    const [first, end] = rowsOf(heat)
    return [rangeOf(heat, first)[0], rangeOf(heat, end - 1)[1]]
  }
  assert.deepEqual(shown(), [1, 1000])
  assert.deepEqual(shown(rowOf(1)), [1, 100])
  assert.deepEqual(shown(rowOf(63)), [10, 1000])
  assert.deepEqual(shown(rowOf(2.5), rowOf(100)), [1, 1000])
  assert.deepEqual(shown(0), [0, 10])
  assert.deepEqual(shown(ROWS - 1), [100, 60_000])
  assert.deepEqual(shown(rowOf(6300)), [100, 60_000])
  assert.deepEqual(shown(rowOf(630), rowOf(4000)), [100, 10_000])
  assert.deepEqual(shown(0, ROWS - 1), [0, 60_000])
  for (let lowest = 0; lowest < ROWS; lowest++) {
    for (let highest = lowest; highest < ROWS; highest++) {
      const [first, end] = rowsOf(
        heatOf([
          [lowest, 1],
          [highest, 1],
        ])
      )
      assert.ok(first >= 0 && first <= lowest && highest < end && end <= ROWS && end - first >= 10)
    }
  }
})

test('the time is the least span that shows all columns, up to the newest', () => {
  const spanOf = (columns) => {
    const [from, to] = timesOf(heatOf(...new Array(columns).fill([])))
    assert.equal(to, AT + columns * 10_000)
    return (to - from) / 1000
  }
  assert.deepEqual([1, 12, 13, 30, 31, 61].map(spanOf), [120, 120, 300, 300, 600, 600])
})

test('more requests have a darker colour, from the first to the last of the colours in use', () => {
  for (const most of [2, 9, 60, 100, 101, 600, 601, 70_000, 5_000_000]) {
    const steps = stepsOf(
      heatOf([
        [3, most],
        [4, 1],
      ])
    )
    assert.equal(steps[0].least, 1)
    assert.equal(colorOf(steps, 1), 1)
    assert.equal(colorOf(steps, most), 6, String(most))
    assert.ok(
      steps.every(
        ({ least, color }, i) => i === 0 || (least > steps[i - 1].least && color > steps[i - 1].color)
      )
    )
  }
  assert.deepEqual(
    stepsOf(heatOf([[3, 250]])).map(({ least }) => least),
    [1, 3, 10, 30, 100]
  )
  const [only, ...others] = stepsOf(heatOf([[3, 1]]))
  assert.deepEqual([only, others], [{ least: 1, color: 3 }, []])
})

test('a column that covers a pause has the colour of ten seconds of it', () => {
  const column = { from: AT, to: AT + 300_000, cells: [] }
  assert.equal(perColumn(column, 900), 30)
  assert.equal(perColumn(column, 2), 1)
  assert.equal(perColumn({ ...column, to: AT + 11_000 }, 900), 900)
  assert.equal(perColumn({ ...column, to: AT + 2000 }, 3), 3)
})

test('the table has the same requests, by minute, the latest first', () => {
  const heat = heatOf(
    [
      [3, 1],
      [5, 2],
    ],
    [],
    [[3, 4]],
    [],
    [],
    [[6, 1]],
    [[3, 10]]
  )
  assert.equal(requestsOf(heat), 18)
  assert.deepEqual(
    minutesOf(heat).map(({ at, requests }) => [at, [...requests]]),
    [
      [AT + 60_000, [[3, 10]]],
      [
        AT,
        [
          [3, 5],
          [5, 2],
          [6, 1],
        ],
      ],
    ]
  )
})
