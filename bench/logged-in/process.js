'use strict'
// node process.js <way> <admitted | rejected>: measures a way in a process of its own, and sends the
// microseconds of a request.

const { createHmac } = require('node:crypto')
const { once } = require('node:events')
const http = require('node:http')
const express = require('express')
const { systemClock } = require('../../src/core/clock')
const { Spillway } = require('../../src/spillway')
const { recipe } = require('../../test/gate/recipes')
const { loadOf } = require('../support/memory-load')
const { WAYS } = require('./ways')

const SLICE = 100
const WARM_UP_SLICES = 300
const SLICES = 150
const SECRET = 'a secret of this benchmark'

const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
const content = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: 'user-1', plan: 'free', exp: 4_000_000_000 })}`
const token = `${content}.${createHmac('sha256', SECRET).update(content).digest('base64url')}`
const REQUEST = Buffer.from(
  `GET /hello HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`
)

async function serve({ hasMiddleware, heading, verifies }, isRejecting) {
  process.env.SESSION_SECRET = SECRET
  const before = await recipe('Look at the token before the gate', ['shed', 'userOf', 'known'])
  const shed = heading === undefined ? {} : { ...(await recipe(heading)).shed }
  if (verifies) shed.classify = forgetful(before)
  const limit = isRejecting ? { mode: 'threshold', maxConcurrent: 1 } : {}
  // The client sends its next request at once. With a clock that stands, no rejection is delayed.
  const nowMs = systemClock.now()
  const clock = isRejecting ? { ...systemClock, now: () => nowMs } : systemClock
  const spillway = new Spillway({ logger: false, shed: { ...limit, ...shed } }, clock)
  const app = express()
  if (hasMiddleware) {
    app.use((req, _res, next) => {
      req.user = before.userOf(req)
      next()
    })
    app.use(spillway.express())
  }
  app.get('/hold', () => {})
  app.get('/hello', (_req, res) => void res.send('hello'))
  const server = spillway.attach(http.createServer(app))
  if (isRejecting) await hold(server)
  return server
}

const forgetful =
  ({ shed, known }) =>
  (req) => {
    known.clear()
    return shed.classify(req)
  }

/** Takes the only slot for as long as the process lives. */
async function hold(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  http.get({ port: server.address().port, path: '/hold', agent: false }).on('error', () => {})
  await once(server, 'request')
}

async function main([way, outcome]) {
  const isRejecting = outcome === 'rejected'
  const run = loadOf(await serve(WAYS[way], isRejecting), () => REQUEST)
  const alive = setInterval(() => {}, 1000)
  for (let i = 0; i < WARM_UP_SLICES; i++) await run(SLICE)
  const micros = []
  for (let i = 0; i < SLICES; i++) {
    const since = process.cpuUsage()
    await run(SLICE)
    const { user, system } = process.cpuUsage(since)
    micros.push((user + system) / SLICE)
  }
  clearInterval(alive)
  process.send?.(micros.sort((a, b) => a - b)[Math.floor(micros.length / 10)], () => process.exit())
}

main(process.argv.slice(2))
