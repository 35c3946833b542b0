'use strict'
// The table of HTTP/2 endings, driven through the middleware, through attach(), and in Koa.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const { test } = require('node:test')
const Koa = require('koa')
const { drive, expectedOf } = require('../support/drive')
const { HTTP_2_ENDINGS, Http2Client } = require('../support/endings-http2')

const TIMEOUT_MS = 20_000

function plainServer({ spillway, application }) {
  const measure = spillway.express()
  const server = http2.createServer(async (req, res) => {
    const isBefore = application.before(req, res)
    if (!application.isSynchronous) await isBefore
    measure(req, res, () => application.answer(req, res))
  })
  return server.on('sessionError', () => {})
}

function koaServer({ spillway, application }) {
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
  const listener = app.callback()
  return http2
    .createServer((req, res) => {
      listener(req, res)
    })
    .on('sessionError', () => {})
}

const WAYS = {
  'over HTTP/2': plainServer,
  'over HTTP/2, with attach()': (given) => given.spillway.attach(plainServer(given)),
  'over HTTP/2, in Koa 3': koaServer,
}

for (const [way, build] of Object.entries(WAYS)) {
  for (const ending of HTTP_2_ENDINGS) {
    test(`${way}: ${ending.name}`, { timeout: TIMEOUT_MS }, async (t) => {
      assert.deepEqual(await drive(t, ending, build, { connect: Http2Client.open }), expectedOf(ending))
    })
  }
}
