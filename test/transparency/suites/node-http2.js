'use strict'
// What https://nodejs.org/api/http2.html says of servers, by streams and by its compatibility API.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { test } = require('node:test')
const { note, serve, trace, turn } = require('./clients')

async function connect(t, server) {
  const port = await serve(t, server)
  const session = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => session.destroy())
  return session
}

/** Without the symbol that Node puts on headers. */
const plain = (headers) => Object.fromEntries(Object.entries(headers))

async function ask(session, headers = {}, body) {
  const stream = session.request({ ':path': '/', ...headers }, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  stream.setEncoding('utf8')
  let [text, trailers] = ['', undefined]
  stream.on('trailers', (given) => {
    trailers = plain(given)
  })
  const [head] = await once(stream, 'response')
  for await (const piece of stream) text += piece
  const { date: _, ...kept } = plain(head)
  return { head: kept, text, trailers }
}

test('the compatibility API answers, with its events in their order', async (t) => {
  const log = []
  const session = await connect(
    t,
    http2.createServer((req, res) => {
      trace(log, 'req', req, ['end', 'close'])
      trace(log, 'res', res, ['finish', 'close'])
      req.resume().on('end', () => {
        res.setHeader('x-a', '1')
        res.end('done')
      })
    })
  )
  note(t, await ask(session, { ':method': 'POST' }, 'x'))
  await turn()
  note(t, log)
})

test('the stream API answers', async (t) => {
  const server = http2.createServer()
  server.on('stream', (stream, headers, flags) => {
    stream.respond({ ':status': 201, 'x-path': headers[':path'], 'x-flags': flags })
    stream.end('made')
  })
  const { head, text } = await ask(await connect(t, server))
  assert.deepEqual([head[':status'], head['x-path'], text], [201, '/', 'made'])
})

test('trailers come', async (t) => {
  const session = await connect(
    t,
    http2.createServer((_req, res) => {
      res.write('a')
      res.addTrailers({ 'x-sum': '1' })
      res.end('b')
    })
  )
  assert.deepEqual(await ask(session), { head: { ':status': 200 }, text: 'ab', trailers: { 'x-sum': '1' } })
})

test('HEAD, 204 and Expect: 100-continue', async (t) => {
  const session = await connect(
    t,
    http2.createServer((req, res) => {
      if (req.url === '/none') return res.writeHead(204).end()
      res.setHeader('content-length', 4)
      req.resume().on('end', () => res.end('done'))
    })
  )
  note(t, await ask(session, { ':method': 'HEAD' }))
  note(t, await ask(session, { ':path': '/none' }))
  const stream = session.request({ ':method': 'POST', ':path': '/', expect: '100-continue' })
  await once(stream, 'continue')
  stream.end('x')
  const [head] = await once(stream, 'response')
  assert.equal(head[':status'], 200)
  stream.close()
})

test('a stream that its client resets is told of', async (t) => {
  const log = []
  const closed = new Promise((resolve) => {
    t.server = http2.createServer((req, res) => {
      trace(log, 'req', req, ['aborted', 'close'])
      trace(log, 'res', res, ['finish', 'close'])
      res.on('close', () => setImmediate(resolve))
      stream.close(http2.constants.NGHTTP2_CANCEL)
    })
  })
  const session = await connect(t, t.server)
  const stream = session.request({ ':method': 'POST', ':path': '/' })
  stream.on('error', () => {})
  stream.write('x')
  await closed
  note(t, log)
})

test('many streams at once are all answered', async (t) => {
  const session = await connect(
    t,
    http2.createServer((req, res) => void setTimeout(() => res.end(req.url), 2))
  )
  const paths = Array.from({ length: 90 }, (_, i) => `/${i}`)
  const answers = await Promise.all(paths.map((path) => ask(session, { ':path': path })))
  assert.deepEqual(
    answers.map(({ text }) => text),
    paths
  )
})

test('a push is received', async (t) => {
  const session = await connect(
    t,
    http2.createServer((_req, res) =>
      res.createPushResponse({ ':path': '/pushed' }, (_error, push) => {
        push.end('pushed')
        res.end('main')
      })
    )
  )
  const pushed = once(session, 'stream')
  assert.equal((await ask(session)).text, 'main')
  const [stream, headers] = await pushed
  assert.equal(headers[':path'], '/pushed')
  stream.close()
})

test('close() of the session waits for its streams', async (t) => {
  const server = http2.createServer((_req, res) => void setTimeout(() => res.end('late'), 20))
  const session = await connect(t, server)
  const answer = ask(session)
  await once(server, 'stream')
  const closed = once(session, 'close')
  session.close()
  assert.equal((await answer).text, 'late')
  await closed
})
