'use strict'
// node server.js <options as JSON>: a service with Express, spillway and a pool of a driver, for
// bench/pools. A query holds a connection for a fixed time. `isObserved`: whether the pool is given to
// `spillway.pool()`.

const express = require('express')
const { host, spillwayOf } = require('../healthy/host')
const { createServer } = require('../support/kinds')
const { DRIVERS } = require('./drivers')

/** @type {import('./drivers').Settings & { driver: string, isObserved: boolean }} */
const { driver, isObserved, ...settings } = JSON.parse(process.argv[2])

async function main() {
  const { pool, ask } = await DRIVERS[driver].open(settings)
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
