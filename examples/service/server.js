'use strict'
// A service as it is deployed: metrics on a port of their own, a check of what it depends on, and an end without a lost
// request. Beside it is what runs it: ecosystem.config.js for PM2, kubernetes/, and compose.yml with Prometheus and Grafana.

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
  // They are for Prometheus, on the admin server below, and not for the world.
  endpoints: { metrics: false },
  // Two seconds above the slowest route: a handler that forgets a request keeps it for no longer.
  errors: { timeout: 10_000 },
  // At 80 % of the heap or of the container's memory it drains and exits with 0, to be started anew.
  memory: { recycleAt: 0.8 },
  log: { slowAfter: 1000 },
})

/** In place of a database. */
const database = {
  ping: async () => true,
  find: async (id) => {
    await delay(5)
    return { id }
  },
}

// While it fails, /readyz says 503, and the balancer sends nothing. /livez goes on saying 200: a restart would not help.
spillway.health.check('database', () => database.ping())

const app = express()
app.use(spillway.express())
app.get('/users/:id', async (req, res) => {
  res.json(await database.find(req.params.id))
})
app.use(spillway.errorHandler())

const server = app.listen(Number(PORT), HOST)
// SIGTERM drains, and ends the process with 0 if nothing had to be cut.
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
  // Of workers that share one host, one has the port and answers for all.
  (error) => console.log(error.message)
)
