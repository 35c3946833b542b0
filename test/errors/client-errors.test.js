'use strict'
// What came that was no request: counted by code, and Node's own answer to it left as it is.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { describe, it } = require('node:test')
const { ClientErrors } = require('../../src/core/errors/error-table')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')

const ok = (_req, res) => res.end('ok')

/** Everything the server says to these bytes. */
async function answerTo(port, bytes) {
  const socket = net.connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (piece) => (text += piece))
  socket.on('error', () => {})
  socket.end(bytes)
  await once(socket, 'close')
  return text
}

describe('clientError', () => {
  for (const [what, bytes, code, answer] of [
    ['no HTTP at all', 'nonsense\r\n\r\n', 'HPE_INVALID_METHOD', /^HTTP\/1\.1 400 Bad Request\r\n/],
    [
      'a head that is too long',
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      'HPE_HEADER_OVERFLOW',
      /^HTTP\/1\.1 431 /,
    ],
    [
      'a chunk whose size is no number',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      'HPE_INVALID_CHUNK_SIZE',
      /400 Bad Request\r\n|^HTTP\/1\.1 200 /,
    ],
  ]) {
    it(`is counted for ${what} as ${code}, and answered by Node`, async (t) => {
      const spillway = spillwayFor(t)
      const { server, port } = await serve(t, spillway.attach(http.createServer(ok)))
      assert.match(await answerTo(port, bytes), answer)
      assert.deepEqual(spillway.snapshot().clientErrors, { [code]: 1 })
      assert.equal(server.listenerCount('clientError'), 0)
      const { body } = await (await fetch(`http://127.0.0.1:${port}/metrics`))
        .text()
        .then((text) => ({ body: text }))
      assert.match(body, new RegExp(`spillway_client_errors_total\\{code="${code}"\\} 1\n`))
    })
  }

  it('is passed to the listeners of the application, which answer it', async (t) => {
    const spillway = spillwayFor(t)
    const server = http.createServer(ok)
    server.on('clientError', (_error, socket) => socket.end('HTTP/1.1 418 Own\r\n\r\n'))
    const { port } = await serve(t, spillway.attach(server))
    assert.match(await answerTo(port, 'nonsense\r\n\r\n'), /^HTTP\/1\.1 418 Own/)
    assert.deepEqual(spillway.snapshot().clientErrors, { HPE_INVALID_METHOD: 1 })
  })

  it('is not counted after close()', async (t) => {
    const spillway = spillwayFor(t)
    const { port } = await serve(t, spillway.attach(http.createServer(ok)))
    spillway.close()
    await answerTo(port, 'nonsense\r\n\r\n')
    assert.deepEqual(spillway.snapshot().clientErrors, {})
  })

  it('the number of codes is bounded, whatever is emitted', () => {
    const errors = new ClientErrors()
    for (const odd of [undefined, null, 'text', { code: 7 }]) errors.record(odd)
    for (let i = 0; i < 1000; i++) errors.record({ code: `E${i}` })
    // A client that has left sent nothing wrong.
    for (const code of ['ECONNRESET', 'EPIPE', 'ETIMEDOUT']) errors.record({ code })
    const counts = new Map(errors.list())
    assert.equal(counts.has('ECONNRESET'), false)
    assert.ok(counts.size <= 101)
    assert.equal(counts.get('(unknown)'), 4)
    assert.equal(counts.get('(other)'), 1004 - 4 - 99)
  })
})
