'use strict'
// Prints the files of src/ that a request enters, as JSON. Express 5 answers the request, with attach(),
// express() and errorHandler(). A file is entered if one of its functions is called for the request. Calls
// that spillway makes once a loop turn or from a timer do not count: on a slow machine, a timer runs during
// each request. A process of its own: V8 counts only the calls of functions that were compiled after its
// coverage began.

const { once } = require('node:events')
const { Session } = require('node:inspector')
const { connect } = require('node:net')
const { join } = require('node:path')
const timers = require('node:timers')
const { pathToFileURL } = require('node:url')
const express = require('express')

const REQUESTS = 100
const WARM_UP = 50
const SRC = `${pathToFileURL(join(__dirname, '..', '..', 'src')).href}/`

const session = new Session()

/** The files of the functions that were called since the last time. The session answers at once. */
function takeFiles() {
  let files = []
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error !== null) throw error
    files = result.filter(({ url, functions }) => url.startsWith(SRC) && functions.some(isCalled))
  })
  return files.map(({ url }) => url.slice(SRC.length))
}

/** The function that begins a file is the module itself, which runs when it is required. */
const isCalled = ({ ranges: [{ count, startOffset }] }) => count > 0 && startOffset > 0

/**
 * Calls back in the check phase of each loop turn, after all that was set up so before. Keeps no loop
 * turning.
 */
function eachTurn(callback) {
  setImmediate(() => {
    eachTurn(callback)
    callback()
  }).unref()
}

/**
 * From now on, `before` and `after` run around the callback of each timer that src/core/clock.js sets. It
 * reads Node's when it is required.
 */
function aroundTimers(before, after) {
  const setTimer = timers.setTimeout
  const replaced = /** @type {any} */ (timers)
  replaced.setTimeout = (callback, delayMs) =>
    setTimer(() => {
      before()
      callback()
      after()
    }, delayMs)
}

/** @param {any} spillway */
function applicationWith(spillway) {
  const router = express.Router()
  router.get('/:id', (req, res) => res.json({ id: req.params.id }))
  const app = express()
  app.use(spillway.express())
  app.use('/orders', router)
  app.use(spillway.errorHandler())
  return app
}

async function main() {
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  /** The files that the current request has entered. */
  let entered = new Set()
  const keepFiles = () => {
    for (const file of takeFiles()) entered.add(file)
  }
  aroundTimers(keepFiles, takeFiles)
  // Spillway's own work of a turn runs between the two.
  eachTurn(keepFiles)
  const { createSpillway } = require('../../src/index')
  // A busy machine stalls, and after a stall the context of each request is kept.
  const spillway = createSpillway({ logger: false, insight: { stallThreshold: 60_000 } })
  eachTurn(takeFiles)

  const server = applicationWith(spillway).listen(0, '127.0.0.1')
  spillway.attach(server)
  await once(server, 'listening')
  // A bare connection, because spillway also watches Node's HTTP client.
  const client = connect(/** @type {any} */ (server.address()).port, '127.0.0.1').setEncoding('utf8')
  const counts = new Map()
  for (let i = 0; i < WARM_UP + REQUESTS; i++) {
    entered = new Set()
    client.write(`GET /orders/${i} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const [answer] = await once(client, 'data')
    if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(answer)
    // The response has closed. Its calls are taken in the check phase, before this immediate.
    await new Promise(setImmediate)
    if (i >= WARM_UP) for (const file of entered) counts.set(file, (counts.get(file) ?? 0) + 1)
  }
  client.destroy()
  server.close()
  spillway.close()
  session.disconnect()
  // Few requests are among the slowest of the minute, and few see a collection.
  const usual = [...counts].filter(([, count]) => count > REQUESTS / 2).map(([file]) => file)
  process.stdout.write(JSON.stringify(usual))
}

main()
