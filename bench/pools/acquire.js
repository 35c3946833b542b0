'use strict'
// What `spillway.pool()` adds to one use of a connection: `pool.connect` of the real pg-pool, with a client
// that does nothing, and its release. Blocks with and without alternate; the figure is the median of the
// differences of neighbours.

const { Pool } = require('pg')
const { createSpillway } = require('../../src/index.js')
const { median } = require('../support/statistics')

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

/** @returns {Promise<number>} microseconds of CPU time a use */
function block(pool) {
  return new Promise((resolve) => {
    let left = USES
    const sinceUs = cpuUs()
    const use = () => {
      if (left-- === 0) return resolve((cpuUs() - sinceUs) / USES)
      pool.connect((_error, _client, release) => {
        release()
        use()
      })
    }
    use()
  })
}

/** @returns {Promise<{ withoutUs: number, withUs: number, addedUs: number }>} */
async function measureAcquire() {
  const pool = /** @type {any} */ (new Pool({ max: 5, idleTimeoutMillis: 0, Client: IdleClient }))
  const spillway = createSpillway({ logger: false })
  const [without, observed, added] = [[], [], []]
  for (let i = 0; i < BLOCKS; i++) {
    const bare = await block(pool)
    const handle = spillway.pool('bench', pool)
    const seen = await block(pool)
    handle.close()
    // The first blocks compile the code.
    if (i < 5) continue
    without.push(bare)
    observed.push(seen)
    added.push(seen - bare)
  }
  spillway.close()
  return { withoutUs: median(without), withUs: median(observed), addedUs: median(added) }
}

module.exports = { measureAcquire }
