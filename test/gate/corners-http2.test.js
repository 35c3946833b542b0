'use strict'
// The gate on HTTP/2, whose answers are streams of one connection: none of them may close it.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { describe, it } = require('node:test')
const { QUEUE, REFUSE, holdingServer, until } = require('./holding-server')

describe('HTTP/2', () => {
  const create = (spillway, handler) => spillway.attach(http2.createServer(handler))
  async function session(t, given) {
    const served = await holdingServer(t, { create, ...given })
    const client = http2.connect(`http://127.0.0.1:${served.port}`)
    t.after(() => client.destroy())
    const held = served.isHeld()
    const first = client.request({ ':path': '/hold' })
    await held
    return { ...served, client, first }
  }

  for (const method of ['GET', 'POST', 'HEAD']) {
    it(`rejects ${method} without a Connection header, and keeps the session`, async (t) => {
      const { client, first, release } = await session(t, { shed: REFUSE })
      const stream = client.request({ ':path': '/', ':method': method, 'content-length': '0' })
      stream.end()
      const [headers] = await once(stream, 'response')
      stream.resume()
      assert.equal(headers[':status'], 503)
      assert.equal(headers.connection, undefined)
      assert.equal(headers['content-type'], 'application/problem+json')
      assert.match(headers['retry-after'], /^\d+$/)
      release()
      const [answer] = await once(first, 'response')
      assert.equal(answer[':status'], 200)
    })
  }

  it("rejects without the user's headers where HTTP/2 has none of them", async (t) => {
    const shed = { ...REFUSE, headers: () => ({ 'Keep-Alive': 'timeout=1' }) }
    const { client } = await session(t, { shed })
    const stream = client.request({ ':path': '/' }).resume()
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], 503)
    assert.equal(headers['keep-alive'], undefined)
  })

  for (const method of ['GET', 'HEAD']) {
    it(`never runs a ${method} that was cancelled while it waited`, async (t) => {
      let ran = 0
      const work = (_req, res) => {
        ran++
        res.end()
      }
      const { client, release, waiting, admission } = await session(t, { shed: QUEUE, work })
      // To go on with what is gone would throw.
      const gone = client.request({ ':path': '/gone', ':method': method, expect: '100-continue' })
      gone.on('error', () => {})
      await waiting(1)
      gone.close(http2.constants.NGHTTP2_CANCEL)
      await until(() => admission().abandoned === 1)
      release()
      const [answer] = await once(client.request({ ':path': '/' }), 'response')
      assert.equal(answer[':status'], 200)
      assert.equal(ran, 1)
      await until(() => admission().inFlight === 0)
    })
  }

  it('gives the slot back of a stream that is over, though nobody reads the rest of its body', async (t) => {
    // As a parser does where a body is too long.
    const work = (req, res) =>
      req.once('data', () => {
        req.pause()
        res.writeHead(413).end()
      })
    const { client, release, clock, admission, spillway } = await session(t, { shed: REFUSE, work })
    release()
    await until(() => admission().inFlight === 0)
    const stream = client.request({ ':path': '/', ':method': 'POST' })
    stream.on('error', () => {})
    stream.write(Buffer.alloc(60_000))
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], 413)
    stream.close(http2.constants.NGHTTP2_CANCEL)
    await until(() => {
      clock.advance(1000)
      return admission().inFlight === 0
    })
    assert.equal(spillway.snapshot().requests.inFlight, 0)
  })

  it('runs a stream that waited, with its body', async (t) => {
    const work = async (req, res) => {
      let bytes = 0
      for await (const piece of req) bytes += piece.length
      res.end(String(bytes))
    }
    const { client, release, waiting } = await session(t, { shed: QUEUE, work })
    const stream = client.request({ ':path': '/', ':method': 'POST' })
    stream.end(Buffer.alloc(50_000))
    await waiting(1)
    release()
    assert.equal(String(await once(stream, 'data')), '50000')
  })
})
