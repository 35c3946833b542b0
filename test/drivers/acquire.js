'use strict'
// node test/drivers/acquire.js: what `spillway.pool()` adds to one use of a connection of the pools in
// test/drivers/, with connections that do nothing. Blocks with and without alternate, and the figure is the
// median of the differences of neighbours, in microseconds of CPU time. Needs `npm run test:drivers` before, and
// redis-server.

const { createSpillway } = require('../../src/index.js')
const { median } = require('../../bench/support/statistics')
const { startRedis } = require('./support/redis')

const USES = 20_000
const BLOCKS = 25
/** The first blocks compile the code. */
const WARM = 5

const cpuUs = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

async function block(use) {
  const sinceUs = cpuUs()
  for (let i = 0; i < USES; i++) await use()
  return (cpuUs() - sinceUs) / USES
}

/** @param {object} pool @param {() => Promise<unknown>} use */
async function measure(pool, use) {
  const spillway = createSpillway({ logger: false })
  const [without, added] = [[], []]
  for (let i = 0; i < BLOCKS; i++) {
    const bare = await block(use)
    const handle = spillway.pool('bench', pool)
    const seen = await block(use)
    handle.close()
    if (i < WARM) continue
    without.push(bare)
    added.push(seen - bare)
  }
  spillway.close()
  return { withoutUs: median(without), addedUs: median(added) }
}

async function main() {
  const { Pool: SequelizePool } = require('./sql/node_modules/sequelize-pool')
  const { Pool: TarnPool } = require('./sql/node_modules/tarn')
  const factory = { create: async () => ({}), destroy: async () => {}, validate: () => true, min: 0, max: 5 }
  const sequelize = new SequelizePool(factory)
  const tarn = new TarnPool(factory)
  const server = await startRedis()
  const { createClientPool } = require('./redis/node_modules/redis')
  const redis = await createClientPool({ url: server.url }, { maximum: 5 }).connect()
  const nothing = async () => {}
  const POOLS = {
    sequelize: [sequelize, async () => sequelize.release(await sequelize.acquire())],
    tarn: [tarn, async () => tarn.release(await tarn.acquire().promise)],
    redis: [redis, () => redis.execute(nothing)],
  }
  for (const [name, [pool, use]] of Object.entries(POOLS)) {
    const { withoutUs, addedUs } = await measure(/** @type {any} */ (pool), use)
    console.log(`${name}: ${addedUs.toFixed(2)} us more than ${withoutUs.toFixed(2)} us a use`)
  }
  await redis.close()
  await server.stop()
  process.exit()
}

main()
