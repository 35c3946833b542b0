'use strict'
// Answers that others begin while we hold the request back: it keeps its place, and its state goes back no
// step.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const { STATE_ANSWERING, STATE_ENDED } = require('../../src/core/request/request-record')
const { kRouteState } = require('../../src/core/route/route-state')
const { QUEUE, holdingServer, until } = require('./holding-server')

/**
 * A middleware behind a listener that may begin the answer: before the middleware sees the request, or after.
 */
const createWith = (before, after) => (spillway, handler) => {
  const measure = spillway.express()
  return http.createServer((req, res) => {
    if (req.url !== '/hold') before(res)
    measure(req, res, () => handler(req, res))
    if (req.url !== '/hold') after(res)
  })
}
const begin = (res) => res.writeHead(200).write('begun ')
const nothing = () => {}

for (const [when, before, after] of /** @type {const} */ ([
  ['before it is queued', begin, nothing],
  ['while it is queued', nothing, begin],
])) {
  test(`a request whose answer begins ${when} runs like any other`, async (t) => {
    const seen = []
    const states = []
    const create = createWith(before, (res) => {
      after(res)
      seen.push(res[kRouteState])
    })
    const work = (_req, res) => {
      states.push(res[kRouteState].state)
      res.end('and done')
    }
    const { get, hold, waiting, admission } = await holdingServer(t, { shed: QUEUE, create, work })
    const first = await hold()
    const second = get('/')
    await waiting(1)
    assert.equal(seen[0].state, STATE_ANSWERING)
    first.release()
    assert.equal((await second).body, 'begun and done')
    await until(() => admission().inFlight === 0)
    assert.deepEqual([...states, seen[0].state], [STATE_ANSWERING, STATE_ENDED])
  })

  test(`a request whose answer begins ${when}, and whose client disconnects there, is abandoned`, async (t) => {
    const { spillway, port, hold, waiting, admission } = await holdingServer(t, {
      shed: QUEUE,
      create: createWith(before, after),
    })
    const first = await hold()
    const client = http.get({ port, host: '127.0.0.1', agent: false }).on('error', nothing)
    client.on('response', (res) => res.on('error', nothing))
    await waiting(1)
    client.destroy()
    await until(() => admission().abandoned === 1)
    first.release()
    await until(() => spillway.snapshot().requests.inFlight === 0)
    assert.equal(admission().inFlight, 0)
    assert.equal(admission().admitted, 1)
  })
}
