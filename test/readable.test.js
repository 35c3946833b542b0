'use strict'
// How figures and names read, wherever people read them.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const readable = require('../src/core/readable')

const TABLES = {
  count: [
    [0, '0'],
    [999.6, '1\u202f000'],
    [1_234_567, '1\u202f234\u202f567'],
  ],
  number: [
    [0, '0'],
    [0.034, '0.03'],
    [2, '2'],
    [2.34, '2.3'],
    [9.96, '10'],
    [12.6, '13'],
  ],
  duration: [
    [0, '0 ms'],
    [0.001, '0.01 ms'],
    [0.25, '0.25 ms'],
    [0.996, '1 ms'],
    [1, '1 ms'],
    [9.94, '9.9 ms'],
    [9.96, '10 ms'],
    [999.4, '999 ms'],
    [999.6, '1 s'],
    [2500, '2.5 s'],
    [119_000, '119 s'],
    [192_000, '3 min 12 s'],
  ],
  span: [
    [0, '0 s'],
    [10, '10 s'],
    [119.4, '119 s'],
    [119.6, '2 min'],
    [3700, '1 h 1 min'],
    [7200, '2 h'],
    [90_000, '1 d 1 h'],
  ],
  bytes: [
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1 kB'],
    [1500, '1.5 kB'],
    [99_960, '100 kB'],
    [999_700, '1 MB'],
    [22_200_000, '22.2 MB'],
    [4.35e9, '4.35 GB'],
    [3e15, '3000 TB'],
  ],
  percent: [
    [0, '0 %'],
    [0.0005, '<0.1 %'],
    [0.001, '0.1 %'],
    [0.0234, '2.3 %'],
    [0.0996, '10 %'],
    [0.5, '50 %'],
    [1, '100 %'],
  ],
}

for (const [name, rows] of Object.entries(TABLES)) {
  test(`${name}: three digits at most, and a dash for what is not known`, () => {
    for (const [value, text] of rows) assert.equal(readable[name](value), text, String(value))
    for (const unknown of [undefined, null, Number.NaN, Infinity]) assert.equal(readable[name](unknown), '–')
  })
}

test('a figure is written by its unit, and an unknown unit as it came', () => {
  const figures = [
    [{ value: 0.25, unit: 'share of requests' }, '25 % of requests'],
    [{ value: 0.25, unit: 'share' }, '25 %'],
    [{ value: 1500, unit: 'ms' }, '1.5 s'],
    [{ value: 2_000_000, unit: 'bytes' }, '2 MB'],
    [{ value: 90, unit: 's' }, '90 s'],
    [{ value: 3, unit: 'requests' }, '3 requests'],
    [{ value: 3, unit: 'valueOf' }, '3 valueOf'],
    [{ value: 3, unit: '' }, '3'],
  ]
  for (const [figure, text] of figures) assert.equal(readable.figure(figure), text)
})

test('a route is named with its method, where there is one', () => {
  assert.equal(readable.routeName({ method: 'GET', route: '/a' }), 'GET /a')
  assert.equal(readable.routeName({ method: 'GET', route: null }), 'GET (unmatched)')
  assert.equal(readable.routeName({ route: '/a' }), '/a')
})

test('a time that is none is a dash', () => {
  assert.match(readable.timeOfDay('2026-01-02T03:04:05Z'), /^\d\d:\d\d:05$/)
  assert.equal(readable.timeOfDay('soon'), '–')
  assert.equal(readable.dayAndTime(null), '–')
})

for (const [ms, shown] of [
  [0, 0],
  [0.41234, 0.412],
  [5.3, 5.3],
  [51.44889599999999, 51.4],
  [99.96, 100],
  [250.4, 250],
  [12_345.6789, 12_346],
]) {
  test(`${ms} ms is logged as ${shown}`, () => assert.equal(readable.rounded(ms), shown))
}

test('only what is named in milliseconds is rounded', () => {
  assert.deepEqual(
    readable.withRounded({ durationMs: 1.23456, firstByteMs: null, ratio: 1.23456, reason: 'loop' }),
    {
      durationMs: 1.2,
      firstByteMs: null,
      ratio: 1.23456,
      reason: 'loop',
    }
  )
})
