'use strict'
// Whether callbacks need a context: as long as any part has turned the context on.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { AsyncContext } = require('../../src/core/request/async-context')

test('the context is on while any part needs it, and always where it is cheap', () => {
  const context = new AsyncContext(/** @type {any} */ ({}))
  const seen = [context.isOn]
  for (const step of ['turnOn', 'turnOn', 'turnOff', 'turnOff']) {
    context[step]()
    seen.push(context.isOn)
  }
  const off = AsyncContext.isCheap
  assert.deepEqual(seen, [off, true, true, true, off])
})

test('a closed context is off', () => {
  const context = new AsyncContext(/** @type {any} */ ({}))
  context.turnOn()
  context.close()
  assert.equal(context.isOn, false)
})
