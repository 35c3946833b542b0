'use strict'
// node server.js <none|gate|age>: a service whose requests take 50 ms of something else than the event loop,
// such as a database.

const { createSpillway } = require('../../src')
const http = require('node:http')

const WORK_MS = 50
/** The clients wait for a second, and an answer takes 50 ms. */
const MAX_AGE_MS = 700
const OPTIONS = {
  gate: {},
  age: { proxy: { requestStart: true }, shed: { maxAge: MAX_AGE_MS } },
}

const server = http.createServer((req, res) => {
  if (req.url === '/work') setTimeout(() => res.end('done'), WORK_MS)
  else res.end('warm')
})
const options = OPTIONS[process.argv[2]]
const spillway = options === undefined ? undefined : createSpillway({ logger: false, ...options })
spillway?.attach(server)
server.keepAliveTimeout = 0
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  process.send?.({ port: /** @type {any} */ (server.address()).port })
)
process.on('message', () => process.send?.(spillway?.snapshot().deadlines?.proxy ?? null))
process.on('disconnect', () => process.exit())
