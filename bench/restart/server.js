'use strict'
// A server that is restarted under load: how it takes SIGTERM is its argument. Answers take up to 30 ms. Nothing is
// shed, for what comes at once to one that has just started is a matter of its own.

const http = require('node:http')
const { createSpillway } = require('../../src/index.js')

const [how, port, timeoutMs] = process.argv.slice(2)

const server = http.createServer((req, res) => {
  req.resume()
  setTimeout(() => res.end('done'), Math.random() * 30)
})

const WAYS = {
  spillway() {
    const spillway = createSpillway({
      logger: false,
      shed: { mode: 'off' },
      drain: { timeout: Number(timeoutMs) },
    })
    spillway.attach(server, { signals: true })
  },
  // What is found in most servers: it ends when `close` has called back.
  close() {
    process.on('SIGTERM', () => server.close(() => process.exit(0)))
  },
  nothing() {},
}
WAYS[how]()

server.listen(Number(port), '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit(1))
