'use strict'
// What the documentation of http-proxy says: requests, upgrades and errors pass through.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const httpProxy = require('http-proxy')
const { WebSocket, WebSocketServer } = require('ws')
const { ask, note, serve, steady, talk } = require('./clients')

async function proxied(t, handle, options) {
  const backend = http.createServer(handle)
  const target = `http://127.0.0.1:${await serve(t, backend)}`
  const proxy = httpProxy.createProxyServer({ target, ...options })
  t.after(() => proxy.close())
  const front = http.createServer((req, res) => proxy.web(req, res))
  front.on('upgrade', (req, socket, head) => proxy.ws(req, socket, head))
  return { backend, proxy, port: await serve(t, front) }
}

test('a request and its answer pass through', async (t) => {
  const { port } = await proxied(
    t,
    (req, res) => {
      res.writeHead(201, 'Made', { 'x-a': '1', 'x-for': req.headers['x-forwarded-for'] ?? 'nobody' })
      req.pipe(res)
    },
    { xfwd: true }
  )
  note(t, steady(await ask(port, '/', { method: 'POST', body: 'x'.repeat(100_000) })))
})

test('the events of a proxy come in their order', async (t) => {
  const log = []
  const { port, proxy } = await proxied(t, (_req, res) => res.end('done'))
  for (const event of ['start', 'proxyReq', 'proxyRes', 'end', 'error'])
    proxy.on(event, () => log.push(event))
  await ask(port)
  note(t, log)
})

test('a WebSocket passes through', async (t) => {
  const { backend, port } = await proxied(t, (_req, res) => res.end(), { ws: true })
  const sockets = new WebSocketServer({ server: backend })
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(`<${data}>`)))
  const client = new WebSocket(`ws://127.0.0.1:${port}`)
  await once(client, 'open')
  client.send('hello')
  assert.equal(String((await once(client, 'message'))[0]), '<hello>')
  client.terminate()
  sockets.close()
})

test('a backend that is not there is an error event', async (t) => {
  const { port, proxy } = await proxied(t, () => {}, { target: 'http://127.0.0.1:1' })
  proxy.on('error', (error, _req, res) => res.writeHead(502).end(error.code))
  note(t, steady(await ask(port)))
})

test('a backend that breaks off', async (t) => {
  const { port, proxy } = await proxied(t, (req) => req.socket.destroy())
  proxy.on('error', (error, _req, res) => res.writeHead(502).end(error.code))
  note(t, steady(await ask(port)))
})

test('a client that leaves amid its body aborts the request of the backend', async (t) => {
  let left
  const gone = new Promise((resolve) => {
    left = resolve
  })
  const { port } = await proxied(t, (req, res) => {
    res.on('close', () => left(res.writableFinished))
    res.write('begun')
  })
  const client = talk(port, t).write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx')
  await client.until(/begun/)
  client.destroy()
  assert.equal(await gone, false)
})
