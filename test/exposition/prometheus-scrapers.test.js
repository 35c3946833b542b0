'use strict'
// Scrapers of every kind: two at once, slow ones, those that leave; and requests that arrive while a scrape is written.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const { test } = require('node:test')
const { inject } = require('light-my-request')
const client = require('prom-client')
const { parse, valuesOf } = require('../support/metrics-text')
const { serve } = require('../support/serve')
const { ask } = require('../support/sink')
const { ended, spillwayFor } = require('../support/spillway')

const turn = () => new Promise((resolve) => setImmediate(resolve))
/** What only requests change, of a text. */
const counted = (text) =>
  valuesOf(
    [...parse(text).values()].filter(({ name }) => /^(http_server|spillway_(requ|resp|stream))/.test(name))
  )

/** A spillway with that many series, each request to `/<name>` being one of the route `<name>`. */
async function filled(t, series, nameLength = 20) {
  const label = (req) => decodeURIComponent(req.url.slice(1)).padEnd(nameLength, '-')
  const spillway = spillwayFor(t, { routes: { max: series + 10, label } })
  const listener = spillway.wrap((req, res) => {
    res.statusCode = req.method === 'POST' ? 500 : 200
    res.end()
  })
  for (let i = 0; i < series; i++) await inject(listener, `/${i}`)
  await ended(spillway, series)
  return { spillway, listener, metrics: spillway.handler('metrics') }
}

test('a scrape is one instant, whatever arrives while it is written', async (t) => {
  const { listener, metrics, spillway } = await filled(t, 400)
  const before = counted(await ask(metrics).text())
  const slow = ask(metrics, { isSlow: true })
  for (let i = 0; i < 20; i++) {
    await inject(listener, `/${i}`)
    await inject(listener, { method: 'POST', url: `/${i}` })
    await inject(listener, `/new-${i}`)
    slow.drain()
    await turn()
  }
  assert.ok(slow.pieces.length > 10)
  const during = counted(await slow.text())
  await ended(spillway, 460)
  assert.deepEqual(during, before)
  const after = counted(await ask(metrics).text())
  assert.equal(Object.keys(after).length > Object.keys(before).length, true)
})

test('two scrapers at once get the same numbers, however different their pace', async (t) => {
  const { listener, metrics } = await filled(t, 400)
  const [slow, quick] = [ask(metrics, { isSlow: true }), ask(metrics)]
  const first = counted(await quick.text())
  for (let i = 0; i < 20; i++) await inject(listener, `/${i}`)
  const later = counted(await ask(metrics).text())
  assert.deepEqual(counted(await slow.text()), first)
  assert.notDeepEqual(later, first)
})

test('ten scrapers one into the other each see their own instant', async (t) => {
  const { listener, metrics } = await filled(t, 50)
  const scrapes = []
  for (let i = 0; i < 10; i++) {
    await inject(listener, `/${i}`)
    await turn()
    scrapes.push({ sink: ask(metrics, { isSlow: true }), wanted: counted(await ask(metrics).text()) })
  }
  for (const { sink, wanted } of scrapes.reverse()) assert.deepEqual(counted(await sink.text()), wanted)
})

test('a scraper that does not read is sent one piece, and no more is rendered', async (t) => {
  const { metrics } = await filled(t, 400)
  const sink = ask(metrics, { isSlow: true })
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(sink.pieces.length, 1)
  sink.drain()
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(sink.pieces.length, 2)
  parse(await sink.text())
})

test('a scraper that leaves, reading or not, is written nothing more', async (t) => {
  const { metrics, spillway } = await filled(t, 400)
  const leave = (sink) => sink.leave()
  // As an HTTP/2 response does, which is never `destroyed`.
  const onlyClose = (sink) => sink.emit('close')
  for (const [isSlow, go] of [
    [true, leave],
    [false, leave],
    [true, onlyClose],
    [false, onlyClose],
  ]) {
    const sink = ask(metrics, { isSlow })
    go(sink)
    const sent = sink.pieces.length
    for (let i = 0; i < 20; i++) await turn()
    assert.ok(sink.pieces.length <= sent + 1, `${sink.pieces.length} pieces`)
  }
  assert.deepEqual(spillway.snapshot().internalErrors, {})
  parse(await ask(metrics).text())
})

