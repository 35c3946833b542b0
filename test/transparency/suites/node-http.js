'use strict'
// What https://nodejs.org/api/http.html says of requests and responses.

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const diagnostics = require('node:diagnostics_channel')
const http = require('node:http')
const { test } = require('node:test')
const { after, ask, note, read, serve, steady, talk, trace, turn } = require('./clients')

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

test('the events of a request and its response come in their order', async (t) => {
  const log = []
  const port = await serve(
    t,
    http.createServer((req, res) => {
      log.push('handler')
      trace(log, 'req', req, ['data', 'end', 'close'])
      trace(log, 'res', res, ['prefinish', 'finish', 'close'])
      process.nextTick(() => log.push('tick'))
      Promise.resolve().then(() => log.push('promise'))
      req.on('end', () => res.end('done'))
    })
  )
  await ask(port, '/', { method: 'POST', body: 'x' })
  await turn()
  note(t, log)
  assert.ok(log.indexOf('tick') < log.indexOf('promise'))
})

test('a response says how far it is', async (t) => {
  const log = []
  const stateOf = ({ headersSent, writableEnded, writableFinished, finished, destroyed, closed }) =>
    log.push({ headersSent, writableEnded, writableFinished, finished, destroyed, closed })
  const ended = Promise.withResolvers?.() ?? later()
  const port = await serve(
    t,
    http.createServer((_req, res) => {
      stateOf(res)
      res.write('a')
      stateOf(res)
      res.end('b')
      stateOf(res)
      res.on('finish', () => stateOf(res)).on('close', () => ended.resolve(stateOf(res)))
    })
  )
  await ask(port)
  await ended.promise
  note(t, log)
  assert.equal(log.length, 5)
})

test('a request says how far it is, and is complete', async (t) => {
  const log = []
  const port = await serve(
    t,
    http.createServer((req, res) => {
      const state = () => log.push([req.complete, req.readableEnded, req.destroyed, req.aborted])
      state()
      req.resume().on('end', () => {
        state()
        res.end()
      })
      res.on('close', state)
    })
  )
  await ask(port, '/', { method: 'PUT', body: 'x'.repeat(200_000) })
  await turn()
  note(t, log)
  assert.equal(log[0][0], false)
  assert.equal(log[1][0], true)
})

test('head and body go out as they were given', async (t) => {
  const port = await serve(
    t,
    http.createServer((req, res) => {
      if (req.url === '/chunked') res.write('a')
      if (req.url === '/raw') res.writeHead(201, 'Made', ['X-b', '1', 'X-A', '2', 'X-A', '3'])
      if (req.url === '/set') res.setHeader('X-B', ['1', '2']).setHeader('Content-Length', 1)
      if (req.url === '/none') return res.writeHead(204).end()
      if (req.url === '/same') return res.writeHead(304, { etag: 'x' }).end()
      if (req.url === '/message') res.statusMessage = 'Fine'
      if (req.url === '/no-date') res.sendDate = false
      if (req.url === '/close') res.shouldKeepAlive = false
      res.end('b')
    })
  )
  for (const path of ['/', '/chunked', '/raw', '/set', '/none', '/same', '/message', '/no-date', '/close'])
    note(t, steady(await ask(port, path)))
  note(t, steady(await ask(port, '/', { method: 'HEAD' })))
})

