'use strict'
// node server.js <JSON>: a chat on Socket.IO, with or without Spillway. It answers over IPC what it has
// measured. Event `say` burns CPU, events `lookup` and `probe` await something for as long as the client
// says. All are acknowledged at their end.

const http = require('node:http')
const { Server } = require('socket.io')
const { createSpillway } = require('../../src/index.js')

const { isWatched, burnMs } = JSON.parse(process.argv[2])

function burn(ms) {
  const sinceMs = performance.now()
  while (performance.now() - sinceMs < ms);
}

const server = http.createServer((_req, res) => res.end())
const io = new Server(server)
const spillway = isWatched ? createSpillway({ logger: false }) : undefined
if (spillway !== undefined) {
  spillway.attach(server)
  spillway.sockets(io)
}

io.on('connection', (socket) => {
  socket.on('say', (_text, ack) => {
    burn(burnMs)
    ack()
  })
  for (const event of ['lookup', 'probe'])
    socket.on(event, async (waitMs, ack) => {
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      ack()
    })
})

function report() {
  const { user, system } = process.cpuUsage()
  const figures = { cpuMs: (user + system) / 1000, clients: io.engine.clientsCount }
  if (spillway === undefined) return figures
  const { admission, oldest, routes, slowest, sockets } = spillway.snapshot()
  const { shed, wouldShed } = admission
  const timedOut = routes.reduce((sum, { outcomes }) => sum + outcomes.timed_out, 0)
  return {
    ...figures,
    shed,
    wouldShed,
    sockets,
    timedOut,
    oldest: oldest.length,
    slowestMs: slowest[0]?.durationMs ?? 0,
  }
}

process.on('message', () => process.send?.({ report: report() }))
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send?.({ port: /** @type {any} */ (server.address()).port }))
