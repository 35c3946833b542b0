'use strict'
// Event streams and other long bodies have a series of their own, so that they do not spoil p99. Time is told
// by hand.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const { PassThrough } = require('node:stream')
const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { Connection } = require('../support/connection')
const { settle } = require('../support/drive')
const { GET } = require('../support/endings')
const { Http2Client } = require('../support/endings-http2')
const { FakeClock } = require('../support/fake-clock')
const { readableSpillway } = require('../support/measured')
const { serve } = require('../support/serve')

const TIMEOUT_MS = 20_000
const STREAM_AFTER_MS = 10_000
const EVENTS = 'text/event-stream'

const ASKED = { streams: 1, statuses: {}, firstBytes: 1 }
const NOT_ASKED = { streams: 0, statuses: { 200: 1 }, firstBytes: 1 }

/** Begins, lasts, and ends; `headMs` before the first byte and `bodyMs` after it. */
const lasting =
  (begin, bodyMs, headMs = 0) =>
  (clock, res) => {
    clock.advance(headMs)
    begin(res)
    clock.advance(bodyMs)
    res.end('b')
  }

const withHeader = (type) => (res) => {
  res.setHeader('Content-Type', type)
  res.write('a')
}
const withHead = (headers) => (res) => {
  res.writeHead(200, headers)
  res.write('a')
}
const json = withHeader('application/json')

const BODIES = [
  ['events, by setHeader', lasting(withHeader(EVENTS), 50), ASKED],
  [
    'events, with a charset and in capitals',
    lasting(withHeader('Text/Event-Stream; charset=utf-8'), 50),
    ASKED,
  ],
  ['events, by writeHead with an object', lasting(withHead({ 'content-type': EVENTS }), 50), ASKED],
  [
    'events, by writeHead with a message too',
    lasting((res) => withHead({ 'Content-Type': EVENTS })(res), 50),
    ASKED,
  ],
  ['events that last no longer than an answer', lasting(withHeader(EVENTS), 9), NOT_ASKED],
  ['a body as long as latency.streamAfter', lasting(json, STREAM_AFTER_MS), ASKED],
  ['a body a little shorter', lasting(json, STREAM_AFTER_MS - 1), NOT_ASKED],
  ['a short body', lasting(json, 1), NOT_ASKED],
  ['a slow answer with a short body', lasting(json, 1, 60_000), NOT_ASKED],
  ['a type that only begins alike', lasting(withHeader('text/event-streaming-not'), 50), NOT_ASKED],
  ['a type that only mentions it', lasting(withHeader(`text/plain; not=${EVENTS}`), 50), NOT_ASKED],
]

const HTTP_1_ONLY = [
  ['events, by writeHead with an array', lasting(withHead(['Content-Type', EVENTS]), 50), ASKED],
  [
    'events, by a header and a writeHead with another',
    lasting((res) => {
      res.setHeader('X-Other', '1')
      withHead({ 'Content-Type': EVENTS })(res)
    }, 50),
    ASKED,
  ],
]

async function expectStreams(measured, expected) {
  await settle(measured, 1)
  const { streams, statuses, firstBytes, outcomes, faults } = await measured()
  assert.deepEqual({ streams, statuses, firstBytes }, expected)
  assert.deepEqual({ outcomes, faults }, { outcomes: { completed: 1 }, faults: 0 })
}

const LISTENERS = {
  'plain http': (spillway, answer) => spillway.wrap((_req, res) => answer(res)),
  'Express 5': (spillway, answer) => express().use(spillway.express(), (_req, res) => answer(res)),
  'Koa 3': (spillway, answer) =>
    new Koa()
      .use(spillway.koa())
      .use((ctx) => {
        ctx.respond = false
        ctx.status = 200
        answer(ctx.res)
      })
      .callback(),
}

for (const [framework, listenerOf] of Object.entries(LISTENERS)) {
  for (const [name, body, expected] of [...BODIES, ...HTTP_1_ONLY]) {
    test(`${framework}: ${name}`, { timeout: TIMEOUT_MS }, async (t) => {
      const clock = new FakeClock()
      const { spillway, measured } = readableSpillway(t, { latency: { streamAfter: STREAM_AFTER_MS } }, clock)
      const { get } = await serve(
        t,
        listenerOf(spillway, (res) => body(clock, res))
      )
      await get('/a')
      await expectStreams(measured, expected)
    })
  }
}

for (const [name, body, expected] of BODIES) {
  test(`HTTP/2: ${name}`, { timeout: TIMEOUT_MS }, async (t) => {
    const clock = new FakeClock()
    const { spillway, measured } = readableSpillway(t, { latency: { streamAfter: STREAM_AFTER_MS } }, clock)
    const { port } = await serve(t, http2.createServer(spillway.wrap((_req, res) => body(clock, res))))
    const client = await Http2Client.open(port)
    client.ask().resume()
    await expectStreams(measured, expected)
    client.destroy()
  })
}

test("Koa: events from a stream as the context's body", { timeout: TIMEOUT_MS }, async (t) => {
  const clock = new FakeClock()
  const { spillway, measured } = readableSpillway(t, {}, clock)
  const events = new PassThrough()
  const app = new Koa().use(spillway.koa()).use((ctx) => {
    ctx.type = EVENTS
    ctx.body = events
  })
  const { port } = await serve(t, app.callback())
  const connection = await Connection.open(port)
  connection.send(GET)
  events.write('data: 1\n\n')
  await connection.until('data: 1')
  clock.advance(5000)
  events.end()
  await expectStreams(measured, ASKED)
  connection.destroy()
})

test('a stream whose client disconnects is aborted, counts as a stream, and has no duration', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const clock = new FakeClock()
  const { spillway, measured } = readableSpillway(t, {}, clock)
  const { port } = await serve(
    t,
    spillway.wrap((_req, res) => withHeader(EVENTS)(res))
  )
  const connection = await Connection.open(port)
  connection.send(GET)
  await connection.until('\r\n\r\n')
  clock.advance(60_000)
  connection.reset()
  await settle(measured, 1)
  const { streams, statuses, firstBytes, outcomes } = await measured()
  assert.deepEqual(
    { streams, statuses, firstBytes, outcomes },
    { streams: 1, statuses: {}, firstBytes: 1, outcomes: { aborted: 1 } }
  )
})

test('a stream counts for the rate, but in no quantiles', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const clock = new FakeClock()
  const { spillway, measured } = readableSpillway(t, {}, clock)
  const { get } = await serve(
    t,
    spillway.wrap((req, res) => {
      clock.advance(2)
      if (req.url === '/events') lasting(withHeader(EVENTS), 30_000)(clock, res)
      else res.end('ok')
    })
  )
  for (const path of ['/a', '/events', '/a']) await get(path)
  await settle(measured, 3)
  const { requests, routes } = spillway.snapshot()
  for (const summary of [requests.sinceStart, routes[0].sinceStart]) {
    assert.equal(summary.count, 3)
    assert.ok(summary.maxMs < 3, `a maximum of ${summary.maxMs} ms`)
  }
  assert.deepEqual(routes[0].streams, { count: 1, totalSeconds: 30.002 })
})
