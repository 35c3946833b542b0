'use strict'
// The series of sockets at /metrics: whole, and only of what has happened.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { socketIo } = require('../support/sockets')

const COUNTED = /^spillway_socket_(?:connections|events|messages)(?:_total|_opened_total)?\{/

test('connections by transport, messages by direction, and events by name and outcome', async (t) => {
  const { connected, io, url } = await socketIo(t)
  io.on('connection', (socket) => socket.on('save', (ack) => ack()))
  const client = await connected('/', { transports: ['websocket'] })
  await client.emitWithAck('save')
  // Socket.IO's own connect is a message each way. A label is made once: the second scrape reads what the
  // first has kept.
  await (await fetch(`${url}/metrics`)).text()
  const text = await (await fetch(`${url}/metrics`)).text()
  assert.deepEqual(
    text
      .split('\n')
      .filter((line) => COUNTED.test(line))
      .sort(),
    [
      'spillway_socket_connections_opened_total{transport="websocket"} 1',
      'spillway_socket_connections{transport="websocket"} 1',
      'spillway_socket_events_total{event="save",outcome="completed"} 1',
      'spillway_socket_messages_total{direction="received"} 2',
      'spillway_socket_messages_total{direction="sent"} 2',
    ]
  )
})
