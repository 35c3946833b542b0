'use strict'
// Express 5, and Express 4 unchanged. Start it, open /users/7 a few times, then /metrics.

const express = require('express')
const { createSpillway } = require('spillway')

const spillway = createSpillway()
const app = express()

// First, so that everything behind it is measured. It also answers /metrics, /livez and /readyz.
app.use(spillway.express())

app.get('/users/:id', (req, res) => {
  res.json({ id: req.params.id })
})

// Last, so that every error gets a safe answer, and is counted and logged.
app.use(spillway.errorHandler())

const server = app.listen(process.env.PORT || 3000, '127.0.0.1')

// Recommended: the clock then starts before Express does, and measuring costs less.
spillway.attach(server)

server.once('listening', () => console.log(`Open http://127.0.0.1:${server.address().port}/metrics`))
