'use strict'
// The soak in short: thousands of requests that end at random, on Express 4 and 5 and Koa 2 and 3. It takes
// no time: every request has one outcome, the one its client gave it, and none is left in flight.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { test } = require('node:test')
const { randomFrom } = require('../../bench/support/random')
const { SoakClient } = require('../../bench/soak/client')
const { Arrivals, ERRORS, SERVERS } = require('../../bench/soak/servers')
const { settle } = require('../support/drive')
const { readableSpillway } = require('../support/measured')

const REQUESTS = 1000
const CLIENTS = 8
const SEED = 20261121
const TIMEOUT_MS = 60_000

for (const [framework, serverOf] of Object.entries(SERVERS)) {
  test(`${REQUESTS} random endings in ${framework}`, { timeout: TIMEOUT_MS }, async (t) => {
    const { spillway, measured } = readableSpillway(t, { errors: ERRORS })
    const arrivals = new Arrivals()
    const server = serverOf(spillway, arrivals)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address()
    const clients = Array.from(
      { length: CLIENTS },
      (_, i) => new SoakClient(port, arrivals, randomFrom(SEED + i))
    )
    await Promise.all(
      clients.map(async (client) => {
        while (client.sent < REQUESTS / CLIENTS) await client.step()
      })
    )
    const sum = (of) => clients.reduce((total, client) => total + of(client), 0)
    const sent = sum((client) => client.sent)
    await settle(measured, sent)
    for (const client of clients) client.close()
    server.close()
    await once(server, 'close')

    const { inFlight, outcomes, faults } = await measured()
    const late = sum(({ tally }) => tally.timed_out)
    const lateOutcome = late > 0 ? { timed_out: late } : {}
    assert.deepEqual(
      { inFlight, faults, outcomes },
      {
        inFlight: 0,
        faults: 0,
        outcomes: {
          completed: sum(({ tally }) => tally.completed),
          errored: sum(({ tally }) => tally.errored),
          aborted: sum(({ tally }) => tally.aborted),
          ...lateOutcome,
        },
      }
    )
    const { requests, routes } = spillway.snapshot()
    assert.equal(requests.sinceStart.count, sent)
    assert.equal(
      routes.reduce((total, { sinceStart }) => total + sinceStart.count, 0),
      sent
    )
    assert.ok(
      routes.every(({ route }) => !/\d/.test(route)),
      'no label has an id in it'
    )
  })
}
