'use strict'
// node process.js <seconds> <attached | without>: an idle server, which sends how often it gave its core back
// to the kernel.

const http = require('node:http')
const { createSpillway } = require('../../src/index.js')

/** V8 collects once more, 8 to 30 seconds after the start, which takes some 90 wake-ups. */
const SETTLE_MS = 40_000

function serve(seconds, isAttached) {
  const server = http.createServer((_req, res) => res.end('hello'))
  if (isAttached) createSpillway().attach(server)
  server.listen(0, '127.0.0.1')
  const wakeUps = () => process.resourceUsage().voluntaryContextSwitches
  setTimeout(() => {
    const before = wakeUps()
    setTimeout(() => process.send?.({ wakeUps: wakeUps() - before }, () => process.exit()), seconds * 1000)
  }, SETTLE_MS)
}

const [seconds, variant] = process.argv.slice(2)
serve(Number(seconds), variant === 'attached')
