'use strict'
// A service with one fault: FAULT names it, and it begins when the bench says so. GET /items reads a file,
// GET /orders asks a dependency, POST /login hashes a password. Tells its ports.

const { pbkdf2, pbkdf2Sync } = require('node:crypto')
const { EventEmitter } = require('node:events')
const http = require('node:http')
const { readFile } = require('node:fs/promises')
const path = require('node:path')
const { promisify } = require('node:util')
const express = require('express')

/** With SPILLWAY_SRC, the bench measures another checkout. */
const { createSpillway } = require(path.resolve(__dirname, process.env.SPILLWAY_SRC ?? '../../src'))

const { FAULT = 'healthy', KOA = '', RATE = '60', WORK_MS = '0', UPSTREAM = '' } = process.env
const rate = Number(RATE)
/** How long the loop works for a request, on average. */
const workMs = Number(WORK_MS)
/** Of all requests: see the mix of the bench. */
const ITEMS = 0.6
const ORDERS = 0.3
const LOGIN = 0.1
const HASH_ROUNDS = 200_000
/**
 * Of the fault of the thread pool: six seconds of a CPU or more in each second, which is more than four
 * threads do.
 */
const POOL_ROUNDS = (60 / rate) * 6 * HASH_ROUNDS
const DEPENDENCY_MS = 15
const SLOW_MS = 900
/** Calls for each request, one after another. Four are usual. */
const CALLS = 14
const FEW_CALLS = 4
/**
 * GET /orders makes one call over this agent, and POST /login many at once. They use half of its sockets on
 * average, whatever the load. A few calls more than sockets are usual.
 */
const SOCKETS = 4
const QUICK_MS = 10
const CALLS_AT_ONCE = Math.ceil((SOCKETS * 0.5 * 1000) / (QUICK_MS * rate * LOGIN))
const FEW_AT_ONCE = 6
/** Clients of the bench wait for as long: half of them give up. */
const LATE_MS = 2000
/** Of a search that is sent with each letter: clients abort half of them. */
const SEARCH_MS = 150
/** Twice as long as clients of the fault wait. Then each request works on, for an eighth of the loop together. */
const LEFT_MS = 600
const LEFT_WORK_MS = 125 / (rate * ORDERS)

const spillway = createSpillway({
  shed: { mode: FAULT === 'saturated' ? 'off' : 'adaptive' },
  logger: FAULT === 'healthy' ? undefined : false,
})
const app = express()
app.use(spillway.express())

let isOn = false
let utilization = performance.eventLoopUtilization()
// The bench may be killed.
process.on('disconnect', () => process.exit())
process.on('message', (message) => {
  if (message === 'busy') {
    const now = performance.eventLoopUtilization()
    process.send?.({ busy: performance.eventLoopUtilization(now, utilization).utilization })
    utilization = now
    return
  }
  isOn = true
  if (FAULT === 'gc') fill()
})
const has = (fault) => isOn && FAULT === fault

function burn(ms) {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}
const work = () => burn(workMs * 2 * Math.random())
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const leaked = []
const kept = []
function fill() {
  for (let i = 0; i < 500_000; i++) kept.push({ id: i, name: `row ${i}`, tags: [i] })
}
const leak = (bytes) => leaked.push(Array.from({ length: bytes / 16 }, (_, i) => i + 0.5))

/** A listener more for each request, so that the loop is full after 25 seconds. */
const FULL_AFTER_S = 25
const LISTENER_MS = 1000 / ((rate * ITEMS) ** 2 * FULL_AFTER_S)
const answers = new EventEmitter()
function listen() {
  answers.on('answer', () => burn(LISTENER_MS))
  answers.emit('answer')
}

/** A pool of connections that is just too small for what comes. */
const POOL = 4
const HELD_MS = (POOL * 1000) / (rate * ORDERS) / 0.97
let free = POOL
const waiting = []
async function withConnection(use) {
  if (free > 0) free--
  else await new Promise((resolve) => waiting.push(resolve))
  await use()
  const next = waiting.shift()
  if (next === undefined) free++
  else next()
}

