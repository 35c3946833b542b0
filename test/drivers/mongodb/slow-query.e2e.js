// A slow collection behind Express and a small pool: what the doctor says. Time is moved by hand, so a scan
// takes as long as the test says.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const express = require('express')
const { handClock } = require('../../support/hand-clock')
const { serve } = require('../../support/serve')
const { spillwayFor } = require('../../support/spillway')
const { WireServer } = require('./wire-server')

const SIZE = 4
const SCAN_MS = 5000
const READ_MS = 4
const ROUNDS = 12
const READS = 8

/** Time that is moved by hand passes while the loop idles. */
function idleClock() {
  const clock = handClock()
  const startMs = clock.now()
  return { ...clock, cpuMs: () => 0, idleMs: () => clock.now() - startMs }
}

/**
 * A minute in which scans hold all connections, while quick reads of another collection wait for them.
 *
 * @param {import('node:test').TestContext} t @param {string} mapper @param {{ queries: boolean }} options
 */
async function findingsOf(t, mapper, options) {
  const server = await new WireServer().listen()
  const { Mongoose } = require(mapper)
  const mongoose = new Mongoose()
  const clock = idleClock()
  const spillway = spillwayFor(t, { shed: { mode: 'off' }, endpoints: false }, clock)
  spillway.pool('shop', mongoose.connection, options)
  const schema = () => new mongoose.Schema({ name: String }, { autoCreate: false, autoIndex: false })
  const models = { orders: mongoose.model('Order', schema()), items: mongoose.model('Item', schema()) }
  const app = express()
  app.use(spillway.express())
  for (const [path, model] of Object.entries(models))
    app.get(`/${path}`, async (_req, res) => res.json(await model.find()))
  const { port } = await serve(t, app)
  await mongoose.connect(server.url, { maxPoolSize: SIZE })
  t.after(async () => {
    server.isHolding = false
    server.letGo()
    await mongoose.disconnect()
    server.close()
  })
  const get = async (path) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  const waiting = () => spillway.snapshot().pools[0].waiting
  // The pool opens its connections, and the context of requests is on from the first wait on.
  server.isHolding = true
  for (let round = 0; round <= ROUNDS; round++) {
    const answers = Array.from({ length: SIZE }, () => get('/orders'))
    await server.holds(SIZE)
    for (let i = 0; i < READS; i++) answers.push(get('/items'))
    while (waiting() < READS) await new Promise((resolve) => setImmediate(resolve))
    clock.advance(SCAN_MS)
    server.letGo()
    for (let left = READS; left > 0; left -= SIZE) {
      await server.holds(SIZE)
      clock.advance(READ_MS)
      server.letGo()
    }
    await Promise.all(answers)
  }
  return spillway.diagnose().findings
}

for (const mapper of ['mongoose', 'mongoose-8']) {
  test(`${mapper}: the slow query is the cause, a short pool its effect, and no larger pool is advised`, async (t) => {
    const findings = await findingsOf(t, mapper, { queries: true })
    assert.deepEqual(
      findings.map(({ problem, route, effectOf }) => [problem, route, effectOf]),
      [
        ['slow-dependency', 'GET /orders', null],
        ['pool-exhausted', 'GET /orders', 'slow-dependency'],
      ]
    )
    const [slow, short] = findings
    assert.match(slow.summary, /The query find orders takes 5 s. So all connections of the pool 'shop' are/)
    assert.match(slow.advice, /^Look at the plan of find orders, over the pool 'shop'/)
    assert.match(
      short.advice,
      /^First make the query find orders cheaper, .* 5 s on average, and the other queries 4 ms\. A larger pool is not the remedy\.$/
    )
  })

  test(`${mapper}: without figures by query the size is for today's durations`, async (t) => {
    const findings = await findingsOf(t, mapper, { queries: false })
    const short = findings.find(({ problem }) => problem === 'pool-exhausted')
    assert.equal(short?.effectOf, 'slow-dependency')
    assert.match(String(short?.advice), /This size is right as long as a use takes .*`queries: true` shows/)
  })
}
