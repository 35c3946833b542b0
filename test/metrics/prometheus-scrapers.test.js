'use strict'
// Scrapers of every kind: two at once, slow ones, those that leave; and requests that arrive while a scrape
// is written.

const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const http = require('node:http')
const http2 = require('node:http2')
const { test } = require('node:test')
const { inject } = require('light-my-request')
const client = require('prom-client')
const { handClock } = require('../support/hand-clock')
const { leapingClock } = require('../support/leaping-clock')
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
  const clock = leapingClock()
  const spillway = spillwayFor(t, { routes: { max: series + 10, label } }, clock)
  const listener = spillway.wrap((req, res) => {
    res.statusCode = req.method === 'POST' ? 500 : 200
    res.end()
  })
  for (let i = 0; i < series; i++) await inject(listener, `/${i}`)
  await ended(spillway, series)
  return { spillway, listener, metrics: spillway.handler('metrics'), clock }
}

test('a scrape shows one moment, whatever arrives while it is written', async (t) => {
  const { listener, metrics, spillway, clock } = await filled(t, 400)
  const before = counted(await ask(metrics).text())
  clock.leap()
  // The first scrape may have spent what all scrapes may take of this turn.
  await turn()
  const slow = ask(metrics, { isSlow: true })
  for (let i = 0; i < 20; i++) {
    await inject(listener, `/${i}`)
    await inject(listener, { method: 'POST', url: `/${i}` })
    await inject(listener, `/new-${i}`)
    slow.drain()
    await turn()
  }
  // On a busy machine a piece takes more turns.
  for (let i = 0; i < 10_000 && slow.pieces.length <= 10; i++) {
    slow.drain()
    await turn()
  }
  assert.ok(slow.pieces.length > 10)
  const during = counted(await slow.text())
  await ended(spillway, 460)
  assert.deepEqual(during, before)
  clock.leap()
  const after = counted(await ask(metrics).text())
  assert.equal(Object.keys(after).length > Object.keys(before).length, true)
})

test('two scrapers at once get the same numbers, however different their pace', async (t) => {
  const { listener, metrics, clock } = await filled(t, 400)
  const [slow, quick] = [ask(metrics, { isSlow: true }), ask(metrics)]
  const first = counted(await quick.text())
  for (let i = 0; i < 20; i++) await inject(listener, `/${i}`)
  clock.leap()
  const later = counted(await ask(metrics).text())
  assert.deepEqual(counted(await slow.text()), first)
  assert.notDeepEqual(later, first)
})

test('four overlapping scrapes, a second apart, each show their own moment', async (t) => {
  const { listener, metrics, clock } = await filled(t, 50)
  const scrapes = []
  for (let i = 0; i < 4; i++) {
    await inject(listener, `/${i}`)
    await turn()
    clock.leap()
    scrapes.push({ sink: ask(metrics, { isSlow: true }), wanted: counted(await ask(metrics).text()) })
  }
  for (const { sink, wanted } of scrapes.reverse()) assert.deepEqual(counted(await sink.text()), wanted)
})

