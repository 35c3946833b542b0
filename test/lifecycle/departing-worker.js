'use strict'
// A primary whose one worker is told to go, and what the primary makes of that.

const cluster = require('node:cluster')
const http = require('node:http')
const { createSpillway } = require('../../src/index.js')

if (cluster.isPrimary) {
  const worker = cluster.fork()
  worker.once('listening', () => worker.process.kill('SIGTERM'))
  worker.on('exit', (code, signal) => {
    console.log(JSON.stringify({ code, signal, isVoluntary: worker.exitedAfterDisconnect }))
  })
} else {
  const spillway = createSpillway({ logger: false })
  spillway
    .attach(
      http.createServer((_req, res) => res.end('done')),
      { signals: true }
    )
    .listen(0, '127.0.0.1')
}
