'use strict'
// The drivers of bench/pools: the server that each needs, and a pool of it with a query that holds a connection
// for a fixed time. All but `pg` are installed by `npm ci --prefix` in their folder of test/drivers.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')

const DRIVERS = path.join(__dirname, '../../test/drivers')
/** @param {string} folder @param {string} name */
const load = (folder, name) => require(path.join(DRIVERS, folder, 'node_modules', name))

async function startWireServer() {
  const file = path.join(DRIVERS, 'mongodb/wire-server.js')
  const server = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(server.stdout, 'data')
  return { url: String(line).trim(), stop: async () => void server.kill() }
}

async function startPostgres() {
  const postgres = await require('../healthy/postgres').startPostgres()
  if (postgres === undefined) throw new Error('this bench needs a Postgres: initdb and postgres in the PATH')
  return postgres
}

/**
 * @typedef {{ url: string, size: number, queryMs: number }} Settings
 * @typedef {{ start: () => Promise<{ url: string, stop: () => Promise<void> }>,
 *   open: (settings: Settings) => Promise<{ pool: any, ask: () => Promise<unknown> }> }} Driver
 */

/** @type {Record<string, Driver>} */
module.exports = {
  pg: {
    start: startPostgres,
    async open({ url, size, queryMs }) {
      const { Pool } = require('pg')
      const pool = new Pool({ connectionString: url, max: size })
      pool.on('error', () => {})
      return { pool, ask: () => pool.query(`select pg_sleep(${queryMs / 1000})`) }
    },
  },

  mongodb: {
    start: startWireServer,
    async open({ url, size, queryMs }) {
      const { MongoClient } = load('mongodb', 'mongodb')
      const pool = new MongoClient(url, { maxPoolSize: size })
      // The server takes the comment for the time of its answer.
      return { pool, ask: () => pool.db().collection('items').findOne({}, { comment: queryMs }) }
    },
  },

  mysql2: {
    start: () => require('../../test/drivers/mariadb/mariadb-server').startMariadb(),
    async open({ url, size, queryMs }) {
      const pool = load('mariadb', 'mysql2/promise').createPool({ uri: url, connectionLimit: size })
      return { pool, ask: () => pool.query(`select sleep(${queryMs / 1000})`) }
    },
  },

  redis: {
    start: () => require('../../test/drivers/redis/redis-server').startRedis(),
    async open({ url, size, queryMs }) {
      const { createClientPool } = load('redis', 'redis')
      const pool = createClientPool({ url }, { minimum: 1, maximum: size, acquireTimeout: 0 })
      pool.on('error', () => {})
      await pool.connect()
      // Nobody pushes to that list.
      return { pool, ask: () => pool.sendCommand(['BLPOP', 'none', String(queryMs / 1000)]) }
    },
  },
}
