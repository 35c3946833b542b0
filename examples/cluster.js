'use strict'
// Four workers, replaced when it crashes or takes too much memory, and all of them in turn on SIGUSR2.
// Start it, open /users/7 a few times, then /metrics: on whichever worker answers, the numbers are those of all.

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
  // SIGTERM and SIGINT let a worker answer what it has begun; the primary passes them on.
  spillway.attach(server, { signals: true })

  server.once('listening', () => {
    if (cluster.worker.id === 1) console.log(`Open http://127.0.0.1:${server.address().port}/metrics`)
  })
}
