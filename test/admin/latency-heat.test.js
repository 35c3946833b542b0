'use strict'
// The columns of heat maps, by a fake clock: what is in a column, when it is taken, and of which routes and
// how long columns are kept.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ROW_STARTS_MS } = require('../../src/core/histogram/latency-rows')
const { RollingHistogram } = require('../../src/core/histogram/rolling')
const { COLUMNS, COLUMN_MS, LatencyHeat, MAX_ROUTES } = require('../../src/features/admin/latency-heat')
const { FakeClock } = require('../support/fake-clock.js')

const ROW_OF_5_MS = ROW_STARTS_MS.indexOf(4)
const ROW_OF_500_MS = ROW_STARTS_MS.indexOf(400)

function heatFor() {
  const clock = new FakeClock(0)
  const series = []
  const heat = new LatencyHeat(/** @type {any} */ ({ clock, recorder: { routes: { series } } }))
  /** As a request of the route ends. */
  const end = (route, ms, times = 1) => {
    let found = series.find((each) => each.route === route)
    if (found === undefined) series.push((found = { method: 'GET', route, latency: new RollingHistogram(0) }))
    for (let i = 0; i < times; i++) found.latency.record(ms, clock.now(), false)
  }
  /** Time passes with a point of the history each second, as in a process that is not idle. */
  const pass = (ms) => {
    for (let passed = 0; passed < ms; passed += 1000) {
      clock.advance(1000)
      heat.onPoint(clock.now())
    }
  }
  const cellsOf = (route) => heat.read('GET', route)?.columns.map(({ cells }) => cells)
  return { cellsOf, clock, end, heat, pass, series }
}

test('a column has what ended in its ten seconds, and the last one what ended since', () => {
  const { cellsOf, clock, end, heat, pass } = heatFor()
  heat.start()
  const startMs = clock.wallMs()
  end('/a', 5, 3)
  end('/a', 500)
  assert.deepEqual(cellsOf('/a'), [
    [
      [ROW_OF_5_MS, 3],
      [ROW_OF_500_MS, 1],
    ],
  ])
  pass(COLUMN_MS)
  end('/a', 5)
  pass(4000)
  const map = heat.read('GET', '/a')
  assert.deepEqual(map, {
    method: 'GET',
    route: '/a',
    isKept: true,
    rowStartsMs: ROW_STARTS_MS,
    columns: [
      {
        from: startMs,
        to: startMs + COLUMN_MS,
        cells: [
          [ROW_OF_5_MS, 3],
          [ROW_OF_500_MS, 1],
        ],
      },
      { from: startMs + COLUMN_MS, to: startMs + 14_000, cells: [[ROW_OF_5_MS, 1]] },
    ],
  })
  // To read it changes nothing.
  assert.deepEqual(heat.read('GET', '/a'), map)
})

test('what ended before start() is in no column; without start() there is none', () => {
  const { cellsOf, end, heat, pass } = heatFor()
  end('/a', 5, 7)
  pass(COLUMN_MS * 2)
  heat.start()
  end('/a', 500)
  pass(COLUMN_MS)
  assert.deepEqual(cellsOf('/a'), [[[ROW_OF_500_MS, 1]], []])
})

test('every request is in one column, over many half minutes', () => {
  const { cellsOf, end, heat, pass } = heatFor()
  heat.start()
  for (let second = 0; second < 300; second++) {
    end('/a', 5)
    if (second % 7 === 0) end('/a', 500)
    pass(1000)
  }
  const columns = cellsOf('/a') ?? []
  assert.equal(columns.length, 31)
  assert.ok(columns.slice(0, 30).every(([[row, requests]]) => row === ROW_OF_5_MS && requests === 10))
  assert.equal(
    columns.flat().reduce((sum, [, requests]) => sum + requests, 0),
    300 + 43
  )
})

