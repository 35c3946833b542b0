'use strict'
// node server.js <how> <port> <timeout>: a server that is restarted under load, and how it takes SIGTERM.
// Answers take up to 30 ms. Shedding is off, because a crowd at a process that has just started is not what
// this bench measures.

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
