'use strict'
// What is the last answer of its connection says so, whatever the application says of the connection.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Connection } = require('../support/connection')
const { GET, ORDER, drained, untilNotListening } = require('../support/draining')

const INSISTING = {
  'by a header': (res) => res.setHeader('connection', 'keep-alive').writeHead(200),
  'by headers of the head': (res) => res.writeHead(200, { connection: 'Keep-Alive' }),
  'by headers of the head, after a message': (res) =>
    res.writeHead(200, 'Fine', { Connection: 'keep-alive' }),
  'by a list of headers': (res) => res.writeHead(200, ['X-Of', 'connection', 'Connection', 'keep-alive']),
}

for (const [how, insist] of Object.entries(INSISTING)) {
  test(`an application that insists on keeping its connection ${how} is overruled`, async (t) => {
    const { spillway, server, port, held, untilHeld } = await drained(t)
    const connection = await Connection.open(port)
    connection.send(GET)
    await untilHeld(1)
    const done = spillway.drain(ORDER)
    await untilNotListening(server)
    held[0].res.setHeader('X-Mine', 'kept')
    insist(held[0].res)
    held[0].res.end('answered')
    await connection.untilClosed()
    assert.match(connection.received, /connection: close\r\n/i)
    assert.doesNotMatch(connection.received, /keep-alive/i)
    assert.match(connection.received, /X-Mine: kept\r\n/)
    assert.equal((await done).cut, 0)
  })
}