test('it keeps ten minutes, and nothing that is older', () => {
  const { cellsOf, end, heat, pass } = heatFor()
  heat.start()
  end('/a', 500, 9)
  pass(COLUMN_MS)
  for (let i = 0; i < COLUMNS; i++) {
    end('/a', 5)
    pass(COLUMN_MS)
  }
  const columns = cellsOf('/a') ?? []
  assert.equal(columns.length, COLUMNS + 1)
  assert.deepEqual(columns, [...new Array(COLUMNS).fill([[ROW_OF_5_MS, 1]]), []])
})

test('an idle process takes no column: the next one covers the pause, and the old ones end with their ten minutes', () => {
  const { clock, end, heat, pass } = heatFor()
  heat.start()
  const startMs = clock.wallMs()
  end('/a', 5)
  pass(COLUMN_MS)
  end('/a', 5)
  clock.idle(300_000)
  end('/a', 500)
  heat.onPoint(clock.now())
  const { columns = [] } = heat.read('GET', '/a') ?? {}
  assert.deepEqual(columns[1], {
    from: startMs + COLUMN_MS,
    to: startMs + COLUMN_MS + 300_000,
    cells: [
      [ROW_OF_5_MS, 1],
      [ROW_OF_500_MS, 1],
    ],
  })
  pass(COLUMN_MS)
  assert.equal(heat.read('GET', '/a')?.columns.length, 4)
  clock.idle(590_000)
  assert.deepEqual(
    heat.read('GET', '/a')?.columns.map(({ to }) => to - startMs),
    [320_000, 910_000]
  )
})

test('a route that is not known has no map, whatever its name', () => {
  const { end, heat } = heatFor()
  heat.start()
  end('/a', 5)
  for (const [method, route] of [
    ['POST', '/a'],
    ['GET', '/b'],
    ['GET', null],
    [null, null],
    ['GET', '__proto__'],
  ])
    assert.equal(heat.read(method, route), undefined)
})

test('a hundred routes are kept; one that has more requests than a kept one takes its place', () => {
  const { cellsOf, end, heat, pass } = heatFor()
  heat.start()
  for (let i = 0; i < MAX_ROUTES; i++) end(`/${i}`, 5, i === 42 ? 2 : 10)
  pass(COLUMN_MS)
  end('/late', 5, 2)
  pass(COLUMN_MS)
  assert.equal(heat.read('GET', '/late')?.isKept, false)
  assert.ok(cellsOf('/late')?.every((cells) => cells.length === 0))
  end('/late', 5, 3)
  pass(COLUMN_MS)
  assert.equal(heat.read('GET', '/late')?.isKept, true)
  assert.equal(heat.read('GET', '/42')?.isKept, false)
  assert.equal(heat.read('GET', '/41')?.isKept, true)
  end('/late', 500)
  pass(COLUMN_MS)
  // It was counted before its place was free, so that the column before this one is not known.
  assert.deepEqual(cellsOf('/late')?.slice(-3), [[], [[ROW_OF_500_MS, 1]], []])
})

test('a new route that is busier than a kept one has all its requests from the first on', () => {
  const { cellsOf, end, heat, pass } = heatFor()
  heat.start()
  for (let i = 0; i < MAX_ROUTES; i++) end(`/${i}`, 5)
  pass(COLUMN_MS)
  end('/new', 500, 4)
  pass(COLUMN_MS)
  assert.deepEqual(cellsOf('/new'), [[], [[ROW_OF_500_MS, 4]], []])
})

test('at start() the busiest routes are kept', () => {
  const { end, heat, pass } = heatFor()
  for (let i = 0; i < MAX_ROUTES + 1; i++) end(`/${i}`, 5, i === 3 ? 1 : 5)
  heat.start()
  assert.equal(heat.read('GET', '/3')?.isKept, false)
  assert.equal(heat.read('GET', `/${MAX_ROUTES}`)?.isKept, true)
  heat.close()
  pass(COLUMN_MS)
  assert.equal(heat.read('GET', '/4')?.columns.length, 1)
})
