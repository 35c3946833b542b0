'use strict'
// stalling-server.js in a worker thread, for the tests of stalls. The main thread has no instance of
// Spillway.

const { join } = require('node:path')
const { Worker } = require('node:worker_threads')

const worker = new Worker(join(__dirname, 'stalling-server.js'), { workerData: process.argv.slice(2) })
worker.on('message', (message) => process.send?.(message))
worker.on('exit', () => process.disconnect())
process.on('message', (/** @type {any} */ message) => {
  if (message.command === 'exit') process.exit(message.code)
  worker.postMessage(message)
})
