'use strict'
// The tables that `npm run bench -- tables` writes, from the results that are saved.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { inOrder } = require('../../bench/support/results')
const { TABLES } = require('../../bench/tables/tables')

test('Node 24 comes first, then the other majors from new to old, each once', () => {
  assert.deepEqual(inOrder([20, 26, 24, 22, 24]), [24, 26, 22, 20])
  assert.deepEqual(inOrder([20, 22]), [22, 20])
})

for (const [name, tableOf] of Object.entries(TABLES)) {
  test(`the table '${name}' has no figure missing`, () => {
    const text = tableOf()
    assert.ok(text.length > 100, text)
    assert.doesNotMatch(text, /undefined|NaN|(?<!\/dev\/)null/)
  })
}

for (const name of Object.keys(TABLES).filter((each) => each !== 'benches')) {
  test(`the table '${name}' says on which Node it was measured, and how`, () => {
    assert.match(TABLES[name](), /`npm run bench -- [\w-]+.*`, \d{4}-\d\d-\d\d: .*, Node v\d+\.\d+\.\d+\./)
  })
}
