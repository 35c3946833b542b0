'use strict'
// createSpillway() called for each request: told once, with the line of the call, and never in a test run.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { join } = require('node:path')
const { test } = require('node:test')
const { OpenInstances } = require('../../src/core/lifecycle/lifecycle')
const { outsideTests } = require('../support/outside-tests')

const MANY = 100
const added = (instances, count) => Array.from({ length: count }, () => instances.add()).filter(Boolean)

test('the hundredth open instance is one too many, and no other', () => {
  const instances = new OpenInstances(() => false)
  assert.deepEqual(added(instances, MANY - 1), [])
  const [sentence, ...more] = added(instances, 50)
  assert.match(
    sentence,
    /^100 instances are open in this process\. .*move the call to the start of the process\./
  )
  assert.deepEqual(more, [])
})

test('closed instances do not count', () => {
  const instances = new OpenInstances(() => false)
  for (let i = 0; i < 3 * MANY; i++) {
    assert.equal(instances.add(), undefined)
    instances.remove()
  }
})

test('a test run may leave any number of instances open', () => {
  assert.deepEqual(added(new OpenInstances(() => true), 2 * MANY), [])
})

/** @param {string} onRequest what a handler does, each time */
function mistakesOf(onRequest) {
  const script = `const { createSpillway } = require('./src')
    const lines = []
    const note = (fields, message) => lines.push([fields.mistake, fields.at, message])
    const options = { logger: { info() {}, warn: note, error: note } }
    const handler = () => {
      ${onRequest}
    }
    for (let i = 0; i < ${2 * MANY}; i++) handler()
    console.log(JSON.stringify(lines))`
  const stdout = execFileSync(process.execPath, ['-e', script], {
    cwd: join(__dirname, '..', '..'),
    encoding: 'utf8',
    env: outsideTests(),
  })
  return JSON.parse(stdout)
}

test('a handler that calls createSpillway() is named once, and a handler that closes its instance is not', () => {
  const [[mistake, at, message], ...more] = mistakesOf('createSpillway(options)')
  assert.deepEqual(more, [])
  assert.deepEqual([mistake, at], ['many-instances', '[eval]:6:7'])
  assert.match(message, /^spillway: \[eval\]:6: 100 instances are open/)
  assert.deepEqual(mistakesOf('createSpillway(options).close()'), [])
})
