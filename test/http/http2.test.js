'use strict'
// The adapters over HTTP/2 without TLS.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { describe, it, test } = require('node:test')
const { promisesEndpoints } = require('../support/endpoints')
const { outcomesOf } = require('../support/outcomes')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ok = (_req, res) => res.end('ok')

async function h2(t, server) {
  const { port } = await serve(t, server)
  const client = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  const get = async (path, method = 'GET') => {
    const stream = client.request({ ':path': path, ':method': method })
    const [headers] = await once(stream, 'response')
    stream.setEncoding('utf8')
    let body = ''
    for await (const piece of stream) body += piece
    return { status: headers[':status'], headers, body }
  }
  return { get, request: ({ path, method }) => get(path, method) }
}

const WAYS = {
  'attach(server)': (spillway, listener) => spillway.attach(http2.createServer(listener)),
  'wrap(listener)': (spillway, listener) => http2.createServer(spillway.wrap(listener)),
  'express()': (spillway, listener) => {
    const middleware = spillway.express()
    return http2.createServer((req, res) => middleware(req, res, () => listener(req, res)))
  },
}
for (const [way, serverOf] of Object.entries(WAYS)) {
  describe(`HTTP/2 with ${way}`, () => {
    promisesEndpoints((t, spillway, answer) => h2(t, serverOf(spillway, answer)))

    it('measures requests of one session at once', async (t) => {
      const spillway = spillwayFor(t)
      const { get } = await h2(t, serverOf(spillway, ok))
      const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => get(`/${i}`)))
      assert.ok(answers.every(({ body }) => body === 'ok'))
      assert.deepEqual(outcomesOf(await ended(spillway, 10)), { 'GET (unmatched) completed': 10 })
    })
  })
}

test('Expect: 100-continue on a closed stream is an aborted request', async (t) => {
  const spillway = spillwayFor(t)
  const server = spillway
    .attach(http2.createServer(ok))
    .prependListener('stream', (stream) => stream.destroy())
  const { port } = await serve(t, server)
  const client = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  const stream = client.request({ ':path': '/', ':method': 'POST', expect: '100-continue' })
  await once(
    stream.on('error', () => {}),
    'close'
  )
  assert.equal((await ended(spillway, 1)).requests.inFlight, 0)
})

describe('CONNECT over HTTP/2', () => {
  /** @returns {Promise<number>} the status */
  async function connect(t, server) {
    const { port } = await serve(t, server)
    const client = http2.connect(`http://127.0.0.1:${port}`)
    t.after(() => client.destroy())
    const stream = client.request({ ':method': 'CONNECT', ':authority': 'example.com:80' })
    const [headers] = await once(stream, 'response')
    stream.close()
    return headers[':status']
  }

  it("gets Node's 405 where nobody listens for it, and is one request", async (t) => {
    const spillway = spillwayFor(t)
    assert.equal(await connect(t, spillway.attach(http2.createServer(ok))), 405)
    assert.deepEqual(outcomesOf(await ended(spillway, 1)), { 'CONNECT (unmatched) completed': 1 })
  })

  it('is left to the listener, whatever the load', async (t) => {
    const spillway = spillwayFor(t, { shed: { maxHeapUsedBytes: 1, sampleInterval: 1 } })
    const server = spillway.attach(http2.createServer(ok))
    server.on('connect', (_req, res) => res.writeHead(200).end())
    assert.equal(await connect(t, server), 200)
  })
})
