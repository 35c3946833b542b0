'use strict'
// A service ready for production: metrics on a separate port, a health check of its database, and a shutdown
// that loses no request. The files beside it run it: ecosystem.config.js with PM2, kubernetes/, and
// compose.yml with Prometheus and Grafana.

const { setTimeout: delay } = require('node:timers/promises')
const express = require('express')
const { createSpillway } = require('spillway')

const {
  HOST = '127.0.0.1',
  PORT = '3000',
  ADMIN_HOST,
  ADMIN_PORT = '9464',
  ADMIN_TOKEN,
  ADMIN_NAMES,
} = process.env

const { version } = require('./package.json')

const spillway = createSpillway({
  // Marks deploys in the dashboard.
  release: { version },
  // The admin server below serves the metrics, so that they are not public.
  endpoints: { metrics: false },
  // Two seconds above the slowest route: if a handler forgets a request, it still gets an answer.
  errors: { timeout: 10_000 },
  // At 80 % of the heap limit or of the container's memory it drains and exits with 0. The supervisor
  // restarts it.
  memory: { recycleAt: 0.8 },
  log: { slowAfter: 1000 },
})

/** Stands for a real database. */
const database = {
  ping: async () => true,
  find: async (id) => {
    await delay(5)
    return { id }
  },
}

// While the check fails, /readyz answers 503, and the balancer sends no requests. /livez still answers 200: a
// restart would not help.
spillway.health.check('database', () => database.ping())

const app = express()
app.use(spillway.express())
app.get('/users/:id', async (req, res) => {
  res.json(await database.find(req.params.id))
})
app.use(spillway.errorHandler())

const server = app.listen(Number(PORT), HOST)
// SIGTERM drains. The process exits with 0 if no request had to be cut off.
spillway.attach(server, { signals: true })
server.once('listening', () => console.log(`Serving http://${HOST}:${server.address().port}/users/7`))

const admin = {
  host: ADMIN_HOST,
  port: Number(ADMIN_PORT),
  token: ADMIN_TOKEN,
  hosts: ADMIN_NAMES?.split(','),
}
spillway.listen(admin).then(
  ({ url }) => console.log(`Metrics at ${url}/metrics`),
  // Of the workers on one host, one has the port and answers for all.
  (error) => console.log(error.message)
)