test('Expect: 100-continue is answered where nobody listens', async (t) => {
  const port = await serve(
    t,
    http.createServer((req, res) => req.resume().on('end', () => res.end('done')))
  )
  const client = talk(port, t).write(
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n'
  )
  await client.until(/100 Continue\r\n\r\n/)
  client.write('x')
  assert.match(await client.until(/done/), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
})

test("checkContinue and checkExpectation are the listeners' own", async (t) => {
  const log = []
  const server = http.createServer((_req, res) => res.end(String(log.push('request'))))
  server.on('checkContinue', (_req, res) => {
    log.push('checkContinue')
    res.writeHead(413, { connection: 'close' }).end()
  })
  const port = await serve(t, server)
  const asking = (value) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: ${value}\r\n\r\n`
  assert.match(await talk(port, t).write(asking('100-continue')).ended, /^HTTP\/1\.1 413/)
  assert.match(
    await talk(port, t)
      .write(asking('200-ok'))
      .until(/\r\n\r\n/),
    /^HTTP\/1\.1 417/
  )
  server.on('checkExpectation', (_req, res) => {
    log.push('checkExpectation')
    res.end('fine')
  })
  assert.match(await talk(port, t).write(asking('200-ok')).until(/fine/), /^HTTP\/1\.1 200/)
  assert.deepEqual(log, ['checkContinue', 'checkExpectation'])
})

test('trailers come and go', async (t) => {
  const port = await serve(
    t,
    http.createServer((req, res) => {
      req.resume().on('end', () => {
        res.writeHead(200, { Trailer: 'X-Sum' })
        res.write(JSON.stringify(req.trailers))
        res.addTrailers({ 'X-Sum': '1' })
        res.end()
      })
    })
  )
  const req = http.request({
    port,
    method: 'POST',
    agent: false,
    headers: { Trailer: 'X-In', 'Transfer-Encoding': 'chunked' },
  })
  req.write('x')
  req.addTrailers({ 'X-In': '2' })
  req.end()
  const { body, trailers } = await read(req)
  assert.deepEqual([JSON.parse(body), trailers], [{ 'x-in': '2' }, { 'x-sum': '1' }])
})

test('a client that leaves is told of', async (t) => {
  const log = []
  const done = later()
  const port = await serve(
    t,
    http.createServer((req, res) => {
      trace(log, 'req', req, ['aborted', 'end', 'error', 'close'])
      trace(log, 'res', res, ['finish', 'error', 'close'])
      res.on('close', () =>
        setImmediate(() => done.resolve([req.complete, req.aborted, res.writableEnded, res.destroyed]))
      )
      client.destroy()
    })
  )
  const client = talk(port, t).write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx')
  note(t, await done.promise)
  note(t, log)
  assert.ok(log.includes('req aborted') && log.includes('res close') && !log.includes('res finish'))
})

test('each request keeps its own async context', async (t) => {
  const storage = new AsyncLocalStorage()
  const port = await serve(
    t,
    http.createServer((req, res) =>
      storage.run(req.url, async () => {
        await after(5)
        res.on('finish', () => {})
        res.end(storage.getStore())
      })
    )
  )
  const paths = Array.from({ length: 20 }, (_, i) => `/${i}`)
  const answers = await Promise.all(paths.map((path) => ask(port, path)))
  assert.deepEqual(
    answers.map(({ body }) => body),
    paths
  )
})

test('misuse of a response throws what Node throws', async (t) => {
  const codes = []
  const port = await serve(
    t,
    http.createServer((_req, res) => {
      const code = (act) => {
        try {
          codes.push(act()?.constructor.name ?? 'nothing')
        } catch (error) {
          codes.push(error.code)
        }
      }
      code(() => res.writeHead(99))
      code(() => res.writeHead(200, { 'x-bad': 'a\nb' }))
      code(() => res.setHeader('a b', '1'))
      code(() => res.writeHead(200, 'Fine', { 'x-a': '1' }))
      code(() => res.writeHead(200))
      code(() => res.setHeader('x-b', '1'))
      code(() => res.end('x'))
      res.on('error', ({ code }) => codes.push(code))
      code(() => res.write('more'))
      code(() => res.end())
    })
  )
  await ask(port)
  await turn()
  note(t, codes)
})

test('a slow reader is waited for', async (t) => {
  const port = await serve(
    t,
    http.createServer((_req, res) => {
      let left = 40
      const write = () => {
        while (left-- > 0) if (!res.write('x'.repeat(65_536))) return res.once('drain', write)
        res.end()
      }
      write()
    })
  )
  const { body } = await ask(port)
  assert.equal(body.length, 40 * 65_536)
})

test('early hints and informational answers go out', async (t) => {
  const port = await serve(
    t,
    http.createServer((_req, res) => {
      res.writeEarlyHints({ link: '</a.css>; rel=preload' })
      res.writeProcessing()
      res.end('done')
    })
  )
  const text = await talk(port, t).write(GET).until(/done/)
  note(t, text.replace(/Date: .*\r\n/, ''))
})

test('diagnostics channels are published to', async (t) => {
  const log = []
  const names = ['http.server.request.start', 'http.server.response.finish', 'http.server.response.created']
  for (const name of names) {
    const hear = () => log.push(name)
    diagnostics.subscribe(name, hear)
    t.after(() => diagnostics.unsubscribe(name, hear))
  }
  const port = await serve(
    t,
    http.createServer((_req, res) => res.end(String(log.push('handler'))))
  )
  await ask(port)
  note(t, log)
})

test('listeners may be added, called once and taken away', async (t) => {
  const log = []
  const server = http.createServer()
  const answer = (_req, res) => res.end('done')
  server.once('request', () => log.push('once'))
  server.prependListener('request', () => log.push('first'))
  server.on('request', answer)
  const port = await serve(t, server)
  await ask(port)
  await ask(port)
  server.off('request', answer)
  server.on('request', (_req, res) => res.end('other'))
  note(t, [log, (await ask(port)).body, server.listenerCount('request')])
})

test('emit tells whether somebody listens', async (t) => {
  const server = http.createServer()
  note(t, [server.emit('request-like'), server.emit('anything')])
  server.on('anything', () => {})
  note(t, server.emit('anything'))
})

test("an error that is thrown by a handler is the process's", async (t) => {
  const port = await serve(
    t,
    http.createServer(() => {
      throw new Error('a mistake')
    })
  )
  const caught = later()
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.once('uncaughtException', (error) => {
    for (const each of listeners) process.on('uncaughtException', each)
    caught.resolve(error)
  })
  const client = talk(port, t).write(GET)
  assert.equal((await caught.promise).message, 'a mistake')
  client.destroy()
})

function later() {
  const it = {}
  it.promise = new Promise((resolve) => {
    it.resolve = resolve
  })
  return it
}
