'use strict'
// The service in the pictures: a shop whose login hashes synchronously, whose payments have begun to fail,
// and whose reports take long. It asks itself for everything, at a steady rate, and prints the address of its
// admin server.

const { pbkdf2Sync } = require('node:crypto')
const { once } = require('node:events')
const http = require('node:http')
const { setTimeout: wait } = require('node:timers/promises')
const express = require('express')
const { createSpillway } = require('../../src/index.js')

const EVERY_MS = 10
const ITERATIONS = 45_000
/** By path, each so many ticks. */
const MIX = {
  '/users/:i': 1,
  '/search': 4,
  '/orders/:i': 5,
  '/prices': 9,
  '/login': 12,
  '/pay': 17,
  '/reports/:i': 300,
}

async function main() {
  const spillway = createSpillway({ logger: false, release: { version: '2.7.1' } })
  const app = express()
  app.use(spillway.express())
  app.get('/users/:id', (req, res) => res.json({ id: req.params.id }))
  app.get('/search', (_req, res) => wait(20).then(() => res.json([])))
  app.get('/orders/:id', (_req, res) => wait(4).then(() => res.json({})))
  app.get('/prices', async (_req, res) => {
    await (await fetch(`http://127.0.0.1:${upstream.address().port}/`)).text()
    res.json({})
  })
  app.get('/login', function login(_req, res) {
    hashPassword('secret')
    res.json({})
  })
  app.get('/pay', () => {
    throw new TypeError('the order has no customer')
  })
  app.get('/reports/:id', function makeReport(_req, res) {
    for (let i = 0; i < 6; i++) hashPassword(`page ${i}`)
    res.json({})
  })
  app.use(spillway.errorHandler())
  const upstream = http.createServer((_req, res) => wait(12).then(() => res.end('{}')))
  upstream.listen(0, '127.0.0.1')
  const server = app.listen(0, '127.0.0.1')
  spillway.attach(server)
  await Promise.all([once(upstream, 'listening'), once(server, 'listening')])
  const { port } = server.address()
  const { url } = await spillway.listen({
    port: Number(process.env.ADMIN_PORT ?? 0),
    maxRequestsPerSecond: 100,
  })
  console.log(url)
  ask(port)
  process.on('disconnect', () => process.exit())
}

function hashPassword(password) {
  return pbkdf2Sync(password, 'salt', ITERATIONS, 32, 'sha256')
}

function ask(port) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 50 })
  let ticks = 0
  setInterval(() => {
    ticks++
    for (const [path, every] of Object.entries(MIX)) {
      if (ticks % every !== 0) continue
      const url = `http://127.0.0.1:${port}${path.replace(':i', String(ticks % 97))}`
      http.get(url, { agent }, (res) => res.resume()).on('error', () => {})
    }
  }, EVERY_MS)
}

main()
