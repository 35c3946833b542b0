'use strict'
// What the documentation of on-finished says: of responses and requests, however they end.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const onFinished = require('on-finished')
const { ask, note, serve, talk } = require('./clients')

/** What on-finished said of a request that was handled so. */
function heard(t, handle) {
  const log = []
  return new Promise((resolve) => {
    const server = http.createServer((req, res) => {
      onFinished(req, (error) => log.push(['req', error?.code]))
      onFinished(res, (error, given) => {
        log.push(['res', error?.code, given === res, onFinished.isFinished(res)])
        setImmediate(() => resolve(log))
      })
      log.push(onFinished.isFinished(res), onFinished.isFinished(req))
      handle(req, res)
    })
    serve(t, server).then((port) => t.send(port))
  })
}

test('an answer that was sent', async (t) => {
  t.send = (port) => ask(port)
  note(t, await heard(t, (_req, res) => res.end('done')))
})

test('an answer to a body', async (t) => {
  t.send = (port) => ask(port, '/', { method: 'POST', body: 'x' })
  note(t, await heard(t, (req, res) => req.resume().on('end', () => res.end('done'))))
})

test('a client that leaves', async (t) => {
  t.send = (port) => {
    t.client = talk(port, t).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  }
  const log = await heard(t, () => t.client.destroy())
  note(t, log)
  assert.equal(log.at(-1)[0], 'res')
})

test('a second pipelined request whose connection closes', async (t) => {
  const log = []
  const port = await serve(
    t,
    http.createServer((req, res) => {
      onFinished(res, () => log.push(req.url))
      if (req.url === '/1') setImmediate(() => client.destroy())
    })
  )
  const client = talk(port, t).write('GET /0 HTTP/1.1\r\nHost: a\r\n\r\nGET /1 HTTP/1.1\r\nHost: a\r\n\r\n')
  await client.closed
  await new Promise((resolve) => setTimeout(resolve, 20))
  note(t, log.sort())
})

test('listeners are called once, in their order, late ones too', async (t) => {
  const log = []
  const port = await serve(
    t,
    http.createServer((_req, res) => {
      onFinished(res, () => log.push('first'))
      onFinished(res, () => {
        log.push('second')
        onFinished(res, () => log.push('late'))
      })
      res.end()
    })
  )
  await ask(port)
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(log, ['first', 'second', 'late'])
})

test('an upgrade is over at once, and so is CONNECT', async (t) => {
  const log = []
  const server = http.createServer()
  for (const event of ['upgrade', 'connect']) {
    server.on(event, (req, socket) => {
      log.push(event, onFinished.isFinished(req))
      onFinished(req, () => {
        log.push(`${event} finished`)
        socket.end('HTTP/1.1 200 OK\r\n\r\n')
      })
    })
  }
  const port = await serve(t, server)
  await talk(port, t).write('GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n').ended
  await talk(port, t).write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n').ended
  note(t, log)
})
