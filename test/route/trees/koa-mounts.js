'use strict'
// Koa trees whose point is koa-mount.

const ok = (ctx) => {
  ctx.body = 'ok'
}
const pass = (_ctx, next) => next()
const fail = () => {
  throw new Error('thrown')
}
const text = String.raw

const UNMATCHED = '(unmatched)'

const mounts = [
  {
    title: 'koa-mount one and two deep, of a router, an app and a function',
    build(app, { Koa, Router, mount }) {
      const router = new Router()
        .get('/leaf/:id', ok)
        .get('/', ok)
        .get(/^\/re\/\d+$/, ok)
      const inner = new Koa().use(router.routes())
      const outer = new Koa().use(mount('/two', inner))
      app.use(mount('/one', outer))
      app.use(mount('/single', router.routes()))
      app.use(mount('/plain', (ctx) => ok(ctx)))
    },
    requests: [
      ['GET /one/two/leaf/7?q=/x', 200, '/one/two/leaf/:id'],
      ['GET /one/two', 200, '/one/two'],
      ['GET /one/two/re/42', 200, text`/one/two/^\/re\/\d+$/`],
      ['GET /single/leaf/7', 200, '/single/leaf/:id'],
      ['GET /plain/anything/7', 200, '/plain'],
      ['GET http://host/one/two/leaf/7', 200, '/one/two/leaf/:id'],
      ['GET /one/nope', 404, UNMATCHED],
    ],
  },
  {
    title: 'errors within a mounted app',
    build(app, { Koa, Router, mount }) {
      const inner = new Koa().use(new Router().get('/fails/:id', fail).routes()).use(fail)
      app.use(mount('/one', new Koa().use(mount('/two', inner))))
    },
    requests: [
      ['GET /one/two/fails/7', 500, '/one/two/fails/:id'],
      ['GET /one/two/plain', 500, '/one/two'],
    ],
  },
  {
    title: 'a mount that falls through to a route outside it',
    build(app, { Koa, Router, mount }) {
      const inside = new Koa().use(new Router().get('/known/:id', ok).get('/passes/:id', pass).routes())
      app.use(mount('/api', new Koa().use(mount('/v1', inside))))
      app.use(mount('/api', new Router().get('/second/:id', ok).routes()))
      const outside = new Router()
      outside.get('/api/v1/other/:id', ok)
      outside.get('/api/v1/passes/:outer', ok)
      outside.get('/*spa', ok)
      app.use(outside.routes())
    },
    requests: [
      ['GET /api/v1/known/7', 200, '/api/v1/known/:id'],
      ['GET /api/v1/other/7', 200, '/api/v1/other/:id'],
      ['GET /api/v1/passes/7', 200, '/api/v1/passes/:outer'],
      ['GET /api/second/7', 200, '/api/second/:id'],
      ['GET /api/v1/nope', 200, '/*spa'],
    ],
  },
  {
    title: 'a URL rewritten before the mount or within it',
    build(app, { Router, mount }) {
      app.use((ctx, next) => {
        if (ctx.path.startsWith('/a-much-longer-legacy-name')) ctx.path = ctx.path.slice(26)
        return next()
      })
      const router = new Router().get('/leaf/:id', ok)
      const rewrite = (ctx, next) => {
        if (ctx.path.startsWith('/alias')) ctx.path = ctx.path.slice(6)
        return next()
      }
      app.use(mount('/one', (ctx, next) => rewrite(ctx, () => mount('/two', router.routes())(ctx, next))))
    },
    requests: [
      ['GET /a-much-longer-legacy-name/one/two/leaf/7', 200, '/one/two/leaf/:id'],
      ['GET /one/alias/two/leaf/7', 200, '/one/two/leaf/:id'],
    ],
  },
  {
    title: 'the methods of a router in a mount',
    build(app, { Router, mount }) {
      const router = new Router().get('/leaf/:id', ok)
      const guarded = new Router().use((ctx) => ctx.throw(401)).get('/leaf/:id', ok)
      app.use(
        mount('/one', async (ctx, next) => {
          await router.routes()(ctx, async () => router.allowedMethods()(ctx, next))
        })
      )
      app.use(mount('/guarded', guarded.routes()))
    },
    requests: [
      ['POST /one/leaf/7', 405, '/one/leaf/:id'],
      ['OPTIONS /one/leaf/7', 200, '/one/leaf/:id'],
      ['GET /guarded/leaf/7', 401, '/guarded/leaf/:id'],
    ],
  },
  {
    title:
      'a mount that falls through to a plain middleware leaves its prefix, which nothing tells from an answer',
    build(app, { Koa, mount }) {
      app.use(mount('/api', new Koa().use(pass)))
      app.use(ok)
    },
    requests: [
      ['GET /api/7', 200, '/api'],
      ['GET /else', 200, '/'],
    ],
  },
]

module.exports = { mounts }
