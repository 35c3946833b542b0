'use strict'
// node server.js <policy> <work> [express|koa] [<kind>]: the server of an overload, with a policy, a kind of
// work and a kind of connections (bench/support/kinds.js). A burn is a fixed number of iterations, not a
// fixed time: other tenants of the machine change its speed, and a burn by the clock would hide that from the
// server but not from the load. BURN_PER_MS says how many iterations take a millisecond, measured once for
// all servers of a run. Each server reports how long its burns took. On request, the server works for itself
// beside what it answers (own-work.js).

const path = require('node:path')
const { burnIterations, calibrate } = require('../support/burn')
const { foreignMs } = require('../support/foreign')
const { KINDS, createServer, isPrimaryOf, runPrimary } = require('../support/kinds')
const { peer } = require('../support/peers')
const { workOf } = require('./own-work')

/** With SPILLWAY_SRC, the bench measures another checkout. */
const SRC = path.resolve(__dirname, process.env.SPILLWAY_SRC ?? '../../src')
const { createSpillway } = require(SRC)

const [policy, work, framework = 'express', kind = 'plain'] = process.argv.slice(2)

const perMs = Number(process.env.BURN_PER_MS ?? calibrate())
const burnt = { askedMs: 0, tookMs: 0 }
function burn(ms) {
  const sinceMs = performance.now()
  burnIterations(ms * perMs)
  burnt.askedMs += ms
  burnt.tookMs += performance.now() - sinceMs
}

/** Ten connections to a database, where each query takes time. */
const pool = { free: 10, waiting: [] }
function query(ms, done) {
  if (pool.free === 0) return void pool.waiting.push([ms, done])
  pool.free--
  setTimeout(() => {
    pool.free++
    if (pool.waiting.length > 0) query(.../** @type {[number, Function]} */ (pool.waiting.shift()))
    done()
  }, ms)
}

/** Some 400 kB of small objects, a tenth of which outlives the request by a hundred others. */
const kept = []
function allocate() {
  const rows = Array.from({ length: 4000 }, (_, id) => ({ id, name: `row ${id}`, tags: [id, id + 1] }))
  kept.push(rows.slice(0, 400))
  if (kept.length > 100) kept.shift()
}

function readBody(req, done) {
  let bytes = 0
  req.on('data', (chunk) => {
    bytes += chunk.length
  })
  req.on('end', () => done(bytes))
}

const WORKS = {
  cpu(_req, done) {
    burn(2)
    done()
  },
  await(_req, done) {
    setTimeout(() => {
      burn(2)
      done()
    }, 20)
  },
  pool(_req, done) {
    query(20, () => {
      burn(0.2)
      done()
    })
  },
  bimodal(_req, done) {
    burn(Math.random() < 0.01 ? 100 : 1)
    done()
  },
  mixed(_req, done) {
    setTimeout(() => {
      burn(0.5)
      query(5, () => {
        burn(1)
        done()
      })
    }, 2)
  },
  gc(_req, done) {
    allocate()
    burn(0.5)
    done()
  },
  upload(req, done) {
    readBody(req, () => {
      burn(1)
      done()
    })
  },
}
const doWork = WORKS[work]
/** What the server does for itself beside rejections. Only work that fills the memory makes them cost more. */
const OWN_WORK = work === 'gc' ? () => doWork(undefined, () => {}) : () => burn(1)

/**
 * Requests that only warm up the process wait as the others will, or what is learned of them would be
 * misleading.
 */
const WAITS_MS = { await: 20, pool: 20, mixed: 7 }
function waitAsWork(done) {
  if (work in WAITS_MS) setTimeout(done, WAITS_MS[work])
  else done()
}

/**
 * @hapi/heavy's rule: a timer's last tick is too long ago. Asked on every request, it sees a stall while it
 *   lasts.
 */
function heavyRule(mostMs = 100, everyMs = 20) {
  let tickMs = performance.now()
  setInterval(() => {
    tickMs = performance.now()
  }, everyMs).unref()
  return () => performance.now() - tickMs > mostMs
}

function tooBusy(settings) {
  const toobusy = peer('toobusy-js')
  if (settings !== undefined) {
    toobusy.maxLag(settings.maxLag)
    toobusy.interval(settings.interval)
  }
  return toobusy
}

const protection = (options = {}) => peer('overload-protection')(framework, { logging: false, ...options })

/** As a middleware that asks whether to shed. */
const shedIf = (isOverloaded) =>
  framework === 'koa'
    ? (ctx, next) => {
        if (!isOverloaded()) return next()
        ctx.status = 503
      }
    : (_req, res, next) => (isOverloaded() ? res.status(503).end() : next())

/** Behind another middleware, the gate decides in its place of the chain and not before Express. */
const behindAnother = (spillway) => [(_req, _res, next) => next(), spillway.express()]

