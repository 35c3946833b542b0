'use strict'
// An Express server with four workers. The primary replaces a worker that crashes or uses too much memory,
// and replaces all workers one by one on SIGUSR2. Start it, open /users/7 a few times, then /metrics: any
// worker answers with the numbers of the whole fleet.

const cluster = require('node:cluster')
const express = require('express')
const { clusterPrimary, createSpillway } = require('spillway')

if (cluster.isPrimary) {
  const primary = clusterPrimary({ workers: 4 })
  primary.on('ready', ({ workers }) => console.log(`All ${workers} workers are ready.`))
} else serve()

function serve() {
  const spillway = createSpillway({ memory: { recycleAt: 0.8 } })
  const app = express()

  app.use(spillway.express())
  app.get('/users/:id', (req, res) => {
    res.json({ id: req.params.id })
  })
  app.use(spillway.errorHandler())

  const server = app.listen(process.env.PORT || 3000, '127.0.0.1')
  // On SIGTERM or SIGINT the primary passes the signal on, and each worker drains its requests in flight.
  spillway.attach(server, { signals: true })

  server.once('listening', () => {
    if (cluster.worker.id === 1) console.log(`Open http://127.0.0.1:${server.address().port}/metrics`)
  })
}
