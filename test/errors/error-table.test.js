'use strict'
// Errors counted by route, status and type, and what is folded where there are too many combinations.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ErrorTable } = require('../../src/core/errors/error-table')
const { Failure } = require('../../src/core/errors/failure')

let wallMs = 0

const shown = (table) =>
  table.sample().map(({ row: { route, status, type }, count }) => [route, status, type, count])

test('errors are counted by route, status and type', () => {
  const table = new ErrorTable('(other)', { wallMs: () => wallMs })
  for (const type of ['TypeError', 'RangeError', 'TypeError'])
    table.count({ route: '/a' }, { status: 500, type })
  table.count({ route: '/a' }, { status: 400, type: 'TypeError' })
  table.count({ route: '/b' }, { status: 500, type: 'TypeError' })
  assert.deepEqual(shown(table), [
    ['/a', 500, 'TypeError', 2],
    ['/a', 500, 'RangeError', 1],
    ['/a', 400, 'TypeError', 1],
    ['/b', 500, 'TypeError', 1],
  ])
})

test('after a thousand combinations new ones are folded, and known ones still count', () => {
  const table = new ErrorTable('(other)', { wallMs: () => wallMs })
  for (let i = 0; i < 5000; i++) table.count({ route: `/r${i}` }, { status: 500 + (i % 2), type: `E${i}` })
  table.count({ route: '/r7' }, { status: 501, type: 'E7' })
  const rows = shown(table)
  assert.equal(rows.length, 1002)
  assert.deepEqual(rows[7], ['/r7', 501, 'E7', 2])
  assert.deepEqual(rows.slice(1000), [
    ['(other)', 500, '_OTHER', 2000],
    ['(other)', 501, '_OTHER', 2000],
  ])
})

test('a row is the same object in every sample, because its labels are cached on it', () => {
  const table = new ErrorTable('(other)', { wallMs: () => wallMs })
  table.count({ route: '/a' }, { status: 500, type: 'Error' })
  assert.equal(table.sample()[0].row, table.sample()[0].row)
})

test('a row has the place of its first error, and of later ones whose stack was written for the log', () => {
  const table = new ErrorTable('(other)', { wallMs: () => wallMs })
  const count = (line, isDescribed) => {
    const stack = `TypeError: no\n    at applyCoupon (/srv/orders.js:${line}:9)\n    at node:internal/x:1:1`
    table.count({ route: '/a' }, { status: 500, type: 'TypeError', stack, isDescribed })
    return table.sample()[0].row.place
  }
  assert.equal(count(4, false), '/srv/orders.js:4:9')
  assert.equal(count(7, false), '/srv/orders.js:4:9')
  assert.equal(count(8, true), '/srv/orders.js:8:9')
  table.count({ route: '/b' }, { status: 500, type: 'Error' })
  assert.equal(table.sample()[1].row.place, null)
})

test('a row says when and by which method the last error came, and the message beside its place', () => {
  const table = new ErrorTable('(other)', { wallMs: () => wallMs })
  const count = (atMs, method, message, isDescribed) => {
    wallMs = atMs
    table.count({ route: '/a', method }, { status: 500, type: 'TypeError', message, isDescribed })
    const { lastAtMs, ...row } = table.sample()[0].row
    return [lastAtMs, row.method, row.message]
  }
  assert.deepEqual(count(1000, 'GET', 'no customer', false), [1000, 'GET', 'no customer'])
  assert.deepEqual(count(2000, 'POST', 'no price', false), [2000, 'POST', 'no customer'])
  assert.deepEqual(count(3000, undefined, 'no price'.repeat(100), true), [
    3000,
    null,
    'no price'.repeat(100).slice(0, 300),
  ])
  assert.deepEqual(count(4000, 'GET', '', true), [4000, 'GET', null])
})

test('an error that was described for the log gives its place', () => {
  const table = new ErrorTable('(other)', { wallMs: () => wallMs })
  const fail = () => new Failure(new TypeError('no'))
  table.count({ route: '/a' }, fail())
  const [{ row }] = table.sample()
  assert.match(String(row.place), /error-table\.test\.js:\d+:\d+$/)
  row.place = null
  table.count({ route: '/a' }, fail())
  assert.equal(row.place, null)
  const logged = fail()
  logged.describe()
  table.count({ route: '/a' }, logged)
  assert.match(String(row.place), /error-table\.test\.js:\d+:\d+$/)
})
