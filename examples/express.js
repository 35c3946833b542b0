'use strict'
// The smallest Express server, for Express 5 and 4. Start it, open /users/7 a few times, then /metrics.

const express = require('express')
const { createSpillway } = require('spillway')

const spillway = createSpillway()
const app = express()

// First, so that it measures everything behind it. It also answers /metrics, /livez and /readyz.
app.use(spillway.express())

app.get('/users/:id', (req, res) => {
  res.json({ id: req.params.id })
})

// Last, so that it answers every error safely, counts it and logs it.
app.use(spillway.errorHandler())

const server = app.listen(process.env.PORT || 3000, '127.0.0.1')

// Recommended: measuring then starts before Express runs, and costs less.
spillway.attach(server)

server.once('listening', () => console.log(`Open http://127.0.0.1:${server.address().port}/metrics`))
