'use strict'
// node server.js <none|gate|brownout>: a page of 2 ms of CPU behind Express, 1.5 of them for recommendations
// that it can do without.

const path = require('node:path')
const { burnIterations } = require('../support/burn')
const { foreignMs } = require('../support/foreign')
const { peer } = require('../support/peers')

const { createSpillway } = require(path.resolve(__dirname, '../../src'))

const FULL_MS = 2
const DEGRADED_MS = 0.5
const [policy] = process.argv.slice(2)
const perMs = Number(process.env.BURN_PER_MS)
const answered = { full: 0, degraded: 0 }

const app = peer('express')()
const spillway = policy === 'none' ? undefined : createSpillway({ logger: false })
app.get('/work', (req, res) => {
  const isDegraded = policy === 'brownout' && /** @type {any} */ (spillway).shouldDegrade(req)
  burnIterations((isDegraded ? DEGRADED_MS : FULL_MS) * perMs)
  answered[isDegraded ? 'degraded' : 'full']++
  res.json({ ok: true })
})
app.get('/warm', (_req, res) => res.json({ ok: true }))
app.get('/livez', (_req, res) => res.end('ok'))

const server = app.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  process.send?.({ port: /** @type {any} */ (server.address()).port })
)
server.keepAliveTimeout = 0
spillway?.attach(server)
process.on('message', () =>
  process.send?.({ ...answered, atMs: performance.now(), foreignMs: foreignMs(process.env.SERVER_CORE) })
)
process.on('disconnect', () => process.exit())
