'use strict'
// A real server on a free loopback port for the time of one test, and a client that keeps no connection. One
// that does keep them shall not lose a request where the machine stands still for Node's five seconds, and
// both ends give one up.

require('./checked-transitions')
const http = require('node:http')
const { once } = require('node:events')

const KEEP_MS = 60_000
const { keepAliveTimeout: USUAL_KEEP_MS } = http.createServer()

/**
 * @param {import('node:test').TestContext} t closes the server when the test is over
 * @param {import('node:http').RequestListener | import('node:net').Server} listener or a server of your own
 * @returns {Promise<{ server: any, port: number, get: (path: string, options?: object) => Promise<Answer>,
 *   request: (options: object, body?: any) => Promise<Answer> }>}
 */
async function serve(t, listener) {
  const server = typeof listener === 'function' ? http.createServer(listener) : listener
  if (server.keepAliveTimeout === USUAL_KEEP_MS) server.keepAliveTimeout = KEEP_MS
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections?.()
  })
  const { port } = server.address()
  const request = (options, body) => ask({ port, ...options }, body)
  return { server, port, request, get: (path, options) => request({ path, ...options }) }
}

/** @typedef {{ status: number, headers: Record<string, any>, body: string }} Answer */

async function ask(options, body) {
  const req = http.request({ host: '127.0.0.1', agent: false, ...options })
  req.end(body)
  const [res] = await once(req, 'response')
  res.setEncoding('utf8')
  let text = ''
  for await (const piece of res) text += piece
  return { status: res.statusCode, headers: res.headers, body: text }
}

module.exports = { ask, serve }