if (policy.endsWith('-refusing')) {
  // Rejections take a fixed share of the loop. Here only their cost counts.
  const { RejectionPace } = require(`${SRC}/core/gate/rejection-pace`)
  const { deliver } = RejectionPace.prototype
  RejectionPace.prototype.deliver = function (request, nowMs) {
    this.sendAllAtOnce()
    deliver.call(this, request, nowMs)
  }
}
/** Rejects everything, to measure the cost of a rejection. The gate still admits a request each 100 ms. */
const REFUSE_ALL = { shed: { maxHeapUsedBytes: 1, sampleInterval: 500 } }
const BY_HEADER = { shed: { classify: ({ headers }) => headers['x-priority'] ?? 'normal' } }
/** The gate does not guess a pool: its owner sets how many requests it can take. */
const OPTIONS = work === 'pool' ? { shed: { maxConcurrent: 20 } } : {}
const POLICIES = {
  none: {},
  attach: { attach: (server) => createSpillway(OPTIONS).attach(server) },
  'attach-classes': { attach: (server) => createSpillway(BY_HEADER).attach(server) },
  middleware: { use: () => createSpillway(OPTIONS)[framework]() },
  behind: { use: () => behindAnother(createSpillway(OPTIONS)) },
  'overload-protection': { use: () => protection() },
  'overload-protection-100': { use: () => protection({ maxEventLoopDelay: 100 }) },
  'toobusy-js': { use: () => shedIf(tooBusy()) },
  'toobusy-js-20': { use: () => shedIf(tooBusy({ maxLag: 20, interval: 100 })) },
  heavy: { use: () => shedIf(heavyRule()) },
  'attach-refusing': { attach: (server) => createSpillway(REFUSE_ALL).attach(server) },
  'middleware-refusing': { use: () => createSpillway(REFUSE_ALL)[framework]() },
  'behind-refusing': { use: () => behindAnother(createSpillway(REFUSE_ALL)) },
}

function expressApp(use) {
  const app = peer('express')()
  if (use !== undefined) app.use(use())
  app.all('/work', (req, res) => doWork(req, () => res.json({ ok: true })))
  app.get('/warm', (_req, res) => waitAsWork(() => res.json({ ok: true })))
  app.get('/livez', (_req, res) => res.end('ok'))
  return app
}

function koaApp(use) {
  const app = new (peer('koa'))()
  if (use !== undefined) app.use(use())
  app.use(async (ctx) => {
    if (ctx.path === '/warm') await new Promise((resolve) => waitAsWork(() => resolve(undefined)))
    if (ctx.path === '/work') await new Promise((resolve) => doWork(ctx.req, resolve))
    ctx.body = { ok: true }
  })
  return app.callback()
}

async function fastifyServer() {
  const app = peer('fastify')()
  app.addContentTypeParser('*', (_req, _payload, done) => done(null))
  app.register(peer('@fastify/under-pressure'), { maxEventLoopDelay: 100, sampleInterval: 100 })
  app.all('/work', (req, reply) => void doWork(req.raw, () => reply.send({ ok: true })))
  app.get('/warm', (_req, reply) => void waitAsWork(() => reply.send({ ok: true })))
  app.get('/livez', (_req, reply) => reply.send('ok'))
  await app.ready()
  return app.server
}

const PROBLEM =
  '{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"Overloaded. Try again later."}'

/** The same answer with Node alone, which is the least it can cost. */
function refuse(_req, res) {
  const head = ['Content-Type', 'application/problem+json', 'Content-Length', PROBLEM.length]
  res.writeHead(503, [...head, 'Cache-Control', 'no-store', 'Retry-After', 2]).end(PROBLEM)
}

function frameworkServer() {
  const server = createServer(kind)
  if (policy === 'bare-refusing') return server.on('request', refuse)
  if (policy === 'null') return server.on('request', (_req, res) => res.end('ok'))
  const { use, attach } = POLICIES[policy]
  server.on('request', framework === 'koa' ? koaApp(use) : expressApp(use))
  attach?.(server)
  return server
}

async function main() {
  const server = policy === 'under-pressure' ? await fastifyServer() : frameworkServer()
  // Idle connections of the load stay open, however long a run is.
  server.keepAliveTimeout = 0
  const { reusePort = false } = KINDS[kind]
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096, reusePort }, () =>
    process.send?.({ port: /** @type {any} */ (server.address()).port })
  )
  let own
  process.on('message', (question) => {
    if (question === 'work') own = workOf(server, OWN_WORK)
    tell(own?.done)
  })
  process.on('disconnect', () => process.exit())
}

function tell(worked = 0) {
  const { user, system } = process.cpuUsage()
  process.send?.({
    atMs: performance.now(),
    cpuMs: (user + system) / 1000,
    foreignMs: foreignMs(process.env.SERVER_CORE),
    besideLoadMs: 0,
    worked,
    ...burnt,
  })
}

if (isPrimaryOf(kind)) runPrimary(kind)
else main()
