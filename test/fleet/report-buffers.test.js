'use strict'
// ReportBuffers that is lent for a scrape: used again, never by two at once, and let go when nothing has a
// use for it.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ReportBuffers, joinPieces } = require('../../src/features/fleet/reports/report-file')

const same = (a, b) => a.buffer === b.buffer

test('a buffer given back is lent again, if it is large enough', () => {
  const memory = new ReportBuffers()
  const first = memory.lend()
  const [small, large] = [first.take(10), first.take(1000)]
  first.giveBack()
  const second = memory.lend()
  assert.ok(same(second.take(900), large))
  assert.ok(same(second.take(10), small))
  assert.ok(!same(second.take(10), small))
})

test('buffers of a loan that is not given back are not lent again', () => {
  const memory = new ReportBuffers()
  const [first, second] = [memory.lend(), memory.lend()]
  assert.ok(!same(first.take(10), second.take(10)))
})

test('spare buffers that a loan does not take are dropped', () => {
  const memory = new ReportBuffers()
  const first = memory.lend()
  const unused = first.take(10)
  first.giveBack()
  memory.lend().giveBack()
  assert.ok(!same(memory.lend().take(10), unused))
})

test('a lent buffer has the requested length, and pieces are joined in it', () => {
  const loan = new ReportBuffers().lend()
  assert.equal(loan.take(7).length, 7)
  assert.equal(joinPieces([Buffer.from('ab'), Buffer.from(''), Buffer.from('cde')], loan).toString(), 'abcde')
})
