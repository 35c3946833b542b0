'use strict'
// A real Express service with an admin server, in a process of its own: prints where both are, and lives
// until its stdin ends. SERVICE_TOKEN: the token of the admin server.

const { once } = require('node:events')
const { setTimeout: delay } = require('node:timers/promises')
const express = require('express')
const { createSpillway } = require('../../src')

const spillway = createSpillway({ logger: false, endpoints: false, release: { version: '1.4.0' } })
const app = express()
app.use(spillway.express())
app.get('/users/:id', (req, res) => res.json({ id: req.params.id }))
app.get('/search', async (_req, res) => {
  await delay(20)
  res.json([])
})
app.get('/report', (_req, res) => {
  const endMs = performance.now() + 150
  while (performance.now() < endMs);
  res.json({})
})
app.get('/pay', async () => {
  throw new TypeError('the bank does not answer')
})
app.use(spillway.errorHandler())

async function main() {
  const server = app.listen(0, '127.0.0.1')
  spillway.attach(server)
  await once(server, 'listening')
  const { SERVICE_TOKEN: token } = process.env
  const admin = await spillway.listen({ port: 0, ...(token && { token }) })
  process.stdout.write(`${JSON.stringify({ app: server.address().port, admin: admin.port })}\n`)
  process.stdin.resume().on('end', () => process.exit(0))
}

main()
