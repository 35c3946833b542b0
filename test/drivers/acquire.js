'use strict'
// node test/drivers/acquire.js: what `spillway.pool()` adds to one use of a connection of the pools in
// test/drivers/, with connections that do nothing. Blocks of an observed pool and of another one alternate, and
// the figure is the median of the differences of neighbours, in microseconds of CPU time. Needs
// `npm run test:drivers` before, and redis-server.

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

/** @param {() => object} open @param {(pool: any) => () => Promise<unknown>} useOf */
async function measure(open, useOf) {
  const spillway = createSpillway({ logger: false })
  const observed = open()
  spillway.pool('bench', observed)
  const [plainUse, observedUse] = [useOf(open()), useOf(observed)]
  const [without, added] = [[], []]
  for (let i = 0; i < BLOCKS; i++) {
    const bare = await block(plainUse)
    const seen = await block(observedUse)
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
  const server = await startRedis()
  const { createClientPool } = require('./redis/node_modules/redis')
  const redis = []
  for (let i = 0; i < 2; i++)
    redis.push(await createClientPool({ url: server.url }, { maximum: 5 }).connect())
  const connected = [...redis]
  const nothing = async () => {}
  const POOLS = {
    sequelize: [() => new SequelizePool(factory), (pool) => async () => pool.release(await pool.acquire())],
    tarn: [() => new TarnPool(factory), (pool) => async () => pool.release(await pool.acquire().promise)],
    redis: [() => connected.pop(), (pool) => () => pool.execute(nothing)],
  }
  for (const [name, [open, useOf]] of Object.entries(POOLS)) {
    const { withoutUs, addedUs } = await measure(/** @type {any} */ (open), /** @type {any} */ (useOf))
    console.log(`${name}: ${addedUs.toFixed(2)} us more than ${withoutUs.toFixed(2)} us a use`)
  }
  for (const pool of redis) await pool.close()
  await server.stop()
  process.exit()
}

main()
