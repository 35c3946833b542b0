'use strict'
// Outgoing calls to real servers: each is counted once when its response has been read, by host, method and
// asking route.

const assert = require('node:assert/strict')
const { channel, subscribe, unsubscribe } = require('node:diagnostics_channel')
const { once } = require('node:events')
const http = require('node:http')
const { describe, it } = require('node:test')
const express = require('express')
const { AsyncContext } = require('../../src/core/request/async-context')
const { parse } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

/** A server that others call: it answers, fails, dies or answers in part. */
const upstream = (t) =>
  serve(t, (req, res) => {
    if (req.url === '/error') res.statusCode = 503
    if (req.url === '/die') return req.socket.destroy()
    if (req.url === '/half') {
      res.writeHead(200, { 'content-length': 100 })
      return res.write('half', () => req.socket.destroy())
    }
    res.end('answer')
  })

async function byFetch(url, options) {
  const response = await fetch(url, options)
  return await response.text()
}

async function byHttp(url, { method = 'GET' } = {}) {
  const request = http.request(url, { method, agent: false })
  request.end()
  const [response] = await once(request, 'response')
  response.resume()
  const [error] = await Promise.race([once(response, 'close'), once(response, 'error')])
  if (error) throw error
}

/** The calls in all, as soon as there are so many. */
async function calls(spillway, count) {
  for (;;) {
    const { hosts } = spillway.snapshot().outgoing
    if (hosts.reduce((sum, { sinceStart }) => sum + sinceStart.count, 0) >= count) return hosts
    await new Promise((resolve) => setImmediate(resolve))
  }
}

for (const [title, call] of Object.entries({ fetch: byFetch, 'node:http': byHttp })) {
  describe(`calls by ${title}`, () => {
    it('are counted by host and port, with time and errors', async (t) => {
      const spillway = spillwayFor(t)
      const { port } = await upstream(t)
      const sidecar = await upstream(t)
      const at = (host, path) => `http://${host}:${port}${path}`
      await call(at('localhost', '/'))
      await call(at('127.0.0.1', '/'))
      await call(at('127.0.0.1', '/'), { method: 'POST' })
      await call(at('127.0.0.1', '/error'))
      await assert.rejects(call(at('127.0.0.1', '/die')))
      await assert.rejects(call(at('127.0.0.1', '/half')))
      await call(`http://localhost:${sidecar.port}/`)
      const hosts = await calls(spillway, 7)
      const counts = Object.fromEntries(
        hosts.map(({ host, sinceStart: { count, errors } }) => [host, [count, errors]])
      )
      assert.deepEqual(counts, {
        [`localhost:${port}`]: [1, 0],
        [`127.0.0.1:${port}`]: [5, 3],
        [`localhost:${sidecar.port}`]: [1, 0],
      })
      for (const { lastMinute, sinceStart, routes } of hosts) {
        assert.deepEqual(lastMinute, sinceStart)
        assert.ok(sinceStart.totalMs >= sinceStart.maxMs && sinceStart.maxMs > 0)
        assert.deepEqual(
          routes.map(({ method, route }) => [method, route]),
          [[null, null]]
        )
      }
    })

    it('name the route that asked, also after an await', {
      skip: !AsyncContext.isCheap && 'needs a context',
    }, async (t) => {
      const spillway = spillwayFor(t)
      const { port } = await upstream(t)
      const app = express().use(spillway.express())
      app.get('/orders/:id', async (_req, res) => {
        await new Promise((resolve) => setImmediate(resolve))
        await call(`http://127.0.0.1:${port}/`)
        res.end()
      })
      const own = await serve(t, app)
      await byFetch(`http://127.0.0.1:${own.port}/orders/7`)
      const hosts = await calls(spillway, 2)
      const routes = hosts.flatMap((each) => each.routes.map(({ method, route }) => `${method} ${route}`))
      assert.deepEqual(routes.sort(), ['GET /orders/:id', 'null null'])
    })

    it('are in the metric by host, port, method, status and type of error', async (t) => {
      const spillway = spillwayFor(t)
      const { port } = await upstream(t)
      await call(`http://127.0.0.1:${port}/`)
      await call(`http://127.0.0.1:${port}/`, { method: 'POST' })
      await call(`http://127.0.0.1:${port}/error`)
      await assert.rejects(call(`http://127.0.0.1:${port}/half`))
      const unused = await serve(t, () => {})
      unused.server.close()
      await assert.rejects(call(`http://127.0.0.1:${unused.port}/`))
      await calls(spillway, 5)
      const { get } = await serve(t, (req, res) => spillway.handler('metrics')(req, res))
      const { body } = await get('/metrics')
      const { samples } = parse(body).get('http_client_request_duration_seconds')
      const counted = samples.filter(({ name }) => name.endsWith('_count'))
      assert.deepEqual(
        counted.map(
          ({ labels: { server_port, http_request_method, http_response_status_code, error_type } }) => [
            server_port,
            http_request_method,
            http_response_status_code,
            error_type,
          ]
        ),
        [
          [String(port), 'GET', '200', undefined],
          [String(port), 'POST', '200', undefined],
          [String(port), 'GET', '503', '503'],
          [String(port), 'GET', '200', title === 'fetch' ? 'UND_ERR_SOCKET' : 'cut_off'],
          [String(unused.port), 'GET', undefined, 'ECONNREFUSED'],
        ]
      )
      assert.ok(counted.every(({ value, labels }) => value === 1 && labels.server_address === '127.0.0.1'))
    })
  })
}

