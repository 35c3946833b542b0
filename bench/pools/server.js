'use strict'
// node server.js <options as JSON>: a service with Express, spillway and a pool of `pg` or `mongodb`, for
// bench/pools. A query holds a connection for a fixed time. `isObserved`: whether the pool is given to
// `spillway.pool()`.

const express = require('express')
const { Pool } = require('pg')
const { host, spillwayOf } = require('../healthy/host')
const { createServer } = require('../support/kinds')

/** @type {{ url: string, driver: string, size: number, queryMs: number, isObserved: boolean }} */
const { url, driver, size, queryMs, isObserved } = JSON.parse(process.argv[2])

function postgres() {
  const pool = new Pool({ connectionString: url, max: size })
  pool.on('error', () => {})
  return { pool, ask: () => pool.query(`select pg_sleep(${queryMs / 1000})`) }
}

function mongo() {
  const { MongoClient } = require('../../test/drivers/mongodb/node_modules/mongodb')
  const pool = new MongoClient(url, { maxPoolSize: size })
  // The server takes the comment for the time of its answer.
  return { pool, ask: () => pool.db().collection('items').findOne({}, { comment: queryMs }) }
}

function main() {
  const { pool, ask } = driver === 'mongodb' ? mongo() : postgres()
  const app = express()
  app.get('/db', (_req, res, next) => {
    ask().then(() => res.json({ ok: true }), next)
  })
  app.get('/other', (_req, res) => res.json({ ok: true }))
  app.get('/warm', (_req, res) => res.json({ ok: true }))
  const server = createServer('plain')
  server.on('request', app)
  const spillway = spillwayOf('on')
  if (isObserved) spillway.pool('orders', pool)
  spillway.attach(server)
  host(server, spillway)
}

main()
