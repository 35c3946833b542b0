'use strict'
// The names the package exports, the same for require and import.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const required = require('spillway')

/** What Node adds to every CommonJS module that is imported. */
const ADDED = ['default', 'module.exports']

test('the package is src/index.js', () => {
  assert.equal(required, require('../../src/index.js'))
  assert.deepEqual(Object.keys(required).sort(), [
    'OverloadError',
    'SpillwayError',
    'clusterPrimary',
    'createSpillway',
  ])
})

test('`import * as` has exactly the names that require gives, and the same values', async () => {
  const imported = await import('spillway')
  const names = Object.keys(imported).filter((name) => !ADDED.includes(name))
  assert.deepEqual(names, Object.keys(required).sort())
  for (const name of names) assert.equal(imported[name], required[name])
  assert.equal(imported.default, required)
})

test('`import { createSpillway }` works', async () => {
  const { imported } = await import('./named-import.mjs')
  assert.deepEqual(imported, { ...required })
})

test('package.json can be required, and no file of src/', () => {
  assert.equal(require('spillway/package.json').name, 'spillway')
  for (const path of ['spillway/src/options.js', 'spillway/src', 'spillway/index.d.ts']) {
    assert.throws(() => require(path), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' })
  }
})
