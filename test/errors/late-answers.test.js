'use strict'
// What a handler does to its answer after it has been answered in its stead: nothing of it may be seen,
// throw, or end as an uncaught exception or an unhandled rejection (either fails these tests), and nothing
// may stay open.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')
const { once } = require('node:events')
const { Readable, finished } = require('node:stream')
const { pipeline } = require('node:stream/promises')
const { describe, it } = require('node:test')
const express = require('express')
const express4 = require('express-4')
const Koa = require('koa')
const Koa2 = require('koa-2')
const { Spillway } = require('../../src/spillway')
const { handClock } = require('../support/hand-clock')
const { outcomesOf } = require('../support/outcomes')
const { serve } = require('../support/serve')
const { ended } = require('../support/spillway')

const TIMEOUT_MS = 1000
const turns = async (count = 5) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}
const inTimer = (act) =>
  new Promise((resolve) =>
    setTimeout(() => {
      act()
      resolve(undefined)
    })
  )
const isOver = (stream) => new Promise((resolve) => finished(stream, () => resolve(undefined)))

/** On Node's own response. */
const NATIVE = {
  'sets a header, in a timer': (_req, res) => inTimer(() => res.setHeader('X-Late', '1')),
  'writes a head and ends': (_req, res) => res.writeHead(200, { 'X-Late': '1' }).end('late'),
  'writes, waits for the callback, and ends': async (_req, res) => {
    await new Promise((resolve) => res.write('late', resolve))
    await new Promise((resolve) => res.write('late', 'latin1', resolve))
    await new Promise((resolve) => res.end('late', resolve))
    await new Promise((resolve) => res.end(resolve))
  },
  'writes until it may not': async (_req, res) => {
    for (let i = 0; i < 100; i++) if (!res.write(Buffer.alloc(65_536))) await once(res, 'drain')
    res.end()
  },
  'changes headers every way there is': (_req, res) => {
    res.removeHeader('Content-Type')
    res.appendHeader?.('X-Late', '1')
    res.flushHeaders?.()
    res.statusCode = 200
  },
  'pipes a file': async (_req, res) => {
    const file = fs.createReadStream(__filename)
    file.pipe(res)
    await isOver(file)
    assert.ok(file.closed)
  },
  'pipes an endless stream': async (_req, res) => {
    const endless = new Readable({ read() {} })
    endless.pipe(res)
    await isOver(endless)
  },
  'gives a pipeline': async (_req, res) => {
    // Whether it then destroys its source is Node's: 24 does not, 22 does.
    await pipeline(Readable.from(['late']), res).catch(() => {})
  },
  'destroys the response': (_req, res) => res.destroy?.(),
}
const EXPRESS = {
  'answers JSON, in a timer': (_req, res) => inTimer(() => res.json({ late: true })),
  'sends, redirects, sets a cookie': (_req, res) => {
    res.status(201).cookie('late', '1').send('late')
    res.redirect('/late')
    res.sendStatus(200)
  },
  'sends a file': (_req, res) => new Promise((resolve) => res.sendFile(__filename, () => resolve(undefined))),
  'passes an error on': (_req, _res, next) => next(new Error('late')),
  'goes on to where nothing answers': (_req, _res, next) => next(),
}
const KOA = {
  'sets a body': (ctx) => {
    ctx.body = { late: true }
  },
  'sets a stream as the body': async (ctx) => {
    const file = fs.createReadStream(__filename)
    ctx.body = file
    await isOver(file)
  },
  'throws with a status': (ctx) => ctx.throw(400, 'late'),
  'redirects and sets headers': (ctx) => {
    ctx.set('X-Late', '1')
    ctx.redirect('/late')
  },
  'does nothing': () => {},
}
const onResponse = (table) =>
  Object.fromEntries(Object.entries(table).map(([title, act]) => [title, (ctx) => act(ctx.req, ctx.res)]))

const expressServer = (framework, spillway, handler) => {
  const app = framework().set('env', 'test')
  app.use(spillway.express())
  app.get('/late/:id', handler)
  return http.createServer(app)
}
const koaServer = (Framework, spillway, handler) => {
  const app = new Framework()
  app.silent = true
  app.use(spillway.koa())
  app.use((ctx) => handler(ctx))
  return http.createServer(app.callback())
}
const plain = (create, spillway, handler) => create(spillway.wrap((req, res) => void handler(req, res)))

const WAYS = {
  http: [(...given) => plain(http.createServer, ...given), NATIVE],
  http2: [(...given) => plain(http2.createServer, ...given), NATIVE],
  'Express 4': [(...given) => expressServer(express4, ...given), { ...NATIVE, ...EXPRESS }],
  'Express 5': [(...given) => expressServer(express, ...given), { ...NATIVE, ...EXPRESS }],
  'Koa 2': [(...given) => koaServer(Koa2, ...given), { ...onResponse(NATIVE), ...KOA }],
  'Koa 3': [(...given) => koaServer(Koa, ...given), { ...onResponse(NATIVE), ...KOA }],
}

async function askHttp2(t, port, path) {
  const client = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  const stream = client.request({ ':path': path })
  const [headers] = await once(stream, 'response')
  stream.setEncoding('utf8')
  let body = ''
  for await (const piece of stream) body += piece
  return { status: headers[':status'], headers, body }
}

for (const [way, [serverOf, acts]] of Object.entries(WAYS)) {
  describe(`${way}: a handler that was answered for`, () => {
    for (const [title, act] of Object.entries(acts)) {
      it(`${title}`, async (t) => {
        const clock = handClock()
        const options = { logger: /** @type {const} */ (false), errors: { timeout: TIMEOUT_MS } }
        const spillway = new Spillway(options, /** @type {any} */ (clock))
        t.after(() => spillway.close())
        let enter
        const entered = new Promise((resolve) => (enter = resolve))
        let goOn
        const goesOn = new Promise((resolve) => (goOn = resolve))
        let leave
        const left = new Promise((resolve) => (leave = resolve))
        const server = serverOf(spillway, async (...given) => {
          enter()
          await goesOn
          try {
            return await act(...given)
          } finally {
            leave()
          }
        })
        const { port, get } = await serve(t, server)
        const answer = way === 'http2' ? askHttp2(t, port, '/late/1') : get('/late/1')
        await entered
        clock.pass(TIMEOUT_MS + 200)
        const { status, headers, body } = await answer
        goOn()
        await left
        await turns()
        assert.equal(status, 503)
        assert.equal(headers['x-late'], undefined)
        assert.equal(JSON.parse(body).detail, 'No answer in time.')
        const snapshot = await ended(spillway, 1)
        assert.deepEqual(Object.values(outcomesOf(snapshot)), [1], 'it ends once')
        assert.match(Object.keys(outcomesOf(snapshot))[0], /timed_out$/)
        assert.deepEqual(snapshot.internalErrors, {})
      })
    }
  })
}

it('while its answer is still being sent, a late one is as harmless', async (t) => {
  const clock = handClock()
  const spillway = new Spillway(
    { logger: false, errors: { timeout: TIMEOUT_MS } },
    /** @type {any} */ (clock)
  )
  t.after(() => spillway.close())
  let response
  const { server, get } = await serve(
    t,
    spillway.wrap((_req, res) => (response = res))
  )
  const answer = get('/a')
  await once(server, 'request')
  clock.pass(TIMEOUT_MS + 200)
  response.setHeader('X-Late', '1')
  response.write('late')
  response.end('late')
  assert.equal(response.writableEnded, true)
  assert.equal(JSON.parse((await answer).body).status, 503)
})