const agent = new http.Agent({ keepAlive: true, maxSockets: SOCKETS })
const callOver = () =>
  new Promise((resolve, reject) => {
    const call = http.get(`${UPSTREAM}quick`, { agent }, (res) => res.resume().on('end', resolve))
    call.on('error', reject)
  })

app.get('/items', async (_req, res) => {
  if (has('orphans') && Math.random() < 0.1) return
  if (has('overload') || has('saturated')) burn(4)
  if (has('gc')) {
    const rows = Array.from({ length: 8000 * Math.ceil(400 / rate) }, (_, i) => ({
      id: i,
      name: `row ${i}`,
      at: [i],
    }))
    for (const row of rows) kept[row.id] = row
  }
  if (has('leak')) leak(4e6 / rate)
  if (has('listeners')) listen()
  work()
  await wait(3)
  await readFile(__filename)
  res.json({ ok: true })
})
app.get('/orders', async (_req, res) => {
  if (has('errors') && Math.random() < 0.3)
    throw new TypeError("Cannot read properties of undefined (reading 'total')")
  // As since a deploy: the route does not become slower meanwhile.
  const calls = FAULT === 'calls' ? CALLS : FAULT === 'fewCalls' ? FEW_CALLS : 0
  for (let i = 0; i < calls; i++) await (await fetch(UPSTREAM)).text()
  if (FAULT === 'sockets' || FAULT === 'fewSockets') await callOver()
  if (FAULT === 'late') await wait(LATE_MS * (0.5 + Math.random()))
  if (FAULT === 'typing') await wait(SEARCH_MS * 2 * Math.random())
  if (has('left')) await wait(LEFT_MS)
  if (has('pool')) await withConnection(() => wait(HELD_MS * (0.5 + Math.random())))
  else {
    work()
    await wait(has('slow') ? SLOW_MS * (0.7 + 0.6 * Math.random()) : DEPENDENCY_MS)
  }
  if (has('left')) burn(LEFT_WORK_MS)
  res.json({ ok: true })
})
app.post('/login', async (_req, res, next) => {
  const atOnce = has('sockets') ? CALLS_AT_ONCE : FAULT === 'fewSockets' ? FEW_AT_ONCE : 0
  if (atOnce > 0) await Promise.all(Array.from({ length: atOnce }, callOver))
  if (has('blocked')) {
    pbkdf2Sync('secret', 'salt', HASH_ROUNDS, 64, 'sha512')
    return res.json({ ok: true })
  }
  const rounds = has('threads') ? POOL_ROUNDS : 500
  pbkdf2('secret', 'salt', rounds, 64, 'sha512', (error) => (error ? next(error) : res.json({ ok: true })))
})
app.get('/export', (_req, res) => res.end(Buffer.alloc(20e6)))
app.use(spillway.errorHandler())
app.use((_error, _req, res, _next) => res.status(500).json({ error: true }))

/** The healthy service as a Koa application. */
function koaApp() {
  const Koa = require('koa')
  const Router = require('@koa/router')
  const answer = (/** @type {(ctx: object) => Promise<unknown>} */ work) => async (ctx) => {
    await work(ctx)
    ctx.body = { ok: true }
  }
  const router = new Router()
    .get(
      '/items',
      answer(async () => {
        work()
        await wait(3)
        await readFile(__filename)
      })
    )
    .get(
      '/orders',
      answer(async () => {
        work()
        await wait(DEPENDENCY_MS)
      })
    )
    .post(
      '/login',
      answer(() => promisify(pbkdf2)('secret', 'salt', 500, 64, 'sha512'))
    )
  return new Koa().use(spillway.koa()).use(router.routes())
}

const server = (KOA === '' ? app : koaApp()).listen(0, '127.0.0.1', async () => {
  const { url } = await spillway.listen({ port: 0 })
  // With the timeouts of Node: a proxy keeps connections for longer.
  if (FAULT === 'keepAlive') spillway.attach(server)
  process.send?.({ port: /** @type {any} */ (server.address()).port, doctor: `${url}/doctor` })
})
