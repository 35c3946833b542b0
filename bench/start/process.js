'use strict'
// node --expose-gc process.js <variant>: starts an application once, and sends how long it took and what it
// holds.

const fs = require('node:fs')
const http = require('node:http')
const { countFiles } = require('./figures')
const { VARIANTS } = require('./variants')

const MB = 2 ** 20
const MS = 1_000_000

/** How long the main thread has waited for a core, on Linux. Other processes delay a start by that much. */
function waitedMs() {
  try {
    return Number(fs.readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / MS
  } catch {
    return 0
  }
}

/** Time since the process began, less what others took. */
const nowMs = () => performance.now() - waitedMs()

/** @param {import('./variants').Variant} variant */
function start({ framework, load, setUp, package: name }) {
  const given = framework?.()
  const before = new Set(Object.keys(require.cache))
  const beforeMs = nowMs()
  const loaded = load?.()
  const loadedMs = nowMs()
  const report = (readyMs, times) => {
    const files = Object.keys(require.cache).filter((file) => !before.has(file))
    const timed = { readyMs, waitedMs: waitedMs(), requireMs: loadedMs - beforeMs, ...times }
    globalThis.gc?.()
    const { heapUsed, rss } = process.memoryUsage()
    process.send?.({ ...timed, heapMb: heapUsed / MB, rssMb: rss / MB, ...countFiles(files, name) })
  }
  if (setUp === undefined) return report(loadedMs, {})
  const express = name === 'express' ? loaded : given
  const app = express?.()
  const server = http.createServer(app)
  setUp(loaded, app, server)
  app?.get('/hello', (_req, res) => res.json({ hello: 'world' }))
  const setUpMs = nowMs()
  server.listen(0, '127.0.0.1', () => {
    const readyMs = nowMs()
    // What the start left to the same turn of the loop is in the memory and the files.
    setImmediate(report, readyMs, { setUpMs: setUpMs - loadedMs, listenMs: readyMs - setUpMs })
  })
}

process.on('disconnect', () => process.exit())
start(VARIANTS[process.argv[2]])
