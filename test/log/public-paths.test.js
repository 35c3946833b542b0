'use strict'
// The line that says in production which paths answer anybody, on real servers.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

/** A spillway made with that NODE_ENV, and what it says at level info. */
function saying(t, env, options) {
  const before = process.env.NODE_ENV
  const lines = []
  const logger = { info: (fields, message) => lines.push({ ...fields, message }), warn() {}, error() {} }
  process.env.NODE_ENV = env
  try {
    return { spillway: spillwayFor(t, { logger, ...options }), lines }
  } finally {
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
  }
}

const ok = (_req, res) => res.end('ok')

test('a server that listens anew, on another port, logs it at its first connection', async (t) => {
  const { spillway, lines } = saying(t, 'production')
  const server = spillway.attach(http.createServer(ok))
  const ports = []
  for (let i = 0; i < 2; i++) {
    const { port, get } = await serve(t, server)
    await get('/')
    ports.push(port)
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  assert.deepEqual(
    lines.map(({ port }) => port),
    [...new Set(ports)]
  )
})

test('an attached server logs the paths once, when it listens', async (t) => {
  const { spillway, lines } = saying(t, 'production')
  const server = spillway.attach(http.createServer(ok))
  assert.deepEqual(lines, [])
  const { port, get } = await serve(t, server)
  await get('/')
  assert.deepEqual(lines, [
    {
      port,
      paths: ['/metrics', '/livez', '/readyz'],
      message: `spillway: port ${port} answers every client on /metrics, /livez and /readyz; \`endpoints.allow\` or \`endpoints: false\` changes that`,
    },
  ])
})

test('a server attached while it listens logs the paths at once; each port has its own line', async (t) => {
  const { spillway, lines } = saying(t, 'production', { endpoints: { live: false, ready: false } })
  const servers = [http.createServer(ok), http.createServer(ok)]
  const ports = []
  for (const server of servers) {
    ports.push((await serve(t, server)).port)
    spillway.attach(server)
  }
  assert.deepEqual(
    lines.map(({ port, paths }) => [port, paths]),
    ports.map((port) => [port, ['/metrics']])
  )
  assert.match(lines[0].message, /answers every client on \/metrics;/)
})

test('a server that becomes known by a middleware logs the paths with its first request', async (t) => {
  const { spillway, lines } = saying(t, 'production')
  const { port, get } = await serve(t, express().use(spillway.express()).use(ok))
  for (let i = 0; i < 3; i++) await get('/')
  assert.deepEqual(
    lines.map((line) => line.port),
    [port]
  )
})

for (const [what, env, options] of /** @type {const} */ ([
  ['outside of production', 'development', {}],
  ['where `endpoints.allow` decides', 'production', { endpoints: { allow: () => true } }],
  ['with `endpoints: false`', 'production', { endpoints: false }],
])) {
  test(`nothing is logged ${what}`, async (t) => {
    const { spillway, lines } = saying(t, env, options)
    const { get } = await serve(t, spillway.attach(http.createServer(ok)))
    await get('/')
    assert.deepEqual(lines, [])
  })
}

test('with `endpoints: false` the application answers every path', async (t) => {
  const { spillway } = saying(t, 'production', { endpoints: false })
  const { get } = await serve(t, spillway.attach(http.createServer(ok)))
  for (const path of ['/metrics', '/livez', '/readyz']) assert.equal((await get(path)).body, 'ok', path)
})
