'use strict'
// One table of endings, driven through every way a request can come to be measured: they must agree. The
// native ways hear of the end by the response's `close`, the others by on-finished.

const assert = require('node:assert/strict')
const http = require('node:http')
const { test } = require('node:test')
const express = require('express')
const Koa = require('koa')
const { Connection } = require('../support/connection')
const { drive, expectedOf } = require('../support/drive')
const { GET, HTTP_1_ENDINGS } = require('../support/endings')
const { tunnelTo } = require('../support/tunnel')

const TIMEOUT_MS = 20_000
const never = () => {}

/** A listener that comes to the middleware as a plain http server would call it. */
function listenerOf({ spillway, application }, prepare = never) {
  const measure = spillway.express()
  return async (req, res) => {
    if (req.url === '/livez') return measure(req, res, never)
    prepare(req)
    const isBefore = application.before(req, res)
    if (!application.isSynchronous) await isBefore
    measure(req, res, () => application.answer(req, res))
  }
}

/** The request's socket, with everything it has and does but its class: so it goes by on-finished. */
function disguiseSocket(req) {
  const disguised = new Proxy(req.socket, {
    getPrototypeOf: () => Object.prototype,
    get(socket, key) {
      const value = Reflect.get(socket, key)
      return typeof value === 'function' ? value.bind(socket) : value
    },
    set: (socket, key, value) => Reflect.set(socket, key, value),
  })
  Object.defineProperty(req, 'socket', { value: disguised, writable: true })
}

function expressApp({ spillway, application }) {
  const app = express()
  app.use(async (req, res, next) => {
    const isBefore = application.before(req, res)
    if (!application.isSynchronous) await isBefore
    next()
  })
  app.use(spillway.express())
  app.use((req, res) => application.answer(req, res))
  return app
}

function koaApp({ spillway, application }) {
  const app = new Koa()
  app.silent = true
  app.use(async ({ req, res }, next) => {
    res.statusCode = 200
    const isBefore = application.before(req, res)
    if (!application.isSynchronous) await isBefore
    return next()
  })
  app.use(spillway.koa())
  app.use((ctx) => {
    ctx.respond = false
    application.answer(ctx.req, ctx.res)
  })
  return app
}

const plainServer = (given) => http.createServer(listenerOf(given))

const WAYS = {
  'by the close event': plainServer,
  'by the close event, prepared by the server': plainServer,
  'by the close event, with attach()': (given) => given.spillway.attach(http.createServer(listenerOf(given))),
  'by on-finished': (given) => http.createServer(listenerOf(given, disguiseSocket)),
  'by on-finished, on a connection that is no socket': (given) =>
    tunnelTo(http.createServer(listenerOf(given))),
  'in Express 5': (given) => http.createServer(expressApp(given)),
  'in Express 5, with attach()': (given) => given.spillway.attach(http.createServer(expressApp(given))),
  'in Koa 3': (given) => http.createServer(koaApp(given).callback()),
  'in Koa 3, with attach()': (given) => given.spillway.attach(http.createServer(koaApp(given).callback())),
}

/**
 * From the first request on, the middleware has the server prepare the next; one for an endpoint is not
 * counted.
 */
async function askForLiveness(port) {
  const connection = await Connection.open(port)
  connection.send('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n')
  await connection.until('"ok"')
  connection.destroy()
}

const FIRST = { 'by the close event, prepared by the server': askForLiveness }

for (const [way, build] of Object.entries(WAYS)) {
  for (const ending of HTTP_1_ENDINGS) {
    test(`${way}: ${ending.name}`, { timeout: TIMEOUT_MS }, async (t) => {
      assert.deepEqual(await drive(t, ending, build, { first: FIRST[way] }), expectedOf(ending))
    })
  }
}

/** Told by the bytes of its connection, of which one that is no socket has no count. */
const COUNTING_WAYS = Object.entries(WAYS).filter(([way]) => !way.endsWith('that is no socket'))

/** What has not come to its `end()` yet when the client, which has been told the length, leaves. */
const endless = (length) => (_req, res) => {
  res.writeHead(200, { 'Content-Length': length })
  res.write('ok')
}

const LEFT = [
  ['with the last byte it was promised, before the end', 'end', 2, 'completed'],
  ['with the last byte it was promised, and closes its socket', 'destroy', 2, 'completed'],
  ['a byte before the last', 'end', 3, 'aborted'],
].map(([when, how, length, outcome]) => ({
  name: `the client of a kept connection leaves ${when}`,
  answer: (req, res) => (req.url === '/a' ? res.end('first') : endless(length)(req, res)),
  client: async (connection) => {
    connection.send(GET)
    await connection.until('first')
    connection.send(GET.replace('/a', '/b'))
    await connection.until('ok')
    connection[how]()
  },
  outcomes: outcome === 'completed' ? { completed: 2 } : { completed: 1, aborted: 1 },
  statuses: { 200: 2 },
  firstBytes: 2,
}))

for (const [way, build] of COUNTING_WAYS) {
  for (const ending of LEFT) {
    test(`${way}: ${ending.name}`, { timeout: TIMEOUT_MS }, async (t) => {
      assert.deepEqual(await drive(t, ending, build, { first: FIRST[way] }), expectedOf(ending))
    })
  }
}
