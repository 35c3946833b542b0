'use strict'
// The pages of the shop: a catalogue from memory, and the orders of a user from the orders service. See
// app.js.

const express = require('express')
const { createSpillway } = require('spillway')
const { createJournal } = require('./journal')

const { ORDERS, JOURNAL } = process.env
/** Timeout of each call, where there is no deadline. */
const TIMEOUT_MS = 2000
const isFixed = process.argv.includes('--fixed')
const journal = createJournal(JOURNAL)
process.on('disconnect', () => process.exit())

const spillway = createSpillway(
  isFixed
    ? {
        shed: { mode: 'adaptive' },
        // nginx says when it took the request, and until when it wants an answer.
        proxy: { requestStart: true },
        deadline: { header: 'x-request-timeout-ms', forward: [new URL(ORDERS).host] },
      }
    : { shed: { mode: 'observe' } }
)

const app = express()
app.use(spillway.express())

const PRODUCTS = Array.from({ length: 20 }, (_, n) => ({ name: `product ${n}`, pence: 100 + 37 * n }))
app.get('/catalogue', (req, res) => {
  res.json(
    journal.loop(String(req.headers['x-request-id']), () =>
      PRODUCTS.map(({ name, pence }) => ({ name, price: pence / 100 }))
    )
  )
})

app.get('/orders/:user', async (req, res) => {
  const id = String(req.headers['x-request-id'])
  const signal = isFixed ? spillway.signal(req) : AbortSignal.timeout(TIMEOUT_MS)
  const headers = { 'x-request-id': id, ...(isFixed && { 'x-request-start': `t=${Date.now() / 1000}` }) }
  const answer = await fetch(`${ORDERS}/orders/${req.params.user}`, { headers, signal })
  if (!answer.ok) {
    const retryAfter = answer.headers.get('retry-after')
    if (retryAfter !== null) res.set('retry-after', retryAfter)
    return res.status(answer.status).send(await answer.text())
  }
  const months = await answer.json()
  res.send(journal.loop(id, () => pageOf(months)))
})
app.use((error, _req, res, next) => {
  if (error.code === 'ERR_SPILLWAY_DEADLINE' || error.name === 'TimeoutError') res.sendStatus(504)
  else next(error)
})
app.use(spillway.errorHandler())

const pageOf = (months) =>
  `<h1>Your orders</h1>${months.map(({ month, total, orders }) => `<h2>${month}: ${total}</h2><ul>${orders.map(lineOf).join('')}</ul>`).join('')}`
const lineOf = ({ product, pieces, price }) => `<li>${pieces} x ${product}: ${price}</li>`

async function main() {
  const server = app.listen(0, '127.0.0.1')
  spillway.attach(server, isFixed ? { behindProxy: true } : {})
  const { url } = await spillway.listen({ port: 0 })
  process.send?.({ port: server.address().port, admin: url })
}

main()
