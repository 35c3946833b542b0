'use strict'
// A worker whose primary dies between its last request and its goodbye: in one turn, so that its channel
// still seems to be there.

const cluster = require('node:cluster')
const { readFileSync, writeSync } = require('node:fs')
const http = require('node:http')
const { createSpillway } = require('../../src/index.js')

/** Its parent has yet to ask for its exit code, but its descriptors are closed. */
function isRunning(pid) {
  try {
    return !/^\S+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

function outlivePrimary(_fields, message) {
  if (message !== 'spillway: drained') return
  const primary = process.ppid
  process.kill(primary, 'SIGKILL')
  while (isRunning(primary));
}

if (cluster.isPrimary) {
  const worker = cluster.fork()
  worker.once('listening', () => worker.process.kill('SIGTERM'))
} else {
  process.on('exit', (code) => writeSync(1, `worker exits with ${code}\n`))
  const server = http.createServer((_req, res) => res.end('done'))
  const spillway = createSpillway({ logger: { warn: outlivePrimary, error() {} } })
  spillway.attach(server, { signals: true }).listen(0, '127.0.0.1')
}
