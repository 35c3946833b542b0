'use strict'
// Two workers that share a port.
const cluster = require('node:cluster')
const http = require('node:http')

if (cluster.isPrimary) {
  const workers = [cluster.fork(), cluster.fork()]
  let listening = 0
  cluster.on('listening', (_worker, { port }) => {
    if (++listening === workers.length) console.log(`port ${port}`)
  })
  process.stdin.resume().on('end', () => cluster.disconnect())
} else {
  http
    .createServer((_req, res) => {
      res.setHeader('connection', 'close')
      res.end('a worker')
    })
    .listen(0, '127.0.0.1')
}
