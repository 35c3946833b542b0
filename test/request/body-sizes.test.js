'use strict'
// The sizes of bodies on the wire, with `metrics.bodySizes`, over real connections.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const { test } = require('node:test')
const { gzipSync } = require('node:zlib')
const express = require('express')
const { inject } = require('light-my-request')
const { parse } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const [REQUEST, RESPONSE] = ['request', 'response'].map((of) => `http_server_${of}_body_size_bytes`)

/** Count and sum of each series, by status. */
async function sizes(spillway, t) {
  const { get } = await serve(t, (req, res) => spillway.handler('metrics')(req, res))
  const families = parse((await get('/metrics')).body)
  const of = (name) =>
    families
      .get(name)
      .samples.filter((sample) => sample.name === `${name}_sum`)
      .map(({ labels, value }) => [labels.http_route, labels.http_response_status_code, value])
  return { request: of(REQUEST), response: of(RESPONSE) }
}

function applicationOf(spillway) {
  const app = express().use(spillway.express())
  app.post('/upload', (req, res) => {
    req.resume().on('end', () => res.status(201).end())
  })
  app.get('/text', (_req, res) => res.type('text').send('x'.repeat(5000)))
  app.get('/gzip', (_req, res) => res.set('content-encoding', 'gzip').send(gzipSync('x'.repeat(5000))))
  return app
}

test('bodies have the size on the wire, without the heads, on a kept connection too', async (t) => {
  const spillway = spillwayFor(t, { metrics: { bodySizes: true } })
  const { port } = await serve(t, applicationOf(spillway))
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const ask = async (method, path, body, headers = {}) => {
    const req = http.request({ host: '127.0.0.1', port, method, path, agent, headers })
    req.end(body)
    const [res] = await once(req, 'response')
    await once(res.resume(), 'end')
  }
  await ask('POST', '/upload', 'a'.repeat(3000))
  await ask('POST', '/upload?again', 'a'.repeat(3000), { 'transfer-encoding': 'chunked' })
  await ask('GET', '/text')
  await ask('HEAD', '/text')
  await ask('GET', '/gzip')
  await ended(spillway, 5)
  const { request, response } = await sizes(spillway, t)
  // The second upload is one chunk with a head of 'bb8\r\n' and the ends of chunk and body.
  const chunked = 3000 + 'bb8\r\n'.length + '\r\n0\r\n\r\n'.length
  assert.deepEqual(request, [
    ['/upload', '201', 3000 + chunked],
    ['/text', '200', 0],
    ['/text', '200', 0],
    ['/gzip', '200', 0],
  ])
  assert.deepEqual(response, [
    ['/upload', '201', 0],
    ['/text', '200', 5000],
    ['/text', '200', 0],
    ['/gzip', '200', gzipSync('x'.repeat(5000)).length],
  ])
})

test('the part of an upload that came is counted, not what it announced', async (t) => {
  const spillway = spillwayFor(t, { metrics: { bodySizes: true } })
  const received = Promise.withResolvers?.() ?? withResolvers()
  const { port } = await serve(
    t,
    spillway.wrap((req) => req.once('data', received.resolve))
  )
  const socket = net.connect(port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000\r\n\r\n1234567')
  await received.promise
  socket.destroy()
  await ended(spillway, 1)
  assert.deepEqual(await sizes(spillway, t), { request: [['(unmatched)', '', 7]], response: [] })
})

test('a stream has a size and no duration', async (t) => {
  const spillway = spillwayFor(t, { metrics: { bodySizes: true }, latency: { streamAfter: 1 } })
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => {
      res.writeHead(200, { 'content-length': 4 })
      res.write('ab')
      setTimeout(() => res.end('cd'), 20)
    })
  )
  await get('/')
  await ended(spillway, 1)
  assert.deepEqual((await sizes(spillway, t)).response, [['(unmatched)', '200', 4]])
  const metrics = await serve(t, (req, res) => spillway.handler('metrics')(req, res))
  const families = parse((await metrics.get('/metrics')).body)
  assert.deepEqual(families.get('http_server_request_duration_seconds').samples, [])
  assert.ok(families.get('spillway_stream_duration_seconds').samples.length > 0)
})

test('over HTTP/2 a size is what the message announces, and an unannounced one is not counted', async (t) => {
  const spillway = spillwayFor(t, { metrics: { bodySizes: true } })
  const server = http2.createServer(
    spillway.wrap((req, res) => {
      req.resume().on('end', () => {
        if (req.url === '/announced') res.setHeader('content-length', 5)
        res.end('12345')
      })
    })
  )
  const { port } = await serve(t, server)
  const session = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => session.close())
  for (const [headers, body] of [
    [{ ':path': '/announced' }],
    [{ ':path': '/unannounced', ':method': 'POST' }, 'abc'],
    [{ ':path': '/announced', ':method': 'POST', 'content-length': 3 }, 'abc'],
  ]) {
    const stream = session.request(headers)
    stream.end(body)
    await once(stream.resume(), 'end')
  }
  await ended(spillway, 3)
  const { request, response } = await sizes(spillway, t)
  assert.deepEqual(request, [
    ['(unmatched)', '200', 0],
    ['(unmatched)', '200', 3],
  ])
  assert.deepEqual(response, [
    ['(unmatched)', '200', 5],
    ['(unmatched)', '200', 5],
  ])
})

test('a header that the application has changed to nonsense spoils no sum', async (t) => {
  const spillway = spillwayFor(t, { metrics: { bodySizes: true } })
  const app = express().use(spillway.express())
  app.post('/upload', (req, res) => {
    if (req.query.spoil === 'header') req.headers['content-length'] = 'many'
    if (req.query.spoil === 'url') req.originalUrl = /** @type {any} */ ({})
    req.resume().on('end', () => res.end())
  })
  const { port } = await serve(t, app)
  for (const [query, headers] of /** @type {[string, object][]} */ ([
    ['', {}],
    ['?spoil=header', {}],
    ['?spoil=url', { 'transfer-encoding': 'chunked' }],
  ])) {
    const req = http.request({ host: '127.0.0.1', port, method: 'POST', path: `/upload${query}`, headers })
    req.end('abc')
    const [res] = await once(req, 'response')
    await once(res.resume(), 'end')
  }
  await ended(spillway, 3)
  assert.deepEqual((await sizes(spillway, t)).request, [['/upload', '200', 3]])
})

test('an injected request has no connection, and so only the size that it announces', async (t) => {
  const spillway = spillwayFor(t, { metrics: { bodySizes: true } })
  const app = applicationOf(spillway)
  await inject(app, { method: 'POST', url: '/upload', payload: 'abc' })
  await inject(app, { method: 'GET', url: '/text' })
  await ended(spillway, 2)
  const { request, response } = await sizes(spillway, t)
  assert.deepEqual(request.at(-1), ['/text', '200', 0])
  assert.deepEqual(response, [])
})

test('by default there are no sizes', async (t) => {
  const spillway = spillwayFor(t)
  const { get } = await serve(
    t,
    spillway.wrap((_req, res) => res.end('ok'))
  )
  await get('/')
  await ended(spillway, 1)
  assert.deepEqual(await sizes(spillway, t), { request: [], response: [] })
})

function withResolvers() {
  let resolve
  const promise = new Promise((done) => (resolve = done))
  return { promise, resolve }
}
