'use strict'
// Which requests have lasted for so long that they wait for something else, in generations told by hand.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Lasting } = require('../../src/admission/lasting')

test('those that have lasted for one to two generations are told from the others, and all are gone in the end', () => {
  const lasting = new Lasting(0)
  for (let i = 0; i < 10; i++) lasting.noteAdmit()
  lasting.noteTurn(999, 0)
  assert.equal(lasting.count, 0)
  lasting.noteTurn(1000, 0)
  lasting.noteAdmit()
  assert.equal(lasting.count, 0)
  lasting.noteTurn(2000, 0)
  assert.equal(lasting.count, 10)
  lasting.noteEnd(0)
  lasting.noteEnd(1000.5)
  assert.equal(lasting.count, 9)
  for (let i = 0; i < 9; i++) lasting.noteEnd(0)
  for (const nowMs of [3000, 4000, 5000]) lasting.noteTurn(nowMs, 0)
  assert.equal(lasting.count, 0)
})

test('a generation is as long as it is told', () => {
  const lasting = new Lasting(0)
  lasting.noteAdmit()
  for (let nowMs = 0; nowMs < 10_000; nowMs += 100) lasting.noteTurn(nowMs, 5000)
  assert.equal(lasting.count, 0)
  lasting.noteTurn(10_000, 5000)
  assert.equal(lasting.count, 1)
})
