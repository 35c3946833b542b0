'use strict'
// An answer that is under way on a connection which its application takes by `upgrade` and ends. Its slot is
// freed once, however the connection ends, and also if nobody reads the connection, so that Node cannot see
// the client leave.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { Connection } = require('../support/connection')
const { REFUSE, attached, holdingServer, until } = require('./holding-server')

const GET = (path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
const UPGRADE = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
const REJECTION = 'HTTP/1.1 400 Bad Request\r\n\r\n'
const LARGE = Buffer.alloc(20 * 2 ** 20, 'x')
const TWO = Object.freeze({ ...REFUSE, maxConcurrent: 2 })

/** What the application does with the connection. */
const APPLICATIONS = {
  'ends it': (socket) => socket.end(REJECTION),
  'ends it and reads on': (socket) => socket.resume().end(REJECTION),
  'ends it behind more than its client reads': (socket) => {
    socket.write(REJECTION)
    socket.end(LARGE)
  },
  'takes all listeners off it and ends it': (socket) => {
    socket.removeAllListeners()
    socket.on('error', () => {}).end(REJECTION)
  },
  'destroys it': (socket) => socket.destroy(),
}

const CLIENTS = {
  'keeps its connection': () => {},
  'half-closes': (client) => client.end(),
  'resets its connection': (client) => client.reset(),
}

/** Both handlers are done when the connection is handed over, or neither is. */
const HANDLERS = { 'done before': true, 'still running': false }

async function serverThatHandsOver(t, take, given) {
  const server = {}
  const create = (spillway, handler) =>
    attached(spillway, handler).on('upgrade', (_req, socket) => {
      t.after(() => socket.destroy())
      socket.on('error', () => {})
      server.socket = socket
      take(socket)
    })
  return Object.assign(server, await holdingServer(t, { create, ...given }))
}

/** @returns {Record<string, number>} how many requests had each outcome */
function outcomesOf(spillway) {
  const sums = { completed: 0, errored: 0, aborted: 0, upgraded: 0 }
  for (const { outcomes } of spillway.snapshot().routes)
    for (const key of Object.keys(sums)) sums[key] += outcomes[key]
  return sums
}

for (const [does, take] of Object.entries(APPLICATIONS)) {
  for (const [leaves, leave] of Object.entries(CLIENTS)) {
    for (const [when, isDone] of Object.entries(HANDLERS)) {
      test(`an application that ${does} while a client ${leaves}: two answers on it keep no slot, their handlers ${when}`, async (t) => {
        const taken = Promise.withResolvers?.() ?? withResolvers()
        const took = (socket) => {
          take(socket)
          taken.resolve(undefined)
        }
        const server = await serverThatHandsOver(t, took, { shed: TWO })
        const { port, clock, admission, spillway, isHeld, release } = server
        const client = await Connection.open(port)
        t.after(() => client.destroy())
        client.pause()
        const first = isHeld()
        client.send(GET('/hold'), GET('/hold'))
        await first
        await until(() => admission().inFlight === 2)
        client.send(UPGRADE)
        await taken.promise
        if (isDone) {
          release()
          release()
        }
        leave(client)
        await until(() => {
          clock.advance(1000)
          return admission().inFlight === 0
        })
        if (!isDone) {
          release()
          release()
        }
        server.socket.destroy()
        await until(() => server.socket.closed)
        const { requests } = spillway.snapshot()
        const { completed, errored, aborted, upgraded } = outcomesOf(spillway)
        assert.deepEqual([requests.inFlight, admission().inFlight], [0, 0])
        assert.deepEqual([completed, errored + aborted, upgraded], [0, 2, 1])
      })
    }
  }
}

/** `Promise.withResolvers` comes with Node 22. */
function withResolvers() {
  let resolve = (_value) => {}
  const promise = new Promise((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

test('an answer that its connection has taken whole before it is ended keeps its slot until the client has read it', async (t) => {
  const server = await serverThatHandsOver(t, (socket) => socket.end(), {
    shed: REFUSE,
    work: (_req, res) => res.end(LARGE),
  })
  const { port, clock, admission, spillway } = server
  const client = await Connection.open(port)
  t.after(() => client.destroy())
  client.pause()
  client.send(GET('/'), UPGRADE)
  await until(() => server.socket !== undefined)
  for (let seconds = 0; seconds < 5; seconds++) {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(1000)
  }
  assert.equal(admission().inFlight, 1)
  client.resume()
  await until(() => admission().inFlight === 0)
  await client.untilBytes(LARGE.length)
  assert.equal(outcomesOf(spillway).completed, 1)
})
