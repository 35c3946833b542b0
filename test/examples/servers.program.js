'use strict'
// Every small example, started as it stands, answers a request and shows that request's route in its metrics.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const http2 = require('node:http2')
const { text } = require('node:stream/consumers')
const { RESTIFY_SKIP } = require('../support/restify')
const { startExample } = require('./example-process')

const USER = { path: '/users/7', route: '/users/:id' }
const EXAMPLES = [
  { file: 'express.js', ...USER },
  { file: 'express.js', alias: 'express=express-4', says: /^express is express-4\n$/, ...USER },
  { file: 'koa.js', ...USER },
  { file: 'koa.js', alias: 'koa=koa-2', says: /^koa is koa-2\n$/, ...USER },
  // Restify 11 itself loads a deprecated binding of Node.
  { file: 'restify.js', skip: RESTIFY_SKIP, says: /^(\(.*(DEP0111|--trace-deprecation).*\n)*$/, ...USER },
  { file: 'plain-http.js', ...USER },
  { file: 'http2.js', get: getOverHttp2, ...USER },
  {
    file: 'cluster.js',
    ready: /^All 4 workers are ready\.$/,
    shows: 'spillway_workers{state="live"} 4',
    ...USER,
  },
  {
    file: 'own-registry.js',
    path: '/orders/book',
    route: '/orders/:kind',
    shows: 'shop_orders_total{kind="book"} 1',
  },
]

describe('a small example', () => {
  for (const {
    file,
    alias,
    path,
    route,
    shows = '',
    ready = /./,
    says = /^$/,
    skip = false,
    get = getOverHttp1,
  } of EXAMPLES) {
    test(`${file}${alias ? ` with ${alias}` : ''} answers ${path} and counts it as ${route}`, {
      skip,
    }, async (t) => {
      const example = startExample(t, file, { alias })
      const url = await example.url()
      await example.line(ready)
      const answer = await get(url, path)
      assert.equal(answer.status, 200)
      assert.match(answer.body, /7|book/)

      const counted = `http_server_request_duration_seconds_count{http_request_method="GET",http_route="${route}",http_response_status_code="200",url_scheme="http"} 1\n`
      let metrics
      // The server counts an answer a moment after the client has it; and a worker that is still busy
      // starting is silent.
      do {
        metrics = await get(url, '/metrics')
        assert.equal(metrics.status, 200)
      } while (
        !metrics.body.includes('http_server_request_duration_seconds_count') ||
        !metrics.body.includes(shows)
      )
      assert.ok(metrics.body.includes(counted), metrics.body)
      assert.ok(!metrics.body.includes('/users/7'))

      example.child.kill('SIGTERM')
      const { stderr } = await example.closed
      assert.match(stderr, says)
    })
  }
})

async function getOverHttp1(url, path) {
  const res = await fetch(url + path)
  return { status: res.status, body: await res.text() }
}

async function getOverHttp2(url, path) {
  const session = http2.connect(url)
  try {
    const stream = session.request({ ':path': path })
    const headers = new Promise((resolve, reject) => stream.once('response', resolve).once('error', reject))
    return { status: (await headers)[':status'], body: await text(stream) }
  } finally {
    session.destroy()
  }
}
