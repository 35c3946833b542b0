'use strict'
// What `npm start` runs: an Express server under half of the load it can serve, ten times that load, and half again,
// first without spillway's gate and then with it. This file is the server, with all that an application needs for
// spillway. The rest is the show: demo-show.js runs it, load.js sends the requests from a process of its own.

const http = require('node:http')
const { setTimeout: delay } = require('node:timers/promises')
const express = require('express')
const { createSpillway } = require('spillway')
const { runShow } = require('./demo-show')

const CLASSES = { gold: 'critical', free: 'low' }
const spillway = createSpillway({
  // Optional: who is turned away first, and who last. Where it counts, from something a client cannot forge.
  shed: { classify: ({ headers }) => CLASSES[headers['x-plan']] ?? 'normal' },
  // The table below tells it; otherwise each overload and its end are a line of pino.
  logger: false,
})
const app = express()

// 1. The first middleware. It measures what comes after it, and answers /metrics, /livez and /readyz itself.
app.use(spillway.express())

// 2. The application, as it would be without spillway.
app.get('/hello/:name', (req, res) => {
  res.json({ hello: req.params.name })
})

// A router whose mount has a parameter: counted as /users/:id/orders, whoever the user is.
const users = express.Router({ mergeParams: true })
users.get('/orders', async (req, res) => {
  await delay(5)
  res.json({ user: req.params.id, orders: [] })
})
app.use('/users/:id', users)

// Slow, but only waiting: nobody else is held up.
app.get('/search', async (req, res) => {
  await delay(60)
  res.json({ found: 0 })
})

// Keeps the event loop to itself, so that every other request waits too.
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

// The last middleware: whatever is thrown or rejected gets a safe answer, and is counted.
app.use(spillway.errorHandler())

// 3. Recommended: a request is measured, or turned away, before Express has spent any time on it.
const server = http.createServer(app)
spillway.attach(server)

// In place of server.listen(3000): listens, runs the load, and shows what spillway.snapshot() has to say about it.
runShow({ server, spillway })
