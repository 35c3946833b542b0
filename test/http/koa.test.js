'use strict'
// What `koa()` promises, apart from the labels, which are in test/route.

const assert = require('node:assert/strict')
const http = require('node:http')
const { describe, it } = require('node:test')
const Router = require('@koa/router')
const { promisesEndpoints } = require('../support/endpoints')
const { countsOf } = require('../support/router-trees')
const { serve } = require('../support/serve')
const { ended, spillwayFor } = require('../support/spillway')

const ok = (ctx) => {
  ctx.body = 'ok'
}

for (const name of ['koa', 'koa-2']) {
  const Koa = require(name)

  const quiet = () => Object.assign(new Koa(), { silent: true })

  describe(`koa() on ${name}`, () => {
    promisesEndpoints((t, spillway, answer) => {
      const app = quiet().use(spillway.koa())
      app.use((ctx) => {
        ctx.respond = false
        answer(ctx.req, ctx.res)
      })
      return serve(t, app.callback())
    })

    it('and attach(server), and wrap(callback), measure a request once', async (t) => {
      const spillway = spillwayFor(t)
      const app = quiet().use(spillway.koa()).use(new Router().get('/users/:id', ok).routes())
      const { get } = await serve(t, spillway.attach(http.createServer(spillway.wrap(app.callback()))))
      for (let i = 0; i < 3; i++) await get(`/users/${i}`)
      await get('/metrics')
      const snapshot = await ended(spillway, 3)
      assert.deepEqual(countsOf(snapshot), { '/users/:id': 3 })
      assert.equal(snapshot.requests.sinceStart.count, 3)
    })

    it('of two instances in one app, or one attached, measures for both', async (t) => {
      const attached = spillwayFor(t)
      const first = spillwayFor(t)
      const second = spillwayFor(t)
      const app = quiet().use(first.koa()).use(second.koa()).use(new Router().get('/users/:id', ok).routes())
      const { get } = await serve(t, attached.attach(http.createServer(app.callback())))
      for (const path of ['/users/1', '/users/2', '/nope']) await get(path)
      for (const each of [attached, first, second]) {
        assert.deepEqual(countsOf(await ended(each, 3)), { '/users/:id': 2, '(unmatched)': 1 })
      }
    })

    it('does not count a request that never reaches it', async (t) => {
      const spillway = spillwayFor(t)
      const app = quiet()
      app.use((ctx, next) => (ctx.path === '/early' ? ok(ctx) : next()))
      app.use(spillway.koa()).use(ok)
      const { get } = await serve(t, app.callback())
      for (const path of ['/early', '/late', '/early']) await get(path)
      assert.deepEqual(countsOf(await ended(spillway, 1)), { '/': 1 })
    })

    it("leaves Koa's own error log and headers alone", async (t) => {
      const spillway = spillwayFor(t)
      const app = new Koa()
      app.use(spillway.koa())
      app.use((ctx) => ctx.throw(503, { headers: { 'Retry-After': '7' } }))
      const listener = app.callback()
      assert.equal(app.listenerCount('error'), 1, "Koa's own, which it puts on if there is no other")
      const errors = []
      app.removeAllListeners('error').on('error', (error) => errors.push(error.status))
      const { status, headers } = await (await serve(t, listener)).get('/')
      assert.deepEqual([status, headers['retry-after'], errors], [503, '7', [503]])
    })

    it('after close() passes requests on, answers the endpoints and measures nothing', async (t) => {
      const spillway = spillwayFor(t)
      const { get } = await serve(t, quiet().use(spillway.koa()).use(ok).callback())
      await get('/1')
      await ended(spillway, 1)
      spillway.close()
      assert.equal((await get('/2')).body, 'ok')
      assert.equal((await get('/metrics')).status, 200)
      assert.deepEqual(countsOf(spillway.snapshot()), { '/': 1 })
    })
  })
}

describe('koa() around a plain http listener', () => {
  it('throws with what to write in another framework', (t) => {
    const middleware = spillwayFor(t).koa()
    assert.throws(() => middleware({ url: '/' }, {}), { code: 'ERR_SPILLWAY_MISUSE' })
    assert.throws(() => middleware({ url: '/' }, {}, () => {}), { code: 'ERR_SPILLWAY_MISUSE' })
  })
})
