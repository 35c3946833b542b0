'use strict'
// The same limited routes in Express 4 and 5 and in Koa 2 and 3, over real sockets. A handler holds its
// answer until the test lets it go.

const assert = require('node:assert/strict')
const http = require('node:http')
const { once } = require('node:events')
const { createSpillway } = require('../../src')
const { serve } = require('../support/serve')

const FRAMEWORKS = ['express', 'express-4', 'koa', 'koa-2']

/**
 * @param {string} framework
 * @param {object} app
 * @param {Function} limit
 * @param {(res: http.ServerResponse, ctx?: object) => Promise<void>} answer
 */
const ROUTES = {
  express(app, limit, answer) {
    app.get('/report', limit, (_req, res) => answer(res))
    app.get('/other', (_req, res) => res.end('other'))
  },
  koa(app, limit, answer) {
    const Router = require('@koa/router')
    const router = new Router()
    router.get('/report', limit, async (ctx) => {
      ctx.respond = false
      await answer(ctx.res)
    })
    router.get('/other', (ctx) => {
      ctx.body = 'other'
    })
    app.use(router.routes())
  },
}

/**
 * A server with the limited route `/report`. `held` lists the responses that handlers have not answered yet,
 * oldest first.
 *
 * @param {import('node:test').TestContext} t
 * @param {{ framework?: string, limit?: object, shed?: object, options?: object, by?: 'middleware' |
 *   'attach' | 'neither', before?: (app: object) => void, onRun?: () => void, internalErrors?: object }}
 *   given
 */
async function limited(
  t,
  {
    framework = 'express',
    limit = {},
    shed = {},
    options = {},
    by = 'middleware',
    before = () => {},
    onRun = () => {},
    internalErrors = {},
  } = {}
) {
  const spillway = createSpillway({
    logger: false,
    shed: { mode: 'adaptive', ...shed },
    insight: { stalls: false, doctor: false, outgoing: false, warnings: false },
    ...options,
  })
  t.after(() => {
    assert.deepEqual(spillway.snapshot().internalErrors, internalErrors)
    spillway.close()
  })
  const kind = framework.startsWith('koa') ? 'koa' : 'express'
  const given = require(framework)
  const app = kind === 'koa' ? new given() : given()
  if (kind === 'koa') app.silent = true
  const held = []
  const answer = (res) => {
    // Koa has set 404.
    res.statusCode = 200
    onRun()
    held.push(res)
    return once(res, 'close')
  }
  before(app)
  if (by === 'middleware') app.use(spillway[kind]())
  const middleware = spillway.limit({ name: 'report', maxConcurrent: 1, maxWait: 60_000, ...limit })
  ROUTES[kind](app, middleware, answer)
  const server = http.createServer(kind === 'koa' ? app.callback() : app)
  if (by === 'attach') spillway.attach(server)
  const served = await serve(t, server)
  const state = () => spillway.snapshot().bulkheads[0]
  return { spillway, app, held, middleware, state, ...served }
}

/** Waits in loop turns, for as long as the test may take. @param {() => unknown} isTrue */
async function until(isTrue) {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

module.exports = { FRAMEWORKS, limited, until }
