'use strict'
// A prom-client registry of your own: spillway registers its metrics there, and /metrics serves them with
// yours.

const express = require('express')
const { Counter, Registry } = require('prom-client')
const { createSpillway } = require('spillway')

const registry = new Registry()
const orders = new Counter({
  name: 'shop_orders_total',
  help: 'Orders taken.',
  labelNames: ['kind'],
  registers: [registry],
})

const spillway = createSpillway({ registry })
const app = express()

app.use(spillway.express())
app.get('/orders/:kind', (req, res) => {
  const kind = req.params.kind === 'book' ? 'book' : 'other'
  orders.inc({ kind })
  res.json({ kind })
})
app.use(spillway.errorHandler())

const server = app.listen(process.env.PORT || 3000, '127.0.0.1')
spillway.attach(server)
server.once('listening', () => console.log(`Open http://127.0.0.1:${server.address().port}/metrics`))
