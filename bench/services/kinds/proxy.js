'use strict'
// A reverse proxy by http-proxy-middleware, with kept connections to a small upstream in a process of its
// own.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const { peer } = require('../../support/peers')
const { HOST, HttpLoad } = require('../load')

const RATE = 1200
const BODY = JSON.stringify({ items: Array.from({ length: 20 }, (_, id) => ({ id, name: `item ${id}` })) })

/** This file as a program is the upstream. */
function serveUpstream() {
  const server = http.createServer((_req, res) => {
    res.setHeader('content-type', 'application/json')
    res.end(BODY)
  })
  server.keepAliveTimeout = 0
  server.listen(0, HOST, () => process.send?.(/** @type {any} */ (server.address()).port))
  process.on('disconnect', () => process.exit())
}

async function prepare() {
  const upstream = fork(__filename, { execArgv: [] })
  const [port] = await once(upstream, 'message')
  return {
    given: port,
    async stop() {
      upstream.kill()
      await once(upstream, 'exit')
    },
  }
}

if (require.main === module) serveUpstream()

module.exports = {
  name: 'proxy',
  title: 'reverse proxy, http-proxy-middleware',
  unit: 'request',
  framework: 'express',
  prepare,
  serve(app, upstreamPort) {
    const { createProxyMiddleware } = peer('http-proxy-middleware')
    // Required here, because OpenTelemetry instruments only what is loaded after it.
    const agent = new (require('node:http').Agent)({ keepAlive: true })
    app.use('/api', createProxyMiddleware({ target: `http://${HOST}:${upstreamPort}`, agent }))
  },
  load: (port) => new HttpLoad(port, { rate: RATE, path: '/api/items' }),
}
