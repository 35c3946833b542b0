'use strict'
// What is read of the running code, and that the application's own ways with errors stay as they are.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { createStackReader } = require('../../src/features/stalls/running-stack')

const readStack = createStackReader()

/** As the inspector calls it: `ask` in a script of its own, whose frame is left out. */
const ask = () => readStack(ask)
const script = (read) => read()
const read = () => script(ask)

function inner() {
  return read()
}
function outer() {
  return [1].map(() => inner())[0]
}

test('the innermost function first, with its file, its line and where it begins; a function of V8 has no line', () => {
  const [first, second] = outer()
    .filter(({ name }) => name !== 'read')
    .slice(0, 2)
  assert.deepEqual([first.name, first.url], ['inner', __filename])
  assert.equal(first.line, first.begin + 1)
  assert.equal(second.line, first.line + 3)
  const ofV8 = outer().filter(({ line }) => line === 0)
  assert.deepEqual([ofV8[0].name, ofV8[0].url], ['Array.map', ''])
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

test("an application's own ways with errors are not touched, and do not matter", (t) => {
  const names = ['prepareStackTrace', 'stackTraceLimit']
  const before = names.map((name) => Object.getOwnPropertyDescriptor(Error, name))
  t.after(() => {
    for (const [at, name] of names.entries())
      if (before[at] === undefined) delete Error[name]
      else Object.defineProperty(Error, name, before[at])
  })
  /** @type {string[]} */
  const touched = []
  for (const name of names)
    Object.defineProperty(Error, name, {
      configurable: true,
      get: () => void touched.push(`get ${name}`),
      set: () => void touched.push(`set ${name}`),
    })
  const frames = inner()
  assert.deepEqual(touched, [])
  assert.ok(frames.some(({ name }) => name === 'inner'))
})
