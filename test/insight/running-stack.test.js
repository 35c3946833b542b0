'use strict'
// What is read of the running code, and that the application's own ways with errors stay as they are.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { readRunningStack } = require('../../src/insight/running-stack')

/** As the inspector calls it: `ask` in a script of its own, whose frame is left out. */
const ask = () => readRunningStack(ask)
const script = (read) => read()
const read = () => script(ask)

function inner() {
  return read()
}
function outer() {
  return [1].map(() => inner())[0]
}

test('the innermost function first, with its file, its line and where it begins, without functions of V8', () => {
  const [first, second] = outer()
    .filter(({ name }) => name !== 'read')
    .slice(0, 2)
  assert.deepEqual([first.name, first.url], ['inner', __filename])
  assert.equal(first.line, first.begin + 1)
  assert.equal(second.line, first.line + 3)
  assert.ok(outer().every(({ name }) => name !== 'map'))
})

test('code that awaits is not on the stack', async () => {
  async function waiting() {
    return await running()
  }
  async function running() {
    await null
    return read()
  }
  const names = (await waiting()).map(({ name }) => name)
  assert.ok(names.includes('running') && !names.includes('waiting'), String(names))
})

const descriptors = () =>
  ['prepareStackTrace', 'stackTraceLimit'].map((name) => Object.getOwnPropertyDescriptor(Error, name))

for (const [what, change] of Object.entries({
  'of its own': () => {
    Error.prepareStackTrace = () => 'mine'
    Error.stackTraceLimit = 0
  },
  'of none': () => {
    delete Error.prepareStackTrace
    delete (/** @type {any} */ (Error).stackTraceLimit)
  },
}))
  test(`an application with a form of stacks ${what} keeps it, and the stack is read`, (t) => {
    const before = descriptors()
    t.after(() => {
      for (const [at, name] of ['prepareStackTrace', 'stackTraceLimit'].entries())
        if (before[at] === undefined) delete Error[name]
        else Object.defineProperty(Error, name, before[at])
    })
    change()
    const changed = descriptors()
    assert.ok(inner().some(({ name }) => name === 'inner'))
    assert.deepEqual(descriptors(), changed)
  })

test('where errors may not be changed nothing is read, and nothing is thrown', (t) => {
  const [, before] = descriptors()
  t.after(() => Object.defineProperty(Error, 'stackTraceLimit', /** @type {any} */ (before)))
  Object.defineProperty(Error, 'stackTraceLimit', { value: 10, writable: false })
  assert.deepEqual(inner(), [])
})
