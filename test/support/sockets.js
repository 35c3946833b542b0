'use strict'
// Servers of Socket.IO and ws for one test, watched, with clients; all closed with the test.

const { once } = require('node:events')
const http = require('node:http')
const { Server } = require('socket.io')
const { io: connect } = require('socket.io-client')
const { WebSocket, WebSocketServer } = require('ws')
const { spillwayFor } = require('./spillway')

const turn = () => new Promise((resolve) => setImmediate(resolve))

/**
 * Resolves when the condition holds, by turning the loop; hangs (and so fails by the runner's timeout) if it
 * never does.
 */
async function until(holds) {
  while (!(await holds())) await turn()
}

async function listening(t, server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port
}

const other = (_req, res) => res.end('other')

/** @param {import('node:test').TestContext} t */
async function socketIo(
  t,
  {
    options = {},
    serverOptions = {},
    sockets = undefined,
    clock = undefined,
    attach = true,
    handler = other,
  } = {}
) {
  const spillway = spillwayFor(t, options, clock)
  const server = http.createServer(handler)
  if (attach) spillway.attach(server)
  const io = new Server(server, serverOptions)
  t.after(() => io.close())
  const handle = spillway.sockets(io, sockets)
  const port = await listening(t, server)
  const url = `http://127.0.0.1:${port}`
  /** A client, not yet connected. */
  const client = (path = '/', given = {}) => {
    const socket = connect(url + path, { forceNew: true, reconnection: false, ...given })
    t.after(() => socket.close())
    return socket
  }
  const connected = async (path, given) => {
    const socket = client(path, given)
    await new Promise((resolve, reject) =>
      socket.once('connect', () => resolve(undefined)).once('connect_error', reject)
    )
    return socket
  }
  const events = () => new Map(spillway.snapshot().sockets.events.map((each) => [each.event, each]))
  return { spillway, server, io, handle, port, url, client, connected, events }
}

/** @param {import('node:test').TestContext} t */
async function webSockets(
  t,
  { options = {}, sockets = undefined, clock = undefined, serverOptions = {} } = {}
) {
  const spillway = spillwayFor(t, options, clock)
  const server = spillway.attach(http.createServer((_req, res) => res.end('other')))
  const wss = new WebSocketServer({ server, ...serverOptions })
  const handle = spillway.sockets(wss, sockets)
  const port = await listening(t, server)
  const url = `ws://127.0.0.1:${port}`
  const connected = async (path = '') => {
    const ws = new WebSocket(url + path)
    t.after(() => ws.terminate())
    await once(ws, 'open')
    return ws
  }
  const events = () => new Map(spillway.snapshot().sockets.events.map((each) => [each.event, each]))
  return { spillway, server, wss, handle, port, url, connected, events }
}

module.exports = { listening, socketIo, turn, until, webSockets }
