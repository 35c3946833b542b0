'use strict'
// The drivers of bench/pools: the server that each needs, and a pool of it with a query that holds a connection
// for a fixed time. All but `pg` are installed by `npm ci --prefix` in their folder of test/drivers.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { NO_POSTGRES, hasPostgres, startPostgres } = require('../healthy/postgres')
const mariadb = require('../../test/drivers/support/mariadb')
const redis = require('../../test/drivers/support/redis')

const INSTALLED = path.join(__dirname, '../../test/drivers')

async function startWireServer() {
  const file = path.join(INSTALLED, 'mongodb/wire-server.js')
  const server = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(server.stdout, 'data')
  return { url: String(line).trim(), stop: async () => void server.kill() }
}

/**
 * @typedef {{ url: string, size: number, queryMs: number }} Settings
 * @typedef {object} Driver
 * @property {string} [folder] of test/drivers that has the package
 * @property {() => string | false} isMissing why its server cannot be started here, or false
 * @property {() => Promise<{ url: string, stop: () => Promise<void> } | undefined>} start
 * @property {(settings: Settings) => Promise<{ pool: any, ask: () => Promise<unknown> }>} open
 */

/** @type {Record<string, Driver>} */
const DRIVERS = {
  pg: {
    isMissing: () => !hasPostgres() && NO_POSTGRES,
    start: startPostgres,
    async open({ url, size, queryMs }) {
      const { Pool } = require('pg')
      const pool = new Pool({ connectionString: url, max: size })
      pool.on('error', () => {})
      return { pool, ask: () => pool.query(`select pg_sleep(${queryMs / 1000})`) }
    },
  },

  mongodb: {
    folder: 'mongodb',
    isMissing: () => false,
    start: startWireServer,
    async open({ url, size, queryMs }) {
      const { MongoClient } = load('mongodb')
      const pool = new MongoClient(url, { maxPoolSize: size })
      // The server takes the comment for the time of its answer.
      return { pool, ask: () => pool.db().collection('items').findOne({}, { comment: queryMs }) }
    },
  },

  mysql2: {
    folder: 'sql',
    isMissing: mariadb.isMissing,
    start: mariadb.startMariadb,
    async open({ url, size, queryMs }) {
      const pool = load('mysql2').createPool({ uri: url, connectionLimit: size }).promise()
      return { pool, ask: () => pool.query(`select sleep(${queryMs / 1000})`) }
    },
  },

  redis: {
    folder: 'redis',
    isMissing: redis.isMissing,
    start: redis.startRedis,
    async open({ url, size, queryMs }) {
      const { createClientPool } = load('redis')
      const pool = createClientPool({ url }, { minimum: 1, maximum: size, acquireTimeout: 0 })
      pool.on('error', () => {})
      await pool.connect()
      // Nobody pushes to that list.
      return { pool, ask: () => pool.sendCommand(['BLPOP', 'none', String(queryMs / 1000)]) }
    },
  },
}

/** @param {string} name of a driver that has a folder */
const load = (name) => require(path.join(INSTALLED, String(DRIVERS[name].folder), 'node_modules', name))

/**
 * @param {string} name of a driver
 * @param {{ usesServer: boolean, installed?: string }} options `installed`: the folder with those of the drivers
 * @returns {string | undefined} why the bench cannot run with it here
 */
function reasonAgainst(name, { usesServer, installed = INSTALLED }) {
  const { folder, isMissing } = DRIVERS[name]
  if (folder !== undefined && !fs.existsSync(path.join(installed, folder, 'node_modules', name))) {
    const where = path.relative(process.cwd(), path.join(installed, folder))
    return `The driver ${name} is not installed: run npm ci --ignore-scripts --prefix ${where}`
  }
  const reason = usesServer && isMissing()
  return reason ? `The driver ${name} ${reason}` : undefined
}

module.exports = { DRIVERS, load, reasonAgainst }
