'use strict'
// The timeouts of a server behind a proxy. That they end the 502s of real proxies is tested in test/proxies/.

const assert = require('node:assert/strict')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const { test } = require('node:test')
const { TIMEOUTS } = require('../../src/core/http/behind-proxy')
const { spillwayFor } = require('../support/spillway')

/** Envoy's `idle_timeout`, the longest default of the proxies in docs/proxies.md. */
const ENVOY_MS = 3_600_000

const timeoutsOf = (server) => Object.fromEntries(TIMEOUTS.map((name) => [name, server[name]]))
const DEFAULTS = timeoutsOf(http.createServer())

const attached = (t, server, options) => timeoutsOf(spillwayFor(t).attach(server, options))

test('without behindProxy no timeout changes', (t) => {
  assert.deepEqual(attached(t, http.createServer()), DEFAULTS)
  assert.deepEqual(attached(t, http.createServer(), { signals: false, behindProxy: false }), DEFAULTS)
})

test('behindProxy keeps connections for longer than any proxy, used or not', (t) => {
  for (const server of [http.createServer(), https.createServer()]) {
    const timeouts = attached(t, server, { behindProxy: true })
    for (const name of TIMEOUTS) assert.ok(timeouts[name] > ENVOY_MS, `${name}: ${timeouts[name]}`)
  }
})

test('behindProxy raises the timeouts that a server of HTTP/1 and HTTP/2 has', (t) => {
  const server = http2.createSecureServer({ allowHTTP1: true })
  const { keepAliveTimeout, headersTimeout, requestTimeout } = attached(t, server, { behindProxy: true })
  // Node 20 has it for HTTP/1 alone.
  assert.ok(keepAliveTimeout === undefined || keepAliveTimeout > ENVOY_MS)
  assert.ok(headersTimeout > ENVOY_MS && requestTimeout > ENVOY_MS)
})

test('behindProxy leaves what the user has set, 0 too, and raises the rest', (t) => {
  for (const name of TIMEOUTS)
    for (const own of [0, 1234, 7_200_000]) {
      const server = http.createServer()
      server[name] = own
      const timeouts = attached(t, server, { behindProxy: true })
      for (const each of TIMEOUTS)
        if (each === name) assert.equal(timeouts[each], own)
        else assert.ok(timeouts[each] > ENVOY_MS, each)
    }
})

test('behindProxy sets the server that is inside another object, and spares one without such timeouts', (t) => {
  const inner = http.createServer()
  spillwayFor(t).attach({ server: inner }, { behindProxy: true })
  assert.ok(inner.keepAliveTimeout > ENVOY_MS)
  const plain = http2.createServer()
  assert.equal(spillwayFor(t).attach(plain, { behindProxy: true }).keepAliveTimeout, undefined)
})

test('close() puts back what behindProxy raised, and leaves what was set since', (t) => {
  const server = http.createServer()
  const spillway = spillwayFor(t)
  spillway.attach(server, { behindProxy: true })
  server.headersTimeout = 70_000
  spillway.close()
  assert.deepEqual(timeoutsOf(server), { ...DEFAULTS, headersTimeout: 70_000 })
})

test('of two instances the one that closes last puts the timeouts back', (t) => {
  const server = http.createServer()
  const both = [spillwayFor(t), spillwayFor(t)]
  for (const spillway of both) spillway.attach(server, { behindProxy: true })
  both[0].attach(server, { behindProxy: true })
  both[0].close()
  assert.ok(server.keepAliveTimeout > ENVOY_MS)
  both[1].close()
  assert.deepEqual(timeoutsOf(server), DEFAULTS)
})
