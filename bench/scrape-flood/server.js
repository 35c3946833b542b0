'use strict'
// node server.js: a server with a thousand routes, the gate at its defaults, and a route that awaits 20 ms
// and burns one. It answers a message with its CPU time and memory, and with what other processes took of its
// core.

const http = require('node:http')
const { inject } = require('light-my-request')
const { createSpillway } = require('../../src/index.js')
const { cpuMs } = require('../support/blocks')
const { burnIterations, calibrate } = require('../support/burn')
const { foreignMs } = require('../support/foreign')

const ROUTES = 1000
const REQUESTS = 20_000
const AWAIT_MS = 20
const names = Array.from({ length: ROUTES }, (_, i) => `/api/v1/resource-${i}/:id/items/:itemId`)

async function main() {
  const aMillisecond = calibrate()
  let next = 0
  const spillway = createSpillway({
    logger: false,
    routes: { max: ROUTES + 10, label: (req) => (req.url === '/' ? names[next++ % ROUTES] : req.url) },
  })
  const work = (_req, res) =>
    setTimeout(() => {
      burnIterations(aMillisecond)
      res.end('ok')
    }, AWAIT_MS)
  const listener = spillway.wrap((req, res) => (req.url === '/work' ? work(req, res) : res.end('ok')))
  for (let i = 0; i < REQUESTS; i++) {
    await inject(listener, { url: '/' })
    // Injected answers close in a later turn.
    if (i % 100 === 99) await new Promise((resolve) => setImmediate(resolve))
  }
  const server = http.createServer(listener)
  process.on('message', () =>
    process.send({
      cpuMs: cpuMs(),
      rssBytes: process.memoryUsage.rss(),
      foreignMs: foreignMs(process.env.SERVER_CORE),
    })
  )
  process.on('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1', () => process.send({ port: /** @type {any} */ (server.address()).port }))
}

main()
