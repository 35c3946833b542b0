'use strict'
// node process.js <mode>: a server whose requests block the loop, and what it says of each: sends its port,
// and on 'report' all durations since 'begin'.

const { pbkdf2Sync } = require('node:crypto')
const http = require('node:http')
const { createSpillway } = require('../../src/index.js')
const { RequestParts } = require('../../src/core/request/request-parts')

const ITERATIONS = 12_000
let ended = []

const { onEnd } = RequestParts.prototype
RequestParts.prototype.onEnd = function (request) {
  ended.push([request.durationMs, request.unreadMs])
  onEnd.call(this, request)
}

const server = http.createServer((_req, res) => {
  res.end(pbkdf2Sync('secret', 'salt', ITERATIONS, 64, 'sha512').toString('hex'))
})
createSpillway({ logger: false, shed: { mode: /** @type {any} */ (process.argv[2]) } }).attach(server)
server.listen(0, '127.0.0.1', () => process.send?.(/** @type {any} */ (server.address()).port))

process.on('message', (message) => {
  if (message === 'begin') ended = []
  else
    process.send?.({
      durationsMs: ended.map(([durationMs]) => durationMs),
      totalsMs: ended.map(([durationMs, unreadMs]) => durationMs + unreadMs),
    })
})
process.on('disconnect', () => process.exit())
