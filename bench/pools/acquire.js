'use strict'
// What `spillway.pool()` adds to one use of a connection: `pool.connect` of the real pg-pool, with a client
// that does nothing, and its release; or `checkOut` and `checkIn` of the real pool of mongodb. Blocks of an
// observed pool and of another one alternate; the figure is the median of the differences of neighbours.

const { Pool } = require('pg')
const { createSpillway } = require('../../src/index.js')
const { median } = require('../support/statistics')
const { load } = require('./drivers')

/** The drivers that it knows. */
const ACQUIRED = ['pg', 'mongodb']
const USES = 20_000
const BLOCKS = 31

class IdleClient {
  _queryable = true
  connect(done) {
    done()
  }
  on() {}
  removeListener() {}
  once() {}
  end(done) {
    done?.()
  }
}

const cpuUs = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

function usesOfPg(pool) {
  return new Promise((resolve) => {
    let left = USES
    const use = () => {
      if (left-- === 0) return resolve(undefined)
      pool.connect((_error, _client, release) => {
        release()
        use()
      })
    }
    use()
  })
}

/** The driver passes as much with each command. */
const timeoutContext = { connectionCheckoutTimeout: null, csotEnabled: () => false }

async function usesOfMongo(client) {
  const [{ pool }] = client.topology.s.servers.values()
  for (let left = USES; left > 0; left--) pool.checkIn(await pool.checkOut({ timeoutContext }))
}

/** @returns {Promise<number>} microseconds of CPU time a use */
async function block(pool, uses) {
  const sinceUs = cpuUs()
  await uses(pool)
  return (cpuUs() - sinceUs) / USES
}

async function poolOf(driver) {
  if (driver === 'pg')
    return {
      pool: /** @type {any} */ (new Pool({ max: 5, idleTimeoutMillis: 0, Client: IdleClient })),
      uses: usesOfPg,
      close: async () => {},
    }
  const { MongoClient } = load('mongodb')
  const { WireServer } = require('../../test/drivers/mongodb/wire-server')
  const server = await new WireServer().listen()
  const pool = await new MongoClient(server.url, { maxPoolSize: 5 }).connect()
  const close = async () => {
    await pool.close()
    server.close()
  }
  return { pool, uses: usesOfMongo, close }
}

/** @returns {Promise<{ withoutUs: number, withUs: number, addedUs: number }>} */
async function measureAcquire(driver) {
  const plain = await poolOf(driver)
  const observed = await poolOf(driver)
  const spillway = createSpillway({ logger: false })
  spillway.pool('bench', observed.pool)
  const [without, with_, added] = [[], [], []]
  for (let i = 0; i < BLOCKS; i++) {
    const bare = await block(plain.pool, plain.uses)
    const seen = await block(observed.pool, observed.uses)
    // The first blocks compile the code.
    if (i < 5) continue
    without.push(bare)
    with_.push(seen)
    added.push(seen - bare)
  }
  spillway.close()
  await plain.close()
  await observed.close()
  return { withoutUs: median(without), withUs: median(with_), addedUs: median(added) }
}

module.exports = { ACQUIRED, measureAcquire }