const CHANNELS = ['undici:request:create', 'undici:request:trailers', 'http.client.request.start']

describe('insight.outgoing', () => {
  it('subscribes to nothing where it is off, and leaves nothing behind when it is closed', (t) => {
    const before = CHANNELS.map((name) => channel(name).hasSubscribers)
    for (const insight of /** @type {const} */ ([false, { outgoing: false }])) {
      spillwayFor(t, { insight })
      assert.deepEqual(
        CHANNELS.map((name) => channel(name).hasSubscribers),
        before
      )
    }
    const spillway = spillwayFor(t)
    assert.ok(CHANNELS.every((name) => channel(name).hasSubscribers))
    spillway.close()
    assert.deepEqual(
      CHANNELS.map((name) => channel(name).hasSubscribers),
      before
    )
  })

  it('a message that it cannot read is counted and ends nothing', (t) => {
    const spillway = spillwayFor(t)
    channel('http.client.response.finish').publish({
      get request() {
        throw new Error('unreadable')
      },
    })
    assert.equal(spillway.snapshot().internalErrors['insight.outgoing'], 1)
  })
})

describe("OpenTelemetry's instrumentation", () => {
  const metricOf = async (t, spillway) => {
    const { get } = await serve(t, (req, res) => spillway.handler('metrics')(req, res))
    return (await get('/metrics')).body.match(/^http_client_request_duration_seconds_count.*$/gm) ?? []
  }

  it('of http has the calls of node:http left out of the metric', async (t) => {
    const { request } = http
    const wrapped = Object.assign((...given) => Reflect.apply(request, http, given), {
      __wrapped: true,
      __original: request,
      __unwrap: () => {},
    })
    http.request = /** @type {any} */ (wrapped)
    t.after(() => (http.request = request))
    const spillway = spillwayFor(t)
    const { port } = await upstream(t)
    await byHttp(`http://127.0.0.1:${port}/`)
    await byFetch(`http://localhost:${port}/`)
    await calls(spillway, 2)
    const [line, ...more] = await metricOf(t, spillway)
    assert.match(line, /server_address="localhost"/)
    assert.deepEqual(more, [])
  })

  it('of undici has the calls of fetch left out of the metric', async (t) => {
    const subscriber = { onRequestCreated() {} }
    const listener = subscriber.onRequestCreated.bind(subscriber)
    subscribe('undici:request:create', listener)
    t.after(() => unsubscribe('undici:request:create', listener))
    const spillway = spillwayFor(t)
    const { port } = await upstream(t)
    await byFetch(`http://127.0.0.1:${port}/`)
    assert.equal((await calls(spillway, 1)).length, 1)
    assert.deepEqual(await metricOf(t, spillway), [])
  })
})
