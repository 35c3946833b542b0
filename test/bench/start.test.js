'use strict'
// `npm run bench -- start`: what counts as a file of a package, and the medians over the runs.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { countFiles, rowsOf } = require('../../bench/start/figures')

test('files are those of the package itself, wherever its dependencies are installed', () => {
  const express = ['/app/node_modules/express/index.js', '/app/node_modules/express/lib/view.js']
  const nested = '/app/node_modules/express/node_modules/qs/index.js'
  assert.deepEqual(countFiles([...express, nested], 'express'), { ownFiles: 2, dependencyFiles: 1 })
  const api = [
    '/app/node_modules/@opentelemetry/api/index.js',
    '/app/node_modules/@opentelemetry/core/index.js',
  ]
  assert.deepEqual(countFiles(api, '@opentelemetry/api'), { ownFiles: 1, dependencyFiles: 1 })
  const windows = 'C:\\app\\node_modules\\express\\index.js'
  assert.deepEqual(countFiles([windows], 'express'), { ownFiles: 1, dependencyFiles: 0 })
})

test('a package whose name begins with that of another is a dependency', () => {
  const bundle = '/app/node_modules/express-prom-bundle/src/index.js'
  assert.deepEqual(countFiles([bundle], 'express'), { ownFiles: 0, dependencyFiles: 1 })
})

test('files of spillway are in no node_modules', () => {
  const files = ['/app/src/index.js', '/app/package.json', '/app/node_modules/pino/pino.js']
  assert.deepEqual(countFiles(files, 'spillway'), { ownFiles: 2, dependencyFiles: 1 })
})

const runOf = (readyMs, heapMb, waitedMs = 0) => ({ readyMs, waitedMs, heapMb, rssMb: 10 * heapMb })

test('a row has the medians of its runs, and how far they scatter', () => {
  const runs = { http: [runOf(40, 4), runOf(100, 5), runOf(41.26, 4.1), runOf(43, 4.2), runOf(42, 4.4)] }
  const [row] = rowsOf(runs, { http: {} })
  const medians = { readyMs: 42, waitedMs: 0, heapMb: 4.2, rssMb: 42 }
  assert.deepEqual(row, { variant: 'http', ...medians, plusMinusMs: 0.9, isDisturbed: false })
})

test('what a variant adds is the median difference in the same round, not the difference of the medians', () => {
  // The machine is three times as slow in the first round.
  const runs = {
    http: [runOf(120, 4), runOf(40, 4), runOf(41, 4)],
    express: [runOf(300, 6), runOf(100, 6.5), runOf(99, 6.2)],
  }
  const [http, express] = rowsOf(runs, { http: {}, express: { over: 'http' } })
  assert.equal(http.added, undefined)
  assert.equal(express.readyMs, 100)
  assert.deepEqual([express.over, express.added], ['http', { readyMs: 60, heapMb: 2.2, rssMb: 22 }])
})

test('a row is disturbed if most of its runs waited for a core', () => {
  const disturbed = (...waits) =>
    rowsOf({ http: waits.map((waitedMs) => runOf(85, 4, waitedMs)) }, { http: {} })[0].isDisturbed
  assert.equal(disturbed(16, 16, 0), true)
  assert.equal(disturbed(14, 14, 900), false)
})
