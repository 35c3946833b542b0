'use strict'
// Errors of listeners: Node does with them what it does without Spillway, and they are counted by event.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { runNode } = require('../support/run-node')

/**
 * Ends a process by an error in a listener, with and without Spillway; prints what the process was told of
 * it.
 */
const program = ({ watched, listener, server, guarded }) => `
const { createSpillway } = require('./src/index.js')
const http = require('node:http')
const lines = []
const spillway = createSpillway({ logger: { warn() {}, info() {}, error: (fields, line) => lines.push(line) } })
const told = []
const report = () => ({
  told,
  lines: lines.filter((line) => line.includes('ncaught') || line.includes('nhandled')),
  events: spillway.snapshot().sockets.events.map(({ event, outcomes }) => [event, outcomes.errored]),
  errors: spillway
    .snapshot()
    .errors.map(({ route, status, type, count, method }) => ({ route, status, type, count, method })),
  internal: spillway.snapshot().internalErrors,
})
${
  guarded
    ? `for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => { told.push(event + ' ' + error.message); setTimeout(() => { console.log(JSON.stringify(report())); process.exit(0) }, 20) })`
    : `process.on('exit', (code) => console.log(JSON.stringify({ code, ...report() })))`
}
const server = http.createServer()
const listener = ${listener}
${
  server === 'ws'
    ? `const { WebSocketServer, WebSocket } = require('ws')
const wss = new WebSocketServer({ server })
${watched ? 'spillway.sockets(wss)' : ''}
wss.on('connection', (ws) => ws.on('message', listener))
server.listen(0, '127.0.0.1', () => {
  const client = new WebSocket('ws://127.0.0.1:' + server.address().port)
  client.on('open', () => client.send('x'))
})`
    : `const { Server } = require('socket.io')
const io = new Server(server)
${watched ? 'spillway.sockets(io)' : ''}
io.on('connection', (socket) => socket.on('message', listener))
server.listen(0, '127.0.0.1', () => {
  require('socket.io-client').io('http://127.0.0.1:' + server.address().port, { transports: ['websocket'] }).emit('message', 'x')
})`
}
`
const THROWS = "() => { throw new RangeError('thrown') }"
const REJECTS = "async () => { await 0; throw new TypeError('rejected') }"
/** The application handles the promise that it returns. */
const HANDLED =
  "() => { const p = Promise.reject(new Error('handled')); p.catch(() => setTimeout(() => process.exit(3), 50)); return p }"

for (const server of ['ws', 'socket.io']) {
  for (const [name, listener, told, type] of [
    ['throws', THROWS, 'uncaughtException thrown', 'RangeError'],
    ['rejects', REJECTS, 'unhandledRejection rejected', 'TypeError'],
  ]) {
    test(`${server}: a listener that ${name} is what Node makes of it, and is counted once`, async (t) => {
      const given = { listener, server, guarded: true, t }
      const plain = await runNode(program({ ...given, watched: false }), { t })
      const watched = await runNode(program({ ...given, watched: true }), { t })
      assert.deepEqual(plain.output.told, [told])
      assert.deepEqual(watched.output.told, [told])
      assert.deepEqual(watched.output.events, [['message', 1]])
      assert.deepEqual(watched.output.errors, [
        { route: 'event message', status: 500, type, count: 1, method: null },
      ])
      assert.equal(watched.output.lines.length, 1)
      assert.match(watched.output.lines[0], / in event message$/)
      assert.deepEqual(watched.output.internal, {})
    })

    test(`${server}: without a listener of the process, one that ${name} ends it`, async (t) => {
      const { code, output } = await runNode(program({ listener, server, guarded: false, watched: true }), {
        t,
      })
      assert.equal(code, 1)
      assert.equal(output.code, 1)
    })
  }

  test(`${server}: a rejection that the application handles itself stays handled`, async (t) => {
    const { code, output } = await runNode(
      program({ listener: HANDLED, server, guarded: false, watched: true }),
      { t }
    )
    assert.equal(code, 3)
    assert.deepEqual(output.told, [])
    assert.deepEqual(output.events, [['message', 0]])
  })
}
