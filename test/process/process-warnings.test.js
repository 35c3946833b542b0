'use strict'
// Warnings of the process are counted by name, within bounds, and printed by Node as before.

const assert = require('node:assert/strict')
const { EventEmitter } = require('node:events')
const { test } = require('node:test')
const { ProcessWarnings } = require('../../src/core/process/process-warnings')
const { FakeClock } = require('../support/fake-clock')
const { runNode } = require('../support/run-node')

const emit = (warning) => process.listeners('warning').at(-1)?.(warning)

function warningsFor(t) {
  const warnings = new ProcessWarnings({ clock: /** @type {any} */ (new FakeClock()), isOn: true })
  warnings.start()
  t.after(() => warnings.close())
  return warnings
}

test('warnings are counted by name, and the latest messages are kept without secrets', (t) => {
  const warnings = warningsFor(t)
  const leak = { name: 'MaxListenersExceededWarning', message: '11 end listeners added' }
  emit(leak)
  emit(leak)
  emit({ name: 'DeprecationWarning', message: 'see https://user:secret@host/' })
  const { counts, recent } = warnings.list()
  assert.deepEqual(counts, { MaxListenersExceededWarning: 2, DeprecationWarning: 1 })
  assert.deepEqual(
    recent.map(({ name, count }) => [name, count]),
    [
      ['DeprecationWarning', 1],
      ['MaxListenersExceededWarning', 2],
    ]
  )
  assert.doesNotMatch(JSON.stringify(recent), /secret/)
})

test('a warning of too many listeners has how many there are by now', (t) => {
  const warnings = warningsFor(t)
  const name = 'MaxListenersExceededWarning'
  const emitter = new EventEmitter().setMaxListeners(0)
  const target = new EventTarget()
  emit({ name, message: 'emitter', emitter, type: 'price' })
  emit({ name, message: 'target', target, type: 'abort' })
  emit({ name, message: 'hostile', emitter: {}, type: 'price' })
  for (let i = 0; i < 20; i++) emitter.on('price', () => {})
  target.addEventListener('abort', () => {})
  assert.deepEqual(
    warnings.list().recent.map(({ message, listeners }) => [message, listeners]),
    [
      ['hostile', undefined],
      ['target', 1],
      ['emitter', 20],
    ]
  )
})

test('names, messages and their length are bounded; a value that cannot be read is left out', (t) => {
  const warnings = warningsFor(t)
  for (let i = 0; i < 100; i++) emit({ name: `Warning${i}`, message: 'x'.repeat(10_000) + i })
  emit({ name: 'no name\n', message: 'b' })
  emit({
    get name() {
      throw new Error('unreadable')
    },
  })
  emit(null)
  const { counts, recent } = warnings.list()
  assert.equal(Object.keys(counts).length, 31)
  assert.equal(counts._OTHER, 72)
  assert.equal(recent.length, 10)
  assert.ok(recent.every(({ message }) => message.length <= 300))
})

test('close() removes the listener, and `insight: false` adds none', (t) => {
  const before = process.listenerCount('warning')
  const warnings = warningsFor(t)
  assert.equal(process.listenerCount('warning'), before + 1)
  warnings.close()
  const off = new ProcessWarnings({ clock: /** @type {any} */ (new FakeClock()), isOn: false })
  off.start()
  assert.equal(process.listenerCount('warning'), before)
})

const LEAKING = `
  const { EventEmitter } = require('node:events')
  const { createSpillway } = require('./src/index.js')
  const spillway = createSpillway({ logger: false })
  const emitter = new EventEmitter()
  for (let i = 0; i < 11; i++) emitter.on('end', () => {})
  setImmediate(() => console.log(JSON.stringify(spillway.snapshot().warnings)))`

test('a listener leak is counted once Node warns of it, with the line that adds the listener', async (t) => {
  const { output } = await runNode(LEAKING, { t })
  assert.deepEqual(output.counts, { MaxListenersExceededWarning: 1 })
  assert.match(output.recent[0].at, /^\[eval\]:6:\d+$/)
})

test('the place of a warning is of the application, or else of a package, and never of Spillway or Node', (t) => {
  const warnings = warningsFor(t)
  const at = (...frames) => {
    const message = frames.join(' ')
    emit({ name: 'MaxListenersExceededWarning', message, stack: ['Warning', ...frames].join('\n') })
    return warnings.list().recent[0].at
  }
  const node = '    at _addListener (node:events:600:17)'
  const own = `    at use (${require.resolve('../../src/core/http/express')}:9:9)`
  const ofPackage = '    at hook (/srv/node_modules/etag/index.js:3:5)'
  assert.equal(at(node, own, ofPackage, '    at addEtag (/srv/app.js:31:21)'), '/srv/app.js:31:21')
  assert.equal(at(node, own, ofPackage), '/srv/node_modules/etag/index.js:3:5')
  assert.equal(at(node, own), null)
  emit({ name: 'MaxListenersExceededWarning', message: 'without a stack' })
  assert.equal(warnings.list().recent[0].at, null)
})

test('a hundred instances have one listener, and none remains after they are closed', () => {
  const before = process.listenerCount('warning')
  const all = Array.from(
    { length: 100 },
    () => new ProcessWarnings({ clock: /** @type {any} */ (new FakeClock()), isOn: true })
  )
  for (const each of all) each.start()
  assert.equal(process.listenerCount('warning'), before + 1)
  emit({ name: 'DeprecationWarning', message: 'old' })
  assert.ok(all.every((each) => each.list().counts.DeprecationWarning === 1))
  for (const each of all) each.close()
  assert.equal(process.listenerCount('warning'), before)
})
