'use strict'
// stalling-server.js in a cluster worker: the primary passes the messages of the test on.

const cluster = require('node:cluster')
const path = require('node:path')

cluster.setupPrimary({ exec: path.join(__dirname, 'stalling-server.js'), args: process.argv.slice(2) })
const worker = cluster.fork()
worker.on('message', (message) => process.send?.(message))
worker.on('exit', (code) => process.exit(code))
process.on('message', (/** @type {any} */ message) => worker.send(message))
