'use strict'
// `spillway.pool()`: which arguments it takes, and how many pools there may be.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const { setTimeout } = require('node:timers/promises')
const { Pool } = require('pg')
const { MAX_POOLS } = require('../../src/core/gate/decision')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')
const { withoutDatabase } = require('./fake-client')

const FIGURES = { size: 1, idle: 1, waiting: 0 }

for (const [what, pool] of /** @type {[string, any][]} */ ([
  ['undefined', undefined],
  ['a string', 'pool'],
  ['an empty object', {}],
  ['a class', Pool],
  ['a half of the figures', { size: 1, idle: 0 }],
])) {
  test(`${what} is no pool, and the error names what is accepted`, (t) => {
    assert.throws(() => spillwayFor(t).pool('orders', pool), {
      name: 'SpillwayError',
      code: 'ERR_SPILLWAY_UNKNOWN_POOL',
      message:
        /Accepted are: a MongoClient.*mongoose; a Pool of pg; .*mysql2; a pool of mariadb; .*knex.*tarn; .*generic-pool; .*ioredis; .*undici.*; .*size, idle, waiting/,
    })
  })
}

test('the error names the figures that are missing', (t) => {
  assert.throws(() => spillwayFor(t).pool('orders', /** @type {any} */ ({ size: 1 })), {
    message: /got an object with size, which lacks idle and waiting as a number or function\./,
  })
})

test('what lies inside may be a getter that throws', (t) => {
  const given = {
    get driver() {
      throw new Error('not connected')
    },
  }
  assert.throws(() => spillwayFor(t).pool('orders', /** @type {any} */ (given)), {
    code: 'ERR_SPILLWAY_UNKNOWN_POOL',
  })
})

test('a getter of a pool that throws later ends nothing, and is counted', async (t) => {
  const spillway = spillwayFor(t)
  let isBroken = false
  const pool = Object.defineProperty(new Pool(withoutDatabase()), 'options', {
    get() {
      if (isBroken) throw new Error('a getter that throws')
      return { max: 1 }
    },
  })
  spillway.pool('orders', pool)
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  isBroken = true
  // The figure for autoscalers is measured while the loop turns.
  for (let i = 0; i < 5; i++) {
    assert.equal((await get('/')).status, 200)
    await setTimeout(110)
  }
  assert.ok(Number(spillway.snapshot().internalErrors.pools) > 2)
})

test('a pool that cannot be observed is an error at set-up, and leaves the name free', async (t) => {
  const spillway = spillwayFor(t)
  const pool = Object.freeze(new Pool(withoutDatabase()))
  assert.throws(() => spillway.pool('orders', pool), {
    name: 'SpillwayError',
    code: 'ERR_SPILLWAY_OPTION_VALUE',
    message: /^The pool 'orders' is frozen, .*before Object\.freeze\(\), or give figures/,
  })
  spillway.pool('orders', Object.freeze(FIGURES))
})

for (const name of /** @type {any[]} */ ([undefined, '', 5, 'n'.repeat(65), 'a\nb'])) {
  test(`the name ${JSON.stringify(name)?.slice(0, 20)} is refused`, (t) => {
    assert.throws(() => spillwayFor(t).pool(name, FIGURES), {
      code: 'ERR_SPILLWAY_OPTION_VALUE',
      message: /name/,
    })
  })
}

test('a name is taken until its handle is closed', (t) => {
  const spillway = spillwayFor(t)
  const handle = spillway.pool('orders', FIGURES)
  assert.throws(() => spillway.pool('orders', FIGURES), { message: /'orders' already/ })
  handle.close()
  const again = spillway.pool('orders', FIGURES)
  // The handle of the earlier pool does not close the later one.
  handle.close()
  assert.equal(spillway.snapshot().pools.length, 1)
  again.close()
  assert.equal(spillway.snapshot().pools.length, 0)
})

test(`there may be ${MAX_POOLS} pools`, (t) => {
  const spillway = spillwayFor(t)
  for (let i = 0; i < MAX_POOLS; i++) spillway.pool(`pool ${i}`, FIGURES)
  assert.throws(() => spillway.pool('one more', FIGURES), { message: /already 20 pools/ })
})

for (const maxWait of /** @type {any[]} */ ([-1, 'none', true, Number.NaN]))
  test(`maxWait: ${maxWait} is refused`, (t) => {
    assert.throws(() => spillwayFor(t).pool('orders', FIGURES, { maxWait }), {
      code: 'ERR_SPILLWAY_OPTION_VALUE',
    })
  })

test('an option that does not exist is refused', (t) => {
  const options = /** @type {any} */ ({ maxwait: 5 })
  assert.throws(() => spillwayFor(t).pool('orders', FIGURES, options), {
    code: 'ERR_SPILLWAY_UNKNOWN_OPTION',
  })
})

/** The series of pools that a first scrape shows. @param {import('node:test').TestContext} t */
async function seriesOf(t, act) {
  const spillway = spillwayFor(t)
  act(spillway)
  const server = http.createServer(spillway.handler('metrics')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const text = await (await fetch(`http://127.0.0.1:${port}/`)).text()
  server.closeAllConnections()
  server.close()
  return text.split('\n').filter((line) => line.startsWith('db_client_'))
}

for (const [given, max, inMetrics] of /** @type {[any, number | null, string | undefined]} */ ([
  ['10', 10, '10'],
  ['many', null, undefined],
  [Number.POSITIVE_INFINITY, null, undefined],
]))
  test(`a pool of pg with max: ${typeof given} ${given} has figures that are numbers`, async (t) => {
    let now
    const series = await seriesOf(t, (spillway) => {
      spillway.pool('orders', new Pool(withoutDatabase({ max: given })))
      now = spillway.snapshot().pools[0]
    })
    assert.deepEqual([now.max, now.used, now.idle, now.waiting], [max, 0, 0, 0])
    const bound = series.find((line) => line.startsWith('db_client_connection_limit'))
    assert.equal(bound?.split(' ')[1], inMetrics)
  })

test('without a pool there is no series, and a closed pool has none', async (t) => {
  assert.deepEqual(await seriesOf(t, () => {}), [])
  assert.deepEqual(await seriesOf(t, (spillway) => spillway.pool('orders', FIGURES)), [
    'db_client_connection_count{db_client_connection_pool_name="orders",db_client_connection_state="used"} 0',
    'db_client_connection_count{db_client_connection_pool_name="orders",db_client_connection_state="idle"} 1',
    'db_client_connection_pending_requests{db_client_connection_pool_name="orders"} 0',
  ])
  assert.deepEqual(await seriesOf(t, (spillway) => spillway.pool('orders', FIGURES).close()), [])
})
