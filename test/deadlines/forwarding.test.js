'use strict'
// What other services are told about the time that is left: by real calls of fetch, undici and node:http
// between real servers.

const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')
const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const undici = require('undici')
const { Spillway } = require('../../src/spillway')
const { until } = require('../gate/holding-server')
const { serve } = require('../support/serve')
const { stillClock } = require('../support/still-clock')

const HEADER = 'x-request-timeout-ms'

/** A service that answers with the header it was sent, or redirects to the URL in its query. */
const stock = (t) =>
  serve(t, (req, res) => {
    const to = new URL(String(req.url), 'http://stock').searchParams.get('to')
    if (to !== null) res.writeHead(302, { location: to })
    res.end(JSON.stringify(req.headers[HEADER] ?? req.headers['grpc-timeout'] ?? 'nothing'))
  })

const bodyOf = async (res) => {
  let text = ''
  for await (const piece of res.setEncoding('utf8')) text += piece
  return JSON.parse(text)
}

const CLIENTS = {
  fetch: async (url, headers = {}) => (await fetch(url, { headers })).json(),
  'undici.request': async (url, headers) => (await undici.request(url, { headers })).body.json(),
  'undici.fetch': async (url, headers = {}) => (await undici.fetch(url, { headers })).json(),
  'http.get': async (url, headers = {}) => {
    const [res] = await once(http.get(url, { headers, agent: false }), 'response')
    return bodyOf(res)
  },
  'http.request with a body': async (url, headers = {}) => {
    const req = http.request(url, { method: 'POST', headers, agent: false })
    req.write('a')
    req.end('b')
    const [res] = await once(req, 'response')
    return bodyOf(res)
  },
}

/** A service that makes a call for each request, which came with half a second left. */
async function orders(t, deadline, call, how = 'http') {
  const clock = stillClock()
  const errors = []
  const logger = { warn() {}, error: (_fields, message) => errors.push(message) }
  const given = { deadline: { header: HEADER, ...deadline }, insight: { stalls: false }, logger }
  const spillway = new Spillway(given, clock)
  t.after(() => spillway.close())
  const answer = async (req) => {
    clock.advance(100)
    await new Promise((resolve) => setImmediate(resolve))
    return JSON.stringify(await call(req))
  }
  const servers = {
    http: () => spillway.attach(http.createServer(async (req, res) => void res.end(await answer(req)))),
    express: () =>
      http.createServer(
        express().use(spillway.express(), async (req, res) => void res.end(await answer(req)))
      ),
    koa: () =>
      http.createServer(
        new Koa()
          .use(spillway.koa())
          .use(async (ctx) => void (ctx.body = await answer(ctx.req)))
          .callback()
      ),
  }
  const { get, request } = await serve(t, servers[how]())
  const headers = { [deadline.header ?? HEADER]: deadline.header === 'grpc-timeout' ? '500m' : '500' }
  const ask = async () => JSON.parse((await get('/', { headers })).body)
  return { ask, errors, get, request, spillway }
}

for (const [client, call] of Object.entries(CLIENTS)) {
  test(`${client}: a named host is told what is left, another one nothing`, async (t) => {
    const { port } = await stock(t)
    const { ask, errors, spillway } = await orders(t, { forward: [`127.0.0.1:${port}`] }, () =>
      Promise.all([call(`http://127.0.0.1:${port}/`), call(`http://localhost:${port}/`)])
    )
    assert.deepEqual(await ask(), ['400', 'nothing'])
    assert.equal(/** @type {any} */ (spillway.snapshot().deadlines).forwarded, 1)
    assert.deepEqual(errors, [])
  })

  test(`${client}: a header of the application stays`, async (t) => {
    const { port } = await stock(t)
    const { ask } = await orders(t, { forward: ['127.0.0.1'] }, () =>
      call(`http://127.0.0.1:${port}/`, { [HEADER]: '7' })
    )
    assert.equal(await ask(), '7')
  })

  test(`${client}: after close() nobody is told`, async (t) => {
    const { port } = await stock(t)
    const { addRequest } = http.Agent.prototype
    const { ask, spillway } = await orders(t, { forward: [`127.0.0.1:${port}`] }, () => {
      spillway.close()
      return call(`http://127.0.0.1:${port}/`)
    })
    assert.equal(await ask(), 'nothing')
    assert.equal(http.Agent.prototype.addRequest, addRequest)
  })
}

for (const how of ['express', 'koa']) {
  test(`${how}: a named host is told what is left`, async (t) => {
    const { port } = await stock(t)
    const { ask } = await orders(
      t,
      { forward: ['127.0.0.1'] },
      () => CLIENTS.fetch(`http://127.0.0.1:${port}/`),
      how
    )
    assert.equal(await ask(), '400')
  })
}

test('a redirect to another host does not carry it, and one to a named host does', async (t) => {
  const { port } = await stock(t)
  const to = (host) => `http://127.0.0.1:${port}/?to=${encodeURIComponent(`http://${host}:${port}/`)}`
  const { ask, spillway } = await orders(t, { forward: ['127.0.0.1'] }, () =>
    Promise.all(['localhost', '127.0.0.1'].map((host) => CLIENTS.fetch(to(host))))
  )
  assert.deepEqual(await ask(), ['nothing', '400'])
  assert.equal(/** @type {any} */ (spillway.snapshot().deadlines).forwarded, 3)
})

