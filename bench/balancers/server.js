'use strict'
// node server.js <milliseconds of a query>: a worker with four connections to a database, behind a balancer.
// Its work is waiting, so that other processes of the machine change little.

const path = require('node:path')
const { createPool } = require('generic-pool')
const { peer } = require('../support/peers')

const { createSpillway } = require(path.resolve(__dirname, '../../src'))

const queryMs = Number(process.argv[2])
const CONNECTIONS = 4
const MAX_WAIT_MS = 200

const spillway = createSpillway({ logger: false })
const pool = createPool({ create: async () => ({}), destroy: async () => {} }, { max: CONNECTIONS })
spillway.pool('database', pool, { maxWait: MAX_WAIT_MS })

const app = peer('express')()
app.get('/work', async (_req, res) => {
  const connection = await pool.acquire()
  await new Promise((resolve) => setTimeout(resolve, queryMs))
  pool.release(connection)
  res.send('ok')
})
const server = app.listen(0, '127.0.0.1', async () => {
  const agent = await spillway.agent({ port: 0 })
  process.send?.({ port: /** @type {any} */ (server.address()).port, agentPort: agent.port })
})
server.keepAliveTimeout = 0
spillway.attach(server)
process.on('disconnect', () => process.exit())
