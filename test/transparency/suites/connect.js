'use strict'
// Connect and its last resort, finalhandler.

// Else the last resort answers with the stack, and so with the way to the handler.
process.env.NODE_ENV = 'production'

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const connect = require('connect')
const finalhandler = require('finalhandler')
const { ask, note, serve, steady, talk } = require('./clients')

test('middlewares run by path and in their order', async (t) => {
  const app = connect()
  app.use((_req, res, next) => next(res.setHeader('x-first', '1')))
  app.use('/a', (req, res) => res.end([req.url, req.originalUrl].join()))
  app.use((_req, res) => res.end('other'))
  const port = await serve(t, http.createServer(app))
  for (const path of ['/a/b', '/c']) note(t, steady(await ask(port, path)))
})

test('errors reach error handlers, and then the last resort', async (t) => {
  const app = connect()
  app.use('/handled', () => {
    throw new Error('handled')
  })
  app.use('/handled', (error, _req, res, _next) => res.end(error.message))
  app.use(
    '/late',
    (_req, _res, next) => void setImmediate(next, Object.assign(new Error('late'), { status: 503 }))
  )
  const port = await serve(t, app.listen(0, '127.0.0.1'))
  for (const path of ['/handled', '/late', '/none']) {
    note(t, steady(await ask(port, path)))
  }
})

test('finalhandler answers a plain server, and drains the body', async (t) => {
  const port = await serve(
    t,
    http.createServer((req, res) => finalhandler(req, res, { env: 'production' })())
  )
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  for (let i = 0; i < 2; i++)
    note(t, steady(await ask(port, '/', { method: 'POST', body: 'x'.repeat(100_000), agent })))
})

test('finalhandler cuts an answer that had begun', async (t) => {
  const port = await serve(
    t,
    http.createServer((req, res) => {
      res.writeHead(200)
      res.write('begun')
      setImmediate(() => finalhandler(req, res, { onerror() {} })(new Error('late')))
    })
  )
  const text = await talk(port, t).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n').closed
  assert.match(text, /begun/)
  assert.doesNotMatch(text, /\r\n0\r\n/)
})

test('one app handles two servers', async (t) => {
  const app = connect().use((_req, res) => res.end('done'))
  const ports = [await serve(t, http.createServer(app)), await serve(t, http.createServer(app))]
  for (const port of ports) assert.equal((await ask(port)).body, 'done')
})
