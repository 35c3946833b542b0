'use strict'
// What https://nodejs.org/api/http.html and net.html say of the connections of a server.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const { ask, listenersOf, note, serve, steady, talk, turn } = require('./clients')

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

test('a connection is kept for the next request', async (t) => {
  const sockets = new Set()
  const port = await serve(
    t,
    http.createServer((req, res) => res.end(String(sockets.add(req.socket).size)))
  )
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const answers = []
  for (let i = 0; i < 3; i++) answers.push(steady(await ask(port, '/', { agent })))
  note(t, answers)
  assert.deepEqual(
    answers.map(({ body }) => body),
    ['1', '1', '1']
  )
})

test('HTTP/1.0 is answered as before', async (t) => {
  const port = await serve(
    t,
    http.createServer((_req, res) => res.write('a') && res.end('b'))
  )
  const text = await talk(port, t).write('GET / HTTP/1.0\r\n\r\n').ended
  note(t, text.replace(/Date: .*\r\n/, ''))
})

test('pipelined requests are answered in their order', async (t) => {
  const order = []
  const port = await serve(
    t,
    http.createServer((req, res) => {
      order.push(req.url)
      setTimeout(() => res.end(`<${req.url}>`), req.url === '/0' ? 30 : 1)
    })
  )
  const client = talk(port, t).write(
    [0, 1, 2, 3].map((i) => `GET /${i} HTTP/1.1\r\nHost: a\r\n\r\n`).join('')
  )
  const text = await client.until(/<\/3>/)
  note(t, order)
  assert.deepEqual(text.match(/<\/\d>/g), ['</0>', '</1>', '</2>', '</3>'])
})

test('a client that half-closes after its request has its answer, two at once and thirty times', async (t) => {
  const port = await serve(
    t,
    http.createServer((_req, res) => res.end('hello'))
  )
  let answered = 0
  for (let i = 0; i < 30; i++) {
    const texts = await Promise.all([1, 2].map(() => talk(port, t).end(GET).closed))
    answered += texts.filter((text) => text.startsWith('HTTP/1.1 200')).length
  }
  assert.equal(answered, 60)
})

test('with allowHalfOpen a half-closing client has an answer that comes later', async (t) => {
  const server = http.createServer((_req, res) => void setTimeout(() => res.end('late'), 20))
  server.httpAllowHalfOpen = true
  const port = await serve(t, server)
  assert.match(await talk(port, t, { allowHalfOpen: true }).end(GET).until(/late/), /^HTTP\/1\.1 200/)
})

for (const [event, head] of [
  ['upgrade', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhead'],
  ['connect', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\nhead'],
]) {
  test(`'${event}' hands the socket over with no listeners left on it`, async (t) => {
    const handed = later()
    const server = http.createServer()
    server.on(event, (req, socket, rest) => {
      handed.resolve({
        listeners: listenersOf(socket),
        rest: String(rest),
        timeout: socket.timeout ?? 0,
        url: req.url,
      })
      socket.end('HTTP/1.1 200 OK\r\n\r\nraw')
    })
    const port = await serve(t, server)
    assert.match(await talk(port, t).write(head).ended, /raw$/)
    note(t, await handed.promise)
  })
}

test('an upgrade nobody listens for is a request', async (t) => {
  const port = await serve(
    t,
    http.createServer((_req, res) => res.end('plain'))
  )
  const text = await talk(port, t)
    .write('GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
    .until(/plain/)
  assert.match(text, /^HTTP\/1\.1 200/)
})

test('between the handlers of different connections ticks and promises run', async (t) => {
  let log = []
  const port = await serve(
    t,
    http.createServer((req, res) => {
      log.push('handler')
      process.nextTick(() => log.push('tick'))
      Promise.resolve().then(() => {
        log.push('promise')
        res.end()
      })
    })
  )
  for (let i = 0; i < 40; i++) {
    log = []
    await Promise.all([ask(port), ask(port), ask(port)])
    assert.equal(log.join(), Array(3).fill('handler,tick,promise').join())
  }
})

test('what is no HTTP gets 400, or what a clientError listener sends', async (t) => {
  const server = http.createServer((_req, res) => res.end())
  const port = await serve(t, server)
  note(t, await talk(port, t).write('nonsense\r\n\r\n').ended)
  server.on('clientError', (error, socket) => socket.end(`HTTP/1.1 418 ${error.code}\r\n\r\n`))
  note(t, await talk(port, t).write('nonsense\r\n\r\n').ended)
  note(t, server.listenerCount('clientError'))
})

test('the timeouts of the server hold', async (t) => {
  const server = http.createServer({ connectionsCheckingInterval: 20 }, () => {})
  server.headersTimeout = 50
  server.requestTimeout = 100
  const port = await serve(t, server)
  assert.match(await talk(port, t).write('GET / HTTP/1.1\r\n').ended, /^HTTP\/1\.1 408/)
  assert.match(
    await talk(port, t).write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n').ended,
    /^HTTP\/1\.1 408/
  )
})

test('setTimeout of server, request and response is heard', async (t) => {
  const log = []
  const server = http.createServer((req, res) => {
    const told = (name) => () => {
      log.push(name)
      res.end(name)
    }
    if (req.url === '/req') req.setTimeout(20, told('req'))
    if (req.url === '/res') res.setTimeout(20, told('res'))
  })
  const port = await serve(t, server)
  // A request has a timeout of its own while its body is on its way.
  const client = talk(port, t).write('POST /req HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx')
  await client.until(/req/)
  await ask(port, '/res')
  server.setTimeout(20)
  assert.equal(await talk(port, t).write(GET).closed, '')
  assert.deepEqual(log, ['req', 'res'])
})

test('keepAliveTimeout and maxRequestsPerSocket end a connection', async (t) => {
  const server = http.createServer((_req, res) => res.end('done'))
  server.keepAliveTimeout = 20
  server.maxRequestsPerSocket = 2
  const dropped = once(server, 'dropRequest')
  const port = await serve(t, server)
  note(t, (await talk(port, t).write(GET).ended).replace(/Date: .*\r\n/, ''))
  const text = await talk(port, t).write(GET + GET + GET).ended
  note(t, text.replace(/Date: .*\r\n/g, ''))
  await dropped
})

test('close() waits for what is in flight, and closes idle connections', async (t) => {
  const log = []
  const arrived = later()
  const server = http.createServer((_req, res) => arrived.resolve(res))
  const port = await serve(t, server)
  const client = talk(port, t).write(GET)
  const res = await arrived.promise
  server.close(() => log.push('server'))
  client.closed.then(() => log.push('client'))
  res.end('last')
  assert.match(await client.closed, /last/)
  await turn()
  note(t, log.sort())
  await assert.rejects(ask(port), { code: 'ECONNREFUSED' })
})

function later() {
  const it = {}
  it.promise = new Promise((resolve) => {
    it.resolve = resolve
  })
  return it
}
