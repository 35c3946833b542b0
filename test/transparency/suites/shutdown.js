'use strict'
// Packages that end a server by its connections: http-terminator, stoppable and @godaddy/terminus.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const { createTerminus } = require('@godaddy/terminus')
const { createHttpTerminator } = require('http-terminator')
const stoppable = require('stoppable')
const { ask, note, serve, steady, talk } = require('./clients')

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

test('http-terminator closes idle connections, and waits for what is in flight', async (t) => {
  const server = http.createServer(
    (req, res) => void setTimeout(() => res.end('done'), req.url === '/slow' ? 30 : 0)
  )
  const port = await serve(t, server)
  const idle = talk(port, t).write(GET)
  await idle.until(/done/)
  const busy = ask(port, '/slow')
  await once(server, 'request')
  await createHttpTerminator({ server, gracefulTerminationTimeout: 1000 }).terminate()
  await idle.closed
  const { body, headers } = await busy
  note(t, [body, headers.connection, server.listening])
})

test('stoppable does so too', async (t) => {
  const server = stoppable(
    http.createServer((req, res) => void setTimeout(() => res.end('done'), req.url === '/slow' ? 30 : 0)),
    1000
  )
  const port = await serve(t, server)
  const idle = talk(port, t).write(GET)
  await idle.until(/done/)
  const busy = ask(port, '/slow')
  await once(server, 'request')
  const graceful = await new Promise((resolve) => server.stop((_error, given) => resolve(given)))
  await idle.closed
  assert.deepEqual([(await busy).body, graceful], ['done', true])
})

test('terminus answers its health checks, and passes on the rest', async (t) => {
  const server = http.createServer((_req, res) => res.end('app'))
  createTerminus(server, { healthChecks: { '/health': async () => ({ fine: true }) }, signals: [] })
  const port = await serve(t, server)
  for (const path of ['/health', '/other']) note(t, steady(await ask(port, path)))
  note(t, server.listenerCount('request'))
})