test("the application's port, a mounted handler and the admin server show one rendering a second of each format", async (t) => {
  const registry = new client.Registry()
  const clock = leapingClock()
  const spillway = spillwayFor(t, { registry, endpoints: { allow: () => true } }, clock)
  let collected = 0
  const collect = () => void collected++
  new client.Gauge({ name: 'asked', help: 'Of the application.', registers: [registry], collect })
  const application = await serve(
    t,
    spillway.wrap((_req, res) => res.end())
  )
  const mounted = await serve(t, spillway.handler('metrics'))
  const { url } = await spillway.listen({ port: 0 })
  const OPENMETRICS = { accept: 'application/openmetrics-text' }
  const scrapes = async (headers) => [
    (await application.get('/metrics', { headers })).body,
    (await mounted.get('/', { headers })).body,
    await (await fetch(`${url}/metrics`, { headers })).text(),
  ]
  for (const wanted of [1, 2]) {
    clock.leap()
    const [first, ...others] = await scrapes({})
    for (const each of others) assert.equal(each, first)
    assert.equal(collected, wanted)
  }
  const [first, ...others] = await scrapes(OPENMETRICS)
  for (const each of others) assert.equal(each, first)
  assert.match(first, /# EOF\n$/)
  assert.equal(collected, 3)
  assert.equal((await application.get('/metrics', { method: 'HEAD' })).body, '')
  assert.equal(collected, 3)
})

test('a metric that does not settle is left out until it does, and the others are shown', async (t) => {
  const registry = new client.Registry()
  const clock = handClock()
  const spillway = spillwayFor(t, { registry }, clock)
  /** Settles each collection. @type {(() => void)[]} */
  const settle = []
  const collect = () => /** @type {Promise<void>} */ (new Promise((resolve) => settle.push(resolve)))
  new client.Gauge({ name: 'hangs', help: 'Of the application.', registers: [registry], collect })
  new client.Gauge({ name: 'after', help: 'Of the application.', registers: [registry] }).set(2)
  const metrics = spillway.handler('metrics')
  const scrape = async (/** @type {() => void} */ onTurn) => {
    clock.pass(1000)
    let text
    const answer = ask(metrics).text()
    answer.then((whole) => (text = whole))
    while (text === undefined) {
      await turn()
      onTurn()
    }
    return /** @type {string} */ (/** @type {unknown} */ (text))
  }
  const first = await scrape(() => settle.length === 1 && clock.pass(8000))
  assert.match(first, /^after 2$/m)
  assert.doesNotMatch(first, /^hangs /m)
  const second = await scrape(() => {})
  assert.match(second, /^after 2$/m)
  assert.doesNotMatch(second, /^hangs /m)
  assert.equal(settle.length, 1)
  assert.equal(spillway.snapshot().internalErrors.metrics, 2)
  settle[0]()
  await turn()
  const third = await scrape(() => settle[1]?.())
  assert.match(third, /^hangs 0$/m)
  assert.equal(spillway.snapshot().internalErrors.metrics, 2)
})

test('the admin server answers before a flood on the port of the application', async (t) => {
  const clock = handClock()
  const spillway = spillwayFor(t, { shed: { mode: 'off' } }, clock)
  const { url } = await spillway.listen({ port: 0 })
  let written = 0
  const flood = () =>
    ask((req, res) => {
      const { write } = res
      res.write = function () {
        written++
        clock.advance(1)
        return write.apply(this, arguments)
      }
      spillway.handler('metrics')(req, res)
    })
  for (let i = 0; i < 300; i++) flood()
  while (written < 100) await turn()
  let text
  fetch(`${url}/metrics`).then(async (answer) => (text = await answer.text()))
  while (text === undefined) {
    clock.pass(1, 1)
    await turn()
  }
  assert.match(text, /^# TYPE spillway_/m)
  assert.ok(written < 600, `${written} pieces before it`)
})

test('a scraper that does not read gets one piece, and no more is rendered', async (t) => {
  const { metrics } = await filled(t, 400)
  const sink = ask(metrics, { isSlow: true })
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(sink.pieces.length, 1)
  sink.drain()
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(sink.pieces.length, 2)
  parse(await sink.text())
})

test('nothing is written to a scraper after it has disconnected', async (t) => {
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

test('a socket whose write() returns undefined, as in serverless adapters, does not block', async (t) => {
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

test('nothing is written to a response that is already closed', async (t) => {
  const { metrics } = await filled(t, 1)
  const sink = ask((req, res) => {
    res.leave()
    metrics(req, res)
  })
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(sink.pieces.length, 0)
})

test('a scraper that disconnects while a metric is collected does not affect the next scrape', async (t) => {
  const registry = new client.Registry()
  const clock = leapingClock()
  const spillway = spillwayFor(t, { registry }, clock)
  const metrics = spillway.handler('metrics')
  let goOn
  const collect = () => new Promise((resolve) => (goOn = () => resolve(undefined)))
  new client.Gauge({ name: 'slow', help: 'Of the application.', registers: [registry], collect })
  const sink = ask(metrics, { isSlow: true })
  for (; goOn === undefined; await turn()) sink.drain()
  const sent = sink.pieces.length
  sink.leave()
  goOn()
  for (let i = 0; i < 5; i++) await turn()
  assert.equal(sink.pieces.length, sent)
  goOn = undefined
  clock.leap()
  const next = ask(metrics).text()
  while (goOn === undefined) await turn()
  goOn()
  assert.ok(parse(await next).has('slow'))
  assert.deepEqual(spillway.snapshot().internalErrors, {})
})

test('a slow client holds a piece or two in memory, and gets all of the scrape', async (t) => {
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

test('a client that disconnects midway ends its scrape, and the next is complete', async (t) => {
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

test('HTTP/2 gets all of the scrape, and nothing after the stream was reset', async (t) => {
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
