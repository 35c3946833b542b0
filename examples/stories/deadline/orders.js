'use strict'
// The orders of a user from Postgres, for the front. See app.js.

const express = require('express')
const { Pool } = require('pg')
const { createSpillway } = require('spillway')
const { ORDERS_OF, ask, createTables } = require('./database')
const { createJournal } = require('./journal')

const CONNECTIONS = 3
const isFixed = process.argv.includes('--fixed')
const journal = createJournal(process.env.JOURNAL)
process.on('disconnect', () => process.exit())

const spillway = createSpillway(
  isFixed
    ? {
        shed: { mode: 'adaptive' },
        // The front says when it asked, and how long is left.
        proxy: { requestStart: true },
        deadline: { header: 'x-request-timeout-ms' },
      }
    : // It only measures: nothing is rejected.
      { shed: { mode: 'observe' } }
)

const connectionString = process.env.DATABASE_URL
const pool = new Pool({ connectionString, max: CONNECTIONS })
const canceller = new Pool({ connectionString, max: 1 })
spillway.pool('db', pool)

const app = express()
app.use(spillway.express())
// No more at a time than the database has connections for, and nobody waits for longer than half a second.
if (isFixed)
  app.use(
    '/orders',
    spillway.limit({ name: 'database', maxConcurrent: CONNECTIONS, maxWait: 500, maxQueue: 3 })
  )

app.get('/orders/:user', async (req, res) => {
  const id = String(req.headers['x-request-id'])
  const query = { text: ORDERS_OF, values: [req.params.user] }
  const signal = isFixed ? spillway.signal(req) : undefined
  const { rows } = await ask({ pool, canceller }, query, signal, (work) => journal.database(id, work))
  res.json(journal.loop(id, () => summaryOf(rows)))
})
app.use((error, _req, res, next) => {
  if (error.code === 'ERR_SPILLWAY_DEADLINE') res.sendStatus(504)
  else next(error)
})
app.use(spillway.errorHandler())

const POUNDS = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'GBP' })
const price = (pence) => POUNDS.format(pence / 100)

function summaryOf(rows) {
  const months = new Map()
  for (const { at, pence, pieces, product } of rows) {
    const month = at.toISOString().slice(0, 7)
    const sum = months.get(month) ?? { month, orders: [], totalPence: 0 }
    sum.orders.push({ product, pieces, price: price(pieces * pence) })
    sum.totalPence += pieces * pence
    months.set(month, sum)
  }
  return [...months.values()].map(({ totalPence, ...rest }) => ({ ...rest, total: price(totalPence) }))
}

async function main() {
  await createTables(pool)
  const server = app.listen(0, '127.0.0.1')
  spillway.attach(server)
  const { url } = await spillway.listen({ port: 0 })
  process.send?.({ url: `http://127.0.0.1:${server.address().port}`, admin: url })
}

main()
