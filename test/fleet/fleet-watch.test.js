'use strict'
// A process without a fleet has one listener for each event, however many instances and copies of the
// package it has.

const assert = require('node:assert/strict')
const cluster = require('node:cluster')
const path = require('node:path')
const { test } = require('node:test')
const { createSpillway } = require('../../src/index.js')

const SRC = path.join(__dirname, '..', '..', 'src')
const listeners = () => [cluster.listenerCount('fork'), process.listenerCount('worker')]

const isOurs = (name) => String(name.description).startsWith('spillway')

/** A copy of the package for which nothing has been required yet, as a suite of jest has its own. */
function requireCopy(t) {
  const before = Object.entries(require.cache).filter(([name]) => name.startsWith(SRC))
  for (const [name] of before) delete require.cache[name]
  t.after(() => Object.assign(require.cache, Object.fromEntries(before)))
  return require('../../src/index.js')
}

test('twenty instances of two copies have the listeners of one, and none remains after close()', (t) => {
  const before = listeners()
  const copy = requireCopy(t)
  assert.notEqual(copy.createSpillway, createSpillway)
  const open = [createSpillway, copy.createSpillway].flatMap((create) =>
    Array.from({ length: 10 }, () => create({ logger: false }))
  )
  assert.deepEqual(
    listeners(),
    before.map((count) => count + 1)
  )
  for (const each of open) each.close()
  assert.deepEqual(listeners(), before)
  assert.deepEqual(
    Object.getOwnPropertySymbols(cluster).filter((name) => cluster[name] !== undefined && isOurs(name)),
    []
  )
})