test('a socket whose write() says nothing, as that of an adapter for functions as a service, is no slow one', async (t) => {
  const { metrics } = await filled(t, 100)
  const sent = []
  const write = (piece, encoding, done) => {
    sent.push(Buffer.from(piece, encoding))
    done?.()
  }
  const parts = { writable: true, _writableState: {}, cork() {}, uncork() {}, write }
  const socket = Object.assign(new EventEmitter(), parts)
  const res = new http.ServerResponse(/** @type {any} */ ({ method: 'GET' }))
  res.useChunkedEncodingByDefault = false
  res.assignSocket(/** @type {any} */ (socket))
  metrics(/** @type {any} */ ({ method: 'GET', headers: {} }), res)
  await once(res, 'finish')
  assert.match(Buffer.concat(sent).toString(), /^spillway_requests_total\{.* 1$/m)
})

test('a response that has closed before is not written to', async (t) => {
  const { metrics } = await filled(t, 1)
  const sink = ask((req, res) => {
    res.leave()
    metrics(req, res)
  })
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(sink.pieces.length, 0)
})

test('a scraper that leaves while a metric is collected is done with, and the next gets all of it', async (t) => {
  const registry = new client.Registry()
  const spillway = spillwayFor(t, { registry })
  const metrics = spillway.handler('metrics')
  let goOn
  const collect = () => new Promise((resolve) => (goOn = () => resolve(undefined)))
  new client.Gauge({ name: 'slow', help: 'Of the application.', registers: [registry], collect })
  const sink = ask(metrics, { isSlow: true })
  const ended = once(sink, 'end')
  for (; goOn === undefined; await turn()) sink.drain()
  const sent = sink.pieces.length
  sink.leave()
  goOn()
  await ended
  assert.equal(sink.pieces.length, sent)
  goOn = undefined
  const next = ask(metrics).text()
  while (goOn === undefined) await turn()
  goOn()
  assert.ok(parse(await next).has('slow'))
  assert.deepEqual(spillway.snapshot().internalErrors, {})
})

test('a client that reads slowly holds a piece or two of memory, and gets all of it', async (t) => {
  const { metrics } = await filled(t, 1500, 250)
  let held = 0
  let answering
  const { port } = await serve(t, (req, res) => {
    answering = res
    const write = res.write
    res.write = function () {
      const isFree = write.apply(this, arguments)
      held = Math.max(held, res.writableLength)
      return isFree
    }
    metrics(req, res)
  })
  const [res] = await once(http.get({ port, host: '127.0.0.1', agent: false, path: '/metrics' }), 'response')
  res.setEncoding('utf8')
  // Nobody reads yet: until the kernel will take no more either.
  while (!answering.writableNeedDrain) await turn()
  let text = ''
  for await (const piece of res) text += piece
  assert.ok(text.length > 10_000_000, `${text.length} characters: too few to fill the kernel's buffers`)
  assert.ok(held > 0 && held < 200_000, `${held} bytes`)
  parse(text)
})

test('a client that hangs up in the middle ends the scrape, and the next is whole', async (t) => {
  const { metrics, spillway } = await filled(t, 1500, 250)
  let writes = 0
  let answering
  const { port, get } = await serve(t, (req, res) => {
    answering = res
    const write = res.write
    res.write = function () {
      writes++
      return write.apply(this, arguments)
    }
    metrics(req, res)
  })
  const [res] = await once(http.get({ port, host: '127.0.0.1', agent: false, path: '/metrics' }), 'response')
  await once(res, 'readable')
  const closed = once(answering, 'close')
  res.destroy()
  await closed
  const atClose = writes
  for (let i = 0; i < 20; i++) await turn()
  assert.ok(writes <= atClose + 1, `${writes - atClose} writes to nobody`)
  assert.deepEqual(spillway.snapshot().internalErrors, {})
  parse((await get('/metrics')).body)
})

test('over HTTP/2 too: all of it, and nothing after the stream was reset', async (t) => {
  const { metrics, spillway } = await filled(t, 1500, 250)
  let writes = 0
  let answering
  const { port } = await serve(
    t,
    http2.createServer((req, res) => {
      answering = res
      const write = res.write
      res.write = function () {
        writes++
        return write.apply(this, arguments)
      }
      metrics(req, res)
    })
  )
  const session = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => session.destroy())
  const whole = session.request({ ':path': '/metrics' }).setEncoding('utf8')
  let text = ''
  for await (const piece of whole) text += piece
  parse(text)

  const left = session.request({ ':path': '/metrics' })
  await once(left, 'readable')
  const closed = once(answering, 'close')
  left.close(http2.constants.NGHTTP2_CANCEL)
  await closed
  const atClose = writes
  for (let i = 0; i < 20; i++) await turn()
  assert.ok(writes <= atClose + 1, `${writes - atClose} writes to nobody`)
  assert.deepEqual(spillway.snapshot().internalErrors, {})
})
