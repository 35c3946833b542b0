'use strict'
// node recycled-worker.js plain | primary: a process that takes more memory than it may, alone or as a worker
// of a primary of ours. Tells what happens to it, one JSON a line.

const cluster = require('node:cluster')
const http = require('node:http')
const { clusterPrimary, createSpillway } = require('../../src/index.js')

const [how] = process.argv.slice(2)
const tell = (what) => console.log(JSON.stringify(what))

if (how === 'primary' && cluster.isPrimary) lead()
else serve()

function lead() {
  const primary = clusterPrimary({ workers: 1, logger: false })
  primary.on('degraded', ({ reason }) => tell({ degraded: reason }))
  primary.on('replaced', ({ reason }) => {
    tell({ replaced: reason })
    process.kill(process.pid, 'SIGTERM')
  })
  process.on('exit', (code) => tell({ code, ...primary.snapshot() }))
}

function serve() {
  const isFirst = cluster.worker === undefined || cluster.worker.id === 1
  const spillway = createSpillway({
    logger: false,
    drain: { timeout: 2000, delay: 0 },
    memory: { recycleAt: isFirst ? 150_000_000 : 0, recycleAfter: 0, minUptime: 500 },
  })
  const kept = []
  const server = http.createServer((_req, res) => res.end('done'))
  spillway.attach(server, { signals: true }).listen(0, '127.0.0.1')
  if (!isFirst) return
  if (how === 'plain')
    for (const event of ['degraded', 'draining'])
      spillway.on(event, ({ reason }) => tell({ [event]: reason }))
  // Below its level until it is old enough; then it grows.
  setTimeout(() => setInterval(() => kept.push(Buffer.alloc(5_000_000, 1)), 50), 1000)
}