test("a host is not named by the application's Host header", async (t) => {
  const { port } = await stock(t)
  const { ask } = await orders(t, { forward: [`orders.internal:${port}`, 'orders.internal'] }, () =>
    CLIENTS['http.get'](`http://127.0.0.1:${port}/`, { host: `orders.internal:${port}` })
  )
  assert.equal(await ask(), 'nothing')
})

for (const agent of [undefined, false, new http.Agent({ keepAlive: true, maxSockets: 1 })])
  test(`the port is that of the connection, whatever the Host header says: ${agent === undefined ? 'the global agent' : agent ? 'an agent that queues' : 'no agent'}`, async (t) => {
    if (agent) t.after(() => agent.destroy())
    const { port } = await stock(t)
    const call = async (headers, more = {}) => {
      const req = http.get({ host: '127.0.0.1', port, agent, headers, ...more })
      return bodyOf((await once(req, 'response'))[0])
    }
    const calls = (named) => [
      call({ host: named }),
      call({ host: named }, { setHost: false }),
      call({ Host: 'another.internal' }),
      call({}),
    ]
    const { ask } = await orders(t, { forward: ['127.0.0.1:1'] }, () => Promise.all(calls('127.0.0.1:1')))
    assert.deepEqual(await ask(), ['nothing', 'nothing', 'nothing', 'nothing'])
    const named = await orders(t, { forward: [`127.0.0.1:${port}`] }, () => Promise.all(calls('127.0.0.1:1')))
    assert.deepEqual(await named.ask(), ['400', '400', '400', '400'])
  })

test('names are compared without case, and IPv6 in brackets', async (t) => {
  const { port } = await stock(t)
  const { ask, spillway } = await orders(t, { forward: ['LOCALHOST', '[::1]:1'] }, () =>
    Promise.all([
      CLIENTS['http.get'](`http://LocalHost:${port}/`),
      CLIENTS['http.get']('http://[::1]:1/').catch(({ code }) => code),
    ])
  )
  const [told, code] = await ask()
  assert.equal(told, '400')
  assert.match(code, /^E/)
  assert.equal(/** @type {any} */ (spillway.snapshot().deadlines).forwarded, 2)
})

test('a socket in the file system has no host', async (t) => {
  const server = http.createServer((req, res) => res.end(JSON.stringify(req.headers[HEADER] ?? 'nothing')))
  const socketPath = `${require('node:os').tmpdir()}/spillway-${process.pid}.sock`
  server.listen(socketPath)
  await once(server, 'listening')
  t.after(() => server.close())
  const { ask } = await orders(t, { forward: ['localhost'] }, async () => {
    const [res] = await once(http.get({ socketPath, agent: false }), 'response')
    return bodyOf(res)
  })
  assert.equal(await ask(), 'nothing')
})

test('gRPC is told in its own format, and never 0', async (t) => {
  const { port } = await stock(t)
  const call = () => CLIENTS.fetch(`http://127.0.0.1:${port}/`)
  const { ask, spillway } = await orders(t, { header: 'grpc-timeout', forward: ['127.0.0.1'] }, call)
  assert.equal(await ask(), '400m')
  const late = await orders(t, { of: () => 50, forward: ['127.0.0.1'] }, call)
  assert.equal(await late.ask(), '1')
  assert.equal(/** @type {any} */ (spillway.snapshot().deadlines).forwarded, 1)
})

test('nobody is told more than the longest timer of Node', async (t) => {
  const { port } = await stock(t)
  const call = () => CLIENTS.fetch(`http://127.0.0.1:${port}/`)
  const { ask } = await orders(t, { of: () => 1e15, forward: ['127.0.0.1'] }, call)
  assert.equal(await ask(), '2147483647')
})

test('nobody is told without a deadline, outside of a request, or after it has ended', async (t) => {
  const { port } = await stock(t)
  const url = `http://127.0.0.1:${port}/`
  let later
  const { ask, get, spillway } = await orders(t, { forward: ['127.0.0.1'] }, () => {
    later ??= (async () => {
      await until(() => spillway.snapshot().requests.inFlight === 0)
      return CLIENTS.fetch(url)
    })()
    return CLIENTS.fetch(url)
  })
  assert.equal(JSON.parse((await get('/')).body), 'nothing')
  assert.equal(await later, 'nothing')
  assert.equal(await ask(), '400')
  for (const call of Object.values(CLIENTS)) assert.equal(await call(url), 'nothing')
})

test('a body that a handler collects by itself does not lose the deadline', async (t) => {
  const { port } = await stock(t)
  const { request } = await orders(t, { forward: ['127.0.0.1'] }, async (req) => {
    await new Promise((resolve) => req.on('data', () => {}).on('end', resolve))
    return CLIENTS.fetch(`http://127.0.0.1:${port}/`)
  })
  const headers = { [HEADER]: '500', 'content-length': '2' }
  assert.equal(JSON.parse((await request({ method: 'POST', headers }, 'ab')).body), '400')
})

test('a head that is ready before anybody is told stays as it is', async (t) => {
  const { port } = await stock(t)
  const { ask, errors } = await orders(t, { forward: ['127.0.0.1'] }, async () => {
    const headers = /** @type {any} */ (['x-a', '1', 'host', '127.0.0.1'])
    const [res] = await once(http.get({ host: '127.0.0.1', port, headers, agent: false }), 'response')
    return bodyOf(res)
  })
  assert.equal(await ask(), 'nothing')
  assert.deepEqual(errors, [])
})
