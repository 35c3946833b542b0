'use strict'
// How figures read on the page and in the report.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const format = require('../../src/features/admin/page/format')

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
    [12.6, '13'],
  ],
  duration: [
    [0, '0 ms'],
    [0.001, '0.01 ms'],
    [0.25, '0.25 ms'],
    [1, '1 ms'],
    [9.94, '9.9 ms'],
    [10, '10 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [2500, '2.5 s'],
  ],
  seconds: [
    [10, '10 s'],
    [119, '119 s'],
    [120, '2 min'],
    [7199, '120 min'],
    [7200, '2 h'],
    [172_800, '2 days'],
  ],
  bytes: [
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1 kB'],
    [1500, '1.5 kB'],
    [10_400_000, '10 MB'],
    [3e15, '3000 TB'],
  ],
  percent: [
    [0, '0 %'],
    [0.0005, '< 0.1 %'],
    [0.001, '0.1 %'],
    [0.0234, '2.3 %'],
    [0.5, '50 %'],
    [1, '100 %'],
  ],
}

for (const [name, rows] of Object.entries(TABLES)) {
  test(`${name}: three digits at most, and a dash for what is not known`, () => {
    for (const [value, text] of rows) assert.equal(format[name](value), text)
    for (const unknown of [undefined, null, Number.NaN, Infinity]) assert.equal(format[name](unknown), '–')
  })
}

test('a figure of a finding is written by its unit, and an unknown unit as it came', () => {
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
  for (const [figure, text] of figures) assert.equal(format.evidence(figure), text)
})

test('a route is named with its method, where there is one', () => {
  assert.equal(format.routeName({ method: 'GET', route: '/a' }), 'GET /a')
  assert.equal(format.routeName({ method: 'GET', route: null }), 'GET (unmatched)')
  assert.equal(format.routeName({ route: '/a' }), '/a')
})
