'use strict'
// Requests and admission records keep one hidden class through a whole life, whatever becomes of them.
// The hot path relies on it: code that reads them stays monomorphic.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const { test } = require('node:test')
const v8 = require('node:v8')
const { STATE_ENDED, Ticket } = require('../../src/core/request/request-record')
const { kRouteState } = require('../../src/core/route/route-state')
const { QUEUE, attached, holdingServer, until } = require('../gate/holding-server')
const { requestWith } = require('../support/request')

v8.setFlagsFromString('--allow-natives-syntax')
const haveSameMap = new Function('a', 'b', 'return %HaveSameMap(a, b)')

/**
 * V8 learns from the first lives what kinds of values each field holds, and may replace the hidden class
 * meanwhile.
 */
const ROUNDS = 3
const GATE = { shed: QUEUE, deadline: { of: ({ url }) => (url === '/rejected' ? 0 : undefined) } }

/** Collects the requests of a server, those that never come to its handler included. */
function collecting(server, requests) {
  const { emit } = server
  server.emit = function (event, _req, res) {
    const result = Reflect.apply(emit, this, arguments)
    if (event === 'request') requests.push(res[kRouteState])
    return result
  }
  return server
}

const work = (req, res) => {
  res.statusCode = req.url === '/failed' ? 500 : 200
  res.end('done')
}

/**
 * One request each that runs at once, runs after the queue, fails, is rejected, and whose client disconnects
 * in the queue.
 */
async function liveOverHttp1(t, requests) {
  const create = (spillway, handler) => collecting(attached(spillway, handler), requests)
  const { admission, clock, get, hold, port, waiting } = await holdingServer(t, { ...GATE, create, work })
  const { answer, release } = await hold()
  const queued = [get('/ran'), get('/failed')]
  await waiting(2)
  const gone = http.get({ port, host: '127.0.0.1', agent: false }).on('error', () => {})
  await waiting(3)
  assert.equal((await get('/rejected')).status, 503)
  clock.advance(1.25)
  // A half-closing client would be answered.
  gone.socket.resetAndDestroy()
  await until(() => admission().abandoned === 1)
  release()
  assert.deepEqual(
    (await Promise.all([answer, ...queued])).map(({ status }) => status),
    [200, 200, 500]
  )
  await until(() => requests.every(({ state }) => state === STATE_ENDED))
}

async function liveOverHttp2(t, requests) {
  const create = (spillway, handler) => collecting(spillway.attach(http2.createServer(handler)), requests)
  const { port } = await holdingServer(t, { ...GATE, create, work })
  const client = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  await once(client.request({ ':path': '/ran' }).resume(), 'close')
  await until(() => requests.length > 0 && requests.every(({ state }) => state === STATE_ENDED))
}

async function livesOf(t, live) {
  let requests = []
  for (let i = 0; i < ROUNDS; i++) await live(t, (requests = []))
  return requests
}

test('a field added later changes the hidden class, which the tests below detect', () => {
  assert.equal(haveSameMap(requestWith(), requestWith()), true)
  assert.equal(haveSameMap(requestWith(), requestWith({ added: 1 })), false)
})

for (const [what, live, count] of /** @type {const} */ ([
  ['HTTP/1', liveOverHttp1, 5],
  ['HTTP/2', liveOverHttp2, 1],
])) {
  test(`${what}: what has lived has the hidden class of what is new`, async (t) => {
    const requests = await livesOf(t, live)
    assert.equal(requests.length, count)
    const fresh = requestWith()
    assert.deepEqual(
      requests.map((request) => haveSameMap(request, fresh)),
      requests.map(() => true)
    )
    assert.deepEqual(
      requests.map(({ ticket }) => haveSameMap(ticket, new Ticket())),
      requests.map(() => true)
    )
  })
}
