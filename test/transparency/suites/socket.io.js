'use strict'
// What the documentation of Socket.IO says, over both transports.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { describe, it } = require('node:test')
const { Server } = require('socket.io')
const connect = require('socket.io-client')
const { ask, note, serve, steady } = require('./clients')

for (const transports of [['polling'], ['websocket'], ['polling', 'websocket']]) {
  describe(transports.join(', then '), () => {
    const pair = async (t, listener = (_req, res) => res.end('plain')) => {
      const server = http.createServer(listener)
      const io = new Server(server)
      const port = await serve(t, server)
      const client = connect(`http://127.0.0.1:${port}`, { transports, forceNew: true, reconnection: false })
      t.after(() => {
        client.close()
        io.close()
      })
      const connected = new Promise((resolve) => client.on('connect', () => resolve(undefined)))
      const [[socket]] = await Promise.all([once(io, 'connection'), connected])
      return { client, io, port, server, socket }
    }

    it('events and acknowledgements go both ways', async (t) => {
      const { client, socket } = await pair(t)
      socket.on('add', (a, b, reply) => reply(a + b))
      assert.equal(await client.emitWithAck('add', 1, 2), 3)
      client.on('ask', (reply) => reply('answer'))
      assert.equal(await socket.emitWithAck('ask'), 'answer')
    })

    it('many events come in their order, bytes too', async (t) => {
      const { client, socket } = await pair(t)
      const got = []
      socket.on('item', (i, bytes) => got.push([i, bytes.length]))
      for (let i = 0; i < 50; i++) client.emit('item', i, Buffer.alloc(i))
      await new Promise((resolve) => {
        socket.on('done', (reply) => resolve(reply()))
        client.emit('done', () => {})
      })
      assert.deepEqual(
        got,
        Array.from({ length: 50 }, (_, i) => [i, i])
      )
    })

    it('a room is told, and who leaves is noticed', async (t) => {
      const { client, io, socket } = await pair(t)
      socket.join('room')
      const told = new Promise((resolve) => client.on('news', resolve))
      io.to('room').emit('news', 'all')
      assert.equal(await told, 'all')
      const left = once(socket, 'disconnect')
      client.disconnect()
      note(t, await left.then(([reason]) => reason))
    })

    it('beside it the server answers plain requests', async (t) => {
      const { port, server } = await pair(t)
      note(t, steady(await ask(port)))
      note(t, [server.listenerCount('request'), server.listenerCount('upgrade')])
      note(t, (await ask(port, '/socket.io/?EIO=4&transport=none')).status)
    })
  })
}
