'use strict'
// node cost.js: what watching adds to a message, in one process: packets are given to sockets of a watched
// and of an unwatched server in turn, without a network. Sends the microseconds of each.

const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const { Server } = require('socket.io')
const { io: connect } = require('socket.io-client')
const { WebSocketServer } = require('ws')
const { createSpillway } = require('../../src/index.js')

const SLICE = 500
const WARM_UP = 60
const SLICES = 400
const PACKET = { type: 'message', data: '2["say",{"text":"hello, how are you?","room":17}]' }
const ASKED = { type: 'message', data: '217["say",{"text":"hello, how are you?","room":17}]' }
const DATA = Buffer.from('{"type":"say","text":"hello, how are you?","room":17}')

const listeners = {
  'a function': (_message, ack) => ack?.(),
  'an async function': async (_message, ack) => ack?.(),
}

/** @returns {Promise<(packet: any) => void>} receives a packet, as the engine does */
async function socketOf(isWatched, listener, spillway) {
  const server = http.createServer()
  const io = new Server(server)
  if (isWatched) spillway.sockets(io)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connection = once(io, 'connection')
  connect(`http://127.0.0.1:${/** @type {any} */ (server.address()).port}`, {
    transports: ['websocket'],
    forceNew: true,
  })
  const [socket] = await connection
  socket.on('say', listener)
  // What is sent costs a system call, which hides what is measured.
  socket.conn.transport.send = () => {}
  return (packet) => socket.conn.onPacket(packet)
}

function webSocketOf(isWatched, listener, spillway) {
  const wss = new WebSocketServer({ noServer: true })
  if (isWatched) spillway.sockets(wss)
  const ws = Object.assign(new EventEmitter(), { send() {}, close() {}, terminate() {} })
  // The connection of a server, without a network.
  wss.completeUpgrade = (_extensions, _key, _protocols, _req, _socket, _head, callback) => callback(ws)
  wss.handleUpgrade(
    /** @type {any} */ ({
      method: 'GET',
      url: '/',
      headers: {
        upgrade: 'websocket',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'sec-websocket-version': '13',
      },
      socket: new EventEmitter(),
    }),
    /** @type {any} */ (new EventEmitter()),
    Buffer.alloc(0),
    () => {}
  )
  ws.on('message', listener)
  return () => ws.emit('message', DATA, false)
}

async function slice(receive, packet) {
  const sinceMs = performance.now()
  for (let i = 0; i < SLICE; i++) receive(packet)
  await new Promise((resolve) => setImmediate(resolve))
  return ((performance.now() - sinceMs) * 1000) / SLICE
}

/** The fastest tenth of the slices, in turn: a machine that does something else changes both alike. */
async function compare(plain, watched, packet) {
  const [without, with_] = [[], []]
  for (let i = 0; i < WARM_UP + SLICES; i++) {
    const a = await slice(plain, packet)
    const b = await slice(watched, packet)
    if (i < WARM_UP) continue
    without.push(a)
    with_.push(b)
  }
  const tenth = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 10)]
  return { plain: tenth(without), watched: tenth(with_) }
}

async function main() {
  const spillway = createSpillway({ logger: false, insight: { stalls: false }, shed: { mode: 'off' } })
  const rows = []
  for (const [name, listener] of Object.entries(listeners)) {
    const io = [await socketOf(false, listener, spillway), await socketOf(true, listener, spillway)]
    rows.push({ what: `Socket.IO, ${name}`, ...(await compare(io[0], io[1], PACKET)) })
    rows.push({ what: `Socket.IO, ${name}, acknowledged`, ...(await compare(io[0], io[1], ASKED)) })
    const quiet = name === 'a function' ? () => {} : async () => {}
    const ws = [webSocketOf(false, quiet, spillway), webSocketOf(true, quiet, spillway)]
    rows.push({ what: `ws, ${name}`, ...(await compare(ws[0], ws[1], DATA)) })
  }
  process.send?.(rows, () => process.exit())
}

main()
