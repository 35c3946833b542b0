'use strict'
// Errors counted by route, status and type, and what is folded where there are too many combinations.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ErrorTable } = require('../../src/core/errors/error-table')

const shown = (table) =>
  table.sample().map(({ row: { route, status, type }, count }) => [route, status, type, count])

test('errors are counted by route, status and type', () => {
  const table = new ErrorTable('(other)')
  for (const type of ['TypeError', 'RangeError', 'TypeError']) table.count('/a', { status: 500, type })
  table.count('/a', { status: 400, type: 'TypeError' })
  table.count('/b', { status: 500, type: 'TypeError' })
  assert.deepEqual(shown(table), [
    ['/a', 500, 'TypeError', 2],
    ['/a', 500, 'RangeError', 1],
    ['/a', 400, 'TypeError', 1],
    ['/b', 500, 'TypeError', 1],
  ])
})

test('after a thousand combinations new ones are folded, and known ones still count', () => {
  const table = new ErrorTable('(other)')
  for (let i = 0; i < 5000; i++) table.count(`/r${i}`, { status: 500 + (i % 2), type: `E${i}` })
  table.count('/r7', { status: 501, type: 'E7' })
  const rows = shown(table)
  assert.equal(rows.length, 1002)
  assert.deepEqual(rows[7], ['/r7', 501, 'E7', 2])
  assert.deepEqual(rows.slice(1000), [
    ['(other)', 500, '_OTHER', 2000],
    ['(other)', 501, '_OTHER', 2000],
  ])
})

test('a row is the same object in every sample, because its labels are cached on it', () => {
  const table = new ErrorTable('(other)')
  table.count('/a', { status: 500, type: 'Error' })
  assert.equal(table.sample()[0].row, table.sample()[0].row)
})
