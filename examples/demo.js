'use strict'
// What `npm start` runs: an Express server at half of its capacity, at ten times its capacity, at half again,
// and with 50 clients that ask again at once, first without spillway's gate and then with it. This file is
// the server, with everything an application needs to use spillway. demo-show.js runs and prints the demo;
// load.js sends the requests from a separate process.

const http = require('node:http')
const { setTimeout: delay } = require('node:timers/promises')
const express = require('express')
const { createSpillway } = require('spillway')
const { runShow } = require('./demo-show')

const CLASSES = { gold: 'critical', free: 'low' }
const spillway = createSpillway({
  // Optional: `low` requests are rejected first, `critical` requests last. In production, classify by
  // something that a client cannot forge.
  shed: { classify: ({ headers }) => CLASSES[headers['x-plan']] ?? 'normal' },
  // The table shows overloads. By default, pino logs a line when an overload begins and ends.
  logger: false,
})
const app = express()

// 1. The first middleware. It measures everything behind it, and answers /metrics, /livez and /readyz itself.
app.use(spillway.express())

// 2. The application, the same as without spillway.
app.get('/hello/:name', (req, res) => {
  res.json({ hello: req.params.name })
})

// A router under a path with a parameter: all its requests count as /users/:id/orders.
const users = express.Router({ mergeParams: true })
users.get('/orders', async (req, res) => {
  await delay(5)
  res.json({ user: req.params.id, orders: [] })
})
app.use('/users/:id', users)

// Slow, but only waits: other requests are not delayed.
app.get('/search', async (req, res) => {
  await delay(60)
  res.json({ found: 0 })
})

// Blocks the event loop, so that every other request waits too.
app.get('/report', (req, res) => {
  const endMs = performance.now() + 6
  while (performance.now() < endMs);
  res.json({ pages: 1 })
})

// Fails on purpose: the error handler below answers 500, without the error's text, and counts it.
app.get('/pay', async () => {
  await delay(2)
  throw new Error('The bank does not answer.')
})

// The last middleware: it gives every error a safe answer, and counts it.
app.use(spillway.errorHandler())

// 3. Recommended: spillway measures or rejects a request before Express spends any time on it.
const server = http.createServer(app)
spillway.attach(server)

// In place of server.listen(3000): listens, runs the load, and prints what spillway.snapshot() shows.
runShow({ server, spillway })
