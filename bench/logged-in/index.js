'use strict'
// node bench/logged-in: what it costs to know the user before the gate, by the recipes of docs/recipes.md. Microseconds
// of CPU for each request behind Express 5, without the kernel, as in bench/hot-path; for requests that are admitted, and for
// those that are turned away. Medians of several processes, of the fastest tenth of their slices.

const { fork } = require('node:child_process')
const { createHmac } = require('node:crypto')
const { once } = require('node:events')
const http = require('node:http')
const express = require('express')
const { systemClock } = require('../../src/clock')
const { Spillway } = require('../../src/spillway')
const { recipe } = require('../../test/admission/recipes')
const { answerHelp } = require('../support/help')
const { loadOf } = require('../support/memory-load')
const { machineLine } = require('../support/results')
const { median } = require('../support/statistics')

answerHelp()

const PROCESSES = Number(process.env.PROCESSES ?? 5)
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

/** How the user is known; `verifies` with every request anew. */
const WAYS = {
  'nobody asks': { hasMiddleware: false },
  'token before the gate, remembered': { hasMiddleware: false, heading: 'Look at the token before the gate' },
  'token before the gate, verified each time': {
    hasMiddleware: false,
    heading: 'Look at the token before the gate',
    verifies: true,
  },
  'express() behind authentication': { hasMiddleware: true, heading: 'Decide after authentication' },
}

async function serve({ hasMiddleware, heading, verifies }, isRejecting) {
  process.env.SESSION_SECRET = SECRET
  const before = await recipe('Look at the token before the gate', ['shed', 'userOf', 'known'])
  const shed = heading === undefined ? {} : { ...(await recipe(heading)).shed }
  if (verifies) shed.classify = forgetful(before)
  const limit = isRejecting ? { mode: 'threshold', maxConcurrent: 1 } : {}
  // Of one clock that stands no rejection is sent late: this client asks again at once.
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

/** Takes the only slot for good. */
async function hold(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  http.get({ port: server.address().port, path: '/hold', agent: false }).on('error', () => {})
  await once(server, 'request')
}

async function measureHere(way, isRejecting) {
  const run = loadOf(await serve(WAYS[way], isRejecting), REQUEST)
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

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  for (const outcome of ['admitted', 'turned away']) {
    const names = Object.keys(WAYS)
    const figures = names.map(() => [])
    for (let i = 0; i < PROCESSES; i++) {
      for (const [index, way] of names.entries()) {
        const [micros] = await once(fork(__filename, [way, outcome]), 'message')
        figures[index].push(micros)
      }
    }
    for (const [index, way] of names.entries()) {
      const micros = median(figures[index])
      const added = micros - median(figures[0])
      process.stdout.write(
        `${outcome.padEnd(12)} ${way.padEnd(42)} ${micros.toFixed(1).padStart(6)} µs  +${added.toFixed(1)}\n`
      )
    }
  }
}

if (process.argv[2] === undefined) main()
else measureHere(process.argv[2], process.argv[3] === 'turned away')
