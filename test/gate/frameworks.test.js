'use strict'
// The gate in front of real frameworks: one decision a request, the same answer from all, and what waits runs
// as if it had not. `maxConcurrent: 1` with a handler that is held open makes others wait or be refused, as a
// test wishes.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { describe, it } = require('node:test')
const { Spillway } = require('../../src/spillway')
const { serve } = require('../support/serve')
const { stillClock } = require('../support/still-clock')

const expressOf = (name) => {
  const express = require(name)
  return (spillway, handler) => {
    const app = express()
    app.disable('x-powered-by')
    app.use(spillway.express())
    app.use((req, res, next) => handler(req, res, next))
    return http.createServer(app)
  }
}
const koaOf = (name) => {
  const Koa = require(name)
  return (spillway, handler) => {
    const app = new Koa()
    app.use(spillway.koa())
    app.use(
      (ctx) =>
        new Promise((resolve) => {
          ctx.respond = false
          ctx.res.statusCode = 200
          ctx.res.on('close', resolve)
          handler(ctx.req, ctx.res)
        })
    )
    return http.createServer(app.callback())
  }
}
const FRAMEWORKS = {
  'Express 5': expressOf('express'),
  'Express 4': expressOf('express-4'),
  'Koa 3': koaOf('koa'),
  'Koa 2': koaOf('koa-2'),
  'attach()': (spillway, handler) => spillway.attach(http.createServer(handler)),
  'wrap()': (spillway, handler) => http.createServer(spillway.wrap(handler)),
}

/** A server whose /hold answers when told, with a spillway whose clock stands. */
async function start(t, create, shed, work = (_req, res) => res.end('done')) {
  const clock = stillClock()
  const spillway = new Spillway({ logger: false, shed }, clock)
  t.after(() => spillway.close())
  const held = []
  const arrivals = new (require('node:events').EventEmitter)()
  const server = create(spillway, (req, res, next) => {
    if (req.url !== '/hold') return work(req, res, next)
    held.push(res)
    arrivals.emit('held')
  })
  const served = await serve(t, server)
  /** Sends a request to /hold, and resolves when its handler has it. */
  const hold = async () => {
    const arrived = once(arrivals, 'held')
    const answer = served.get('/hold')
    await arrived
    return { answer, release: () => held.pop().end('held') }
  }
  const waiting = (count) => until(() => spillway.snapshot().admission.queued === count)
  return { ...served, clock, spillway, hold, waiting }
}

async function until(holds) {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

const QUEUE = { maxConcurrent: 1, maxDelay: 60_000, targetDelay: 60_000 }
const REFUSE = { mode: 'threshold', maxConcurrent: 1 }

for (const [name, create] of Object.entries(FRAMEWORKS)) {
  describe(`the gate with ${name}`, () => {
    it('rejects with 503, Retry-After, no-store and a problem document', async (t) => {
      const { get, hold } = await start(t, create, REFUSE)
      const first = await hold()
      const { status, headers, body } = await get('/')
      first.release()
      await first.answer
      assert.equal(status, 503)
      assert.deepEqual(JSON.parse(body), {
        type: 'about:blank',
        title: 'Service Unavailable',
        status: 503,
        detail: 'Overloaded. Try again later.',
      })
      assert.equal(headers['content-type'], 'application/problem+json')
      assert.equal(headers['cache-control'], 'no-store')
      assert.match(headers['retry-after'], /^[1-9]\d*$/)
      assert.equal((await get('/')).status, 200)
    })

    it('answers HEAD without a body, and in text clients that do not accept JSON', async (t) => {
      const { request, hold } = await start(t, create, REFUSE)
      const first = await hold()
      const head = await request({ path: '/', method: 'HEAD' })
      const text = await request({ path: '/', headers: { accept: 'text/html' } })
      first.release()
      assert.deepEqual([head.status, head.body], [503, ''])
      assert.match(text.headers['content-type'], /^text\/plain/)
      assert.match(text.body, /overloaded/)
    })

    it('queues a request, and runs it later with its body and its async context', async (t) => {
      const storage = new AsyncLocalStorage()
      const seen = []
      const work = async (req, res) => {
        let bytes = 0
        for await (const piece of req) bytes += piece.length
        seen.push(storage.getStore())
        res.end(String(bytes))
      }
      const clock = stillClock()
      const spillway = new Spillway({ logger: false, shed: QUEUE }, clock)
      t.after(() => spillway.close())
      let release
      const inner = create(spillway, (req, res) => {
        if (req.url !== '/hold') return work(req, res)
        release = () => res.end()
        entered()
      })
      let entered
      const holding = new Promise((resolve) => (entered = resolve))
      // The context of a request begins before anything of ours sees it.
      const [listener] = inner.listeners('request')
      const emit = inner.emit
      inner.emit = (event, ...args) =>
        event === 'request'
          ? storage.run(args[0].url, () => emit.call(inner, event, ...args))
          : emit.call(inner, event, ...args)
      assert.ok(listener)
      const { get, request } = await serve(t, inner)
      const first = get('/hold')
      await holding
      const second = request({ path: '/upload', method: 'POST' }, Buffer.alloc(100_000))
      await until(() => spillway.snapshot().admission.queued === 1)
      assert.deepEqual(seen, [])
      release()
      assert.equal((await second).body, '100000')
      await first
      assert.deepEqual(seen, ['/upload'])
    })

    it('never runs a request whose client resets the connection while it is queued, and counts it as abandoned', async (t) => {
      let ran = 0
      const { port, hold, waiting, spillway, get } = await start(t, create, QUEUE, (_req, res) => {
        ran++
        res.end()
      })
      const first = await hold()
      const client = net.connect(port, '127.0.0.1')
      client.write('GET /gone HTTP/1.1\r\nHost: x\r\n\r\n')
      await waiting(1)
      client.resetAndDestroy()
      await until(() => spillway.snapshot().admission.abandoned === 1)
      first.release()
      await first.answer
      assert.equal((await get('/')).status, 200)
      assert.equal(ran, 1)
      const { requests, admission } = spillway.snapshot()
      assert.deepEqual([requests.inFlight, admission.inFlight, admission.queued], [0, 0, 0])
    })

    it('answers queued requests when it is closed', async (t) => {
      const { get, hold, waiting, spillway } = await start(t, create, QUEUE)
      const first = await hold()
      const second = get('/')
      await waiting(1)
      spillway.close()
      assert.equal((await second).status, 503)
      first.release()
      assert.equal((await first.answer).status, 200)
    })

    it('counts rejected requests in no latency series', async (t) => {
      const { get, hold, spillway } = await start(t, create, REFUSE)
      const first = await hold()
      for (let i = 0; i < 5; i++) assert.equal((await get('/')).status, 503)
      first.release()
      await first.answer
      await until(() => spillway.snapshot().requests.inFlight === 0)
      const { requests, admission, routes } = spillway.snapshot()
      assert.equal(requests.sinceStart.count, 1)
      assert.equal(
        routes.reduce((sum, { sinceStart }) => sum + sinceStart.count, 0),
        1
      )
      assert.deepEqual(admission.shed, [{ reason: 'concurrency', priority: 'normal', count: 5 }])
    })

    it('answers the liveness probe at any load', async (t) => {
      const { get, hold } = await start(t, create, REFUSE)
      const first = await hold()
      assert.equal((await get('/livez')).status, 200)
      assert.equal((await get('/metrics')).status, 200)
      first.release()
    })
  })
}
