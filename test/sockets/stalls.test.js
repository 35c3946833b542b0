'use strict'
// A stall names the event whose listener blocked the loop.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { runNode } = require('../support/run-node')

const PROGRAM = `
const http = require('node:http')
const { Server } = require('socket.io')
const { createSpillway } = require('./src/index.js')
const lines = []
const log = (fields, line) => { if (fields.event === 'stall') lines.push(line) }
const spillway = createSpillway({ logger: { info: log, warn: log, error: log } })
const server = spillway.attach(http.createServer((req, res) => res.end()))
const io = new Server(server)
spillway.sockets(io)
function burnInEvent() {
  const begun = process.cpuUsage()
  for (;;) {
    let sum = 0
    for (let i = 0; i < 1e5; i++) sum += i
    const { user, system } = process.cpuUsage(begun)
    if ((user + system) / 1000 >= 300 + (sum === 1 ? 1 : 0)) return
  }
}
io.on('connection', (socket) => socket.on('hash', (ack) => { burnInEvent(); ack() }))
const { io: connect } = require('socket.io-client')
server.listen(0, '127.0.0.1', async () => {
  const url = 'http://127.0.0.1:' + server.address().port
  await fetch(url)
  const client = connect(url, { transports: ['websocket'] })
  const found = () => spillway.snapshot().stalls.sites.find((site) => site.function === 'burnInEvent')
  // The first stall starts the watcher, which takes a while, and has the only line for a second.
  while (found() === undefined || !lines.some((line) => line.includes('burnInEvent'))) {
    await client.emitWithAck('hash')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { origin, method, route } = found()
  console.log(JSON.stringify({ origin, method, route, lines }))
  process.exit()
})
`

test('a stall in a listener names its event, in the snapshot and the log', async (t) => {
  const { output } = await runNode(PROGRAM, { t })
  const { origin, method, route, lines } = output
  assert.deepEqual({ origin, method, route }, { origin: 'event', method: 'event', route: 'hash' })
  assert.ok(
    lines.some((line) => / by burnInEvent \(.*\) in event hash$/.test(line)),
    lines.join('\n')
  )
})
