'use strict'
// The simulated world itself: connections, gateways and sessions behave as those of Node and of real proxies.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { ACCEPT_MS } = require('./connections')
const { HOP_MS } = require('./gateway')
const { generate } = require('./generate')
const { stack } = require('./stack')
const { PARSE_MS, World } = require('./world')

const NONE = { mode: 'off' }
const TURN_MS = 0.001
const MAX_UTILISATION = 0.65
/** What comes by chance in a few seconds is more than the mean. */
const SPREAD = 0.03
const THIRD = 1 / 3

const BLOCKS = [{ steps: [{ burn: 2 }] }]
const AWAITS = [{ steps: [{ wait: 100 }] }]
/** Of an open stream: one request. */
const ONE = { route: 0, through: 0, arrivals: 'constant' }
const runOf = (spec) => new World(spec, { stack, shed: NONE }).run()

/** So many at once through a gateway, from 100 ms on. */
const through = (gateway, count, routes = AWAITS) =>
  runOf({
    seconds: 1,
    routes,
    gateways: [gateway],
    open: [
      {
        route: 0,
        through: 0,
        batch: count,
        perSecond: count * 10,
        arrivals: 'constant',
        fromMs: 0,
        toMs: 150,
      },
    ],
  })

const endedMs = ({ requests }) => requests.map((each) => Math.floor(each.endedMs - each.atMs))

test('one new connection is accepted a loop turn, and its request is read in the next one', () => {
  const closed = [{ route: 0, clients: 5, reconnects: true, spreadMs: 0, thinkMs: 10_000 }]
  const { connections, requests } = runOf({ seconds: 1, routes: [{ steps: [{ burn: 1 }] }], closed })
  assert.deepEqual([connections.accepted, connections.open, connections.busy], [5, 0, 0])
  const [first, second] = requests.map(({ ranMs }) => ranMs)
  assert.ok(first - (ACCEPT_MS + TURN_MS + ACCEPT_MS + PARSE_MS) < 1e-9, 'the next accept comes first')
  assert.ok(second - first >= 1 + TURN_MS + PARSE_MS, 'the next request is read a turn later')
})

test('kept connections are read all in one turn, and no other is accepted', () => {
  const closed = [{ route: 0, clients: 5, spreadMs: 0 }]
  const world = new World({ seconds: 0.001, routes: AWAITS, closed }, { stack, shed: NONE })
  world.run()
  assert.deepEqual([world.connections.open, world.connections.accepted, world.connections.busy], [5, 5, 5])
})

test('a gateway that queues has one request on each connection, first in, first out', () => {
  const world = through({ connections: 2, queues: true }, 6)
  assert.deepEqual(endedMs(world), [100, 100, 200, 200, 300, 300])
  assert.deepEqual([world.connections.open, world.connections.accepted, world.connections.busy], [2, 2, 0])
})

test('a gateway goes on while the service blocks: what comes then waits behind what was there', () => {
  const gateways = [{ connections: 1, queues: true }]
  const open = [{ route: 0, through: 0, perSecond: 1000, arrivals: 'constant', toMs: 20 }]
  const { requests } = runOf({ seconds: 1, routes: BLOCKS, gateways, open })
  const gaps = requests.slice(1).map(({ ranMs }, i) => ranMs - requests[i].ranMs)
  assert.ok(requests.length > 10)
  for (const gapMs of gaps) assert.ok(gapMs >= 2 + HOP_MS, `${gapMs} ms`)
})

test('a gateway that does not queue fails what is beyond its connections', () => {
  const { requests } = through({ connections: 2 }, 6)
  assert.equal(requests.filter(({ servedMs }) => servedMs !== undefined).length, 2)
})

test('a gateway that opens more connections closes those it does not keep', () => {
  const { connections, requests } = through({ connections: 2, most: 5 }, 6)
  assert.equal(requests.filter(({ servedMs }) => servedMs !== undefined).length, 5)
  assert.deepEqual([connections.accepted, connections.open, connections.busy], [5, 2, 0])
})

test('a client leaves its gateway: queued, the service never sees it; sent, its connection is closed and replaced', () => {
  const { connections, requests } = through({ connections: 1, queues: true, timeoutMs: 50 }, 2)
  assert.deepEqual(
    requests.map(({ servedMs, ranMs }) => [servedMs, ranMs !== undefined]),
    [
      [undefined, true],
      [undefined, false],
    ]
  )
  assert.deepEqual([connections.open, connections.busy], [0, 0])
  const [served, left, third] = [100, 100, 240].map((fromMs) => ({
    ...ONE,
    perSecond: 1e6,
    fromMs,
    toMs: fromMs + 0.0015,
  }))
  const gateways = [{ connections: 1, queues: true, timeoutMs: 150 }]
  const next = runOf({ seconds: 1, routes: AWAITS, gateways, open: [served, left, third] })
  assert.deepEqual(
    next.requests.map(({ servedMs }) => servedMs !== undefined),
    [true, false, true]
  )
  assert.deepEqual([next.connections.accepted, next.connections.open], [2, 1])
})

test('streams of a session share its connection, which outlives them', () => {
  const world = through({ connections: 1, streams: 3, queues: true, timeoutMs: 150 }, 4)
  assert.deepEqual(endedMs(world), [100, 100, 100, 150])
  assert.deepEqual([world.connections.open, world.connections.accepted], [1, 1])
  const [first, second] = world.requests.map(({ request }) => request)
  assert.equal(first.session, second.session)
  assert.notEqual(first.stream, second.stream)
  assert.deepEqual([first.req.httpVersionMajor, first.stream.session], [2, first.session])
})

test('a gateway that forwards says for whom, different clients on one connection', () => {
  const { requests } = through({ connections: 1, queues: true, forwards: 'x-forwarded-for' }, 3)
  const sent = requests.map(({ request }) => request.req.headers['x-forwarded-for'])
  assert.equal(new Set(sent).size, 3)
  assert.equal(new Set(requests.map(({ request }) => request.socket)).size, 1)
})

const SEEDS = Array.from({ length: 300 }, (_, i) => i + 1)

test('a third of the worlds or more have crowds, of every kind', () => {
  const crowds = SEEDS.map((seed) => generate(seed).crowds)
  assert.ok(crowds.filter(({ length }) => length > 0).length > THIRD * SEEDS.length)
  assert.equal(new Set(crowds.flat()).size, 6)
})

test('crowds leave a third of the loop idle without a gate', () => {
  for (const seed of SEEDS.slice(0, 60)) {
    const { loop } = runOf({ ...generate(seed, { disturbance: 'none' }), cold: false })
    const utilisation = 1 - loop.idleTotalMs / loop.nowMs
    assert.ok(utilisation <= MAX_UTILISATION + SPREAD, `seed ${seed}: ${utilisation}`)
  }
})
