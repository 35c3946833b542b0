'use strict'
// The names the package exports, the same for require and import.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { test } = require('node:test')
const express = require('express')
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

test('members work wherever they are handed: taken out of the instance, or given to listen() and the like', async (t) => {
  const {
    attach,
    close,
    errorHandler,
    express: measured,
    ready,
    snapshot,
  } = required.createSpillway({
    logger: false,
    health: { manual: true },
  })
  t.after(close)
  const app = express()
  app.use(measured())
  app.get('/', () => {
    throw new Error('no')
  })
  app.use(errorHandler())
  const server = attach(app.listen(0, '127.0.0.1'))
  t.after(() => server.close().closeAllConnections())
  server.once('listening', ready)
  await once(server, 'listening')
  const get = async (path) => (await fetch(`http://127.0.0.1:${server.address().port}${path}`)).status
  assert.deepEqual([await get('/readyz'), await get('/')], [200, 500])
  assert.deepEqual(
    snapshot().errors.map(({ route }) => route),
    ['/']
  )
})

test('and so do those of clusterPrimary()', async () => {
  const exec = require.resolve('../../src/core/clock.js')
  const { snapshot, stop } = required.clusterPrimary({ workers: 1, exec, logger: false, signals: false })
  const stopped = stop()
  assert.equal(snapshot().workers[0].state, 'leaving')
  await stopped
  assert.deepEqual(snapshot().workers, [])
})
