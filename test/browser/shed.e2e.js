'use strict'
// What the page of another origin sees of a rejected request, in a real browser: the status and
// `Retry-After`, not a network error.

const assert = require('node:assert/strict')
const http = require('node:http')
const { after, before, test } = require('node:test')
const Router = require('@koa/router')
const cors = require('cors')
const koaCors = require('@koa/cors')
const express = require('express')
const Koa = require('koa')
const { serve } = require('../support/serve')
const { spillwayFor } = require('../support/spillway')
const { launch, missing } = require('./browser')

const skip = missing

/** @type {import('playwright-core').Browser} */
let browser
before(async () => {
  if (!skip) browser = await launch()
})
after(() => browser?.close())

const APPS = {
  express: (spillway, origin) => {
    const app = express()
    app.use(spillway.express(), cors({ origin, credentials: true }))
    app.all('/api/items', (_req, res) => res.json([]))
    app.get('/hold', () => {})
    return app
  },
  koa: (spillway, origin) => {
    const app = new Koa()
    app.use(spillway.koa()).use(koaCors({ origin, credentials: true }))
    const items = (ctx) => {
      ctx.body = []
    }
    const router = new Router().all('/api/items', items).get('/hold', () => new Promise(() => {}))
    return app.use(router.routes()).callback()
  },
}

const PROBLEM = '{"type":"about:blank"'

/** In the page: what `fetch` gives to it. */
async function ask({ url, method }) {
  try {
    const { fetch } = /** @type {any} */ (globalThis)
    const headers = method === 'GET' ? {} : { 'content-type': 'application/json' }
    const response = await fetch(url, { method, headers, credentials: 'include' })
    return [response.status, response.headers.get('retry-after'), (await response.text()).slice(0, 21)]
  } catch (error) {
    return [String(error)]
  }
}

for (const [name, make] of Object.entries(APPS)) {
  test(`a page of another origin reads the 503 of ${name}, also where it asks by a preflight`, {
    skip,
  }, async (t) => {
    const shop = await serve(t, (_req, res) => res.setHeader('content-type', 'text/html').end('<p>shop'))
    const spillway = spillwayFor(t, { shed: { mode: 'threshold', maxConcurrent: 1 } })
    const origin = `http://localhost:${shop.port}`
    const { port, server } = await serve(t, make(spillway, origin))
    spillway.attach(server)
    const page = await browser.newPage()
    t.after(() => page.close())
    await page.goto(origin)
    const url = `http://127.0.0.1:${port}/api/items`
    for (const method of ['GET', 'PUT'])
      assert.deepEqual(await page.evaluate(ask, { url, method }), [200, null, '[]'])

    const held = http.get({ port, host: '127.0.0.1', path: '/hold', agent: false })
    held.on('error', () => {})
    t.after(() => held.destroy())
    while (spillway.snapshot().admission.inFlight === 0) await new Promise((resolve) => setImmediate(resolve))
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      // The browser has not asked for this path yet, so it sends a preflight.
      ['PUT', '?other'],
    ]) {
      const [status, retryAfter, body] = await page.evaluate(ask, { url: url + path, method })
      assert.deepEqual([status, body], [503, PROBLEM])
      assert.match(retryAfter, /^\d+$/)
    }
    assert.ok(spillway.snapshot().admission.shed.reduce((sum, { count }) => sum + count, 0) >= 4)
  })
}
