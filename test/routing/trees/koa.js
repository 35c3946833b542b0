'use strict'
// Router trees of Koa: each case builds an app from routers and mounts, and lists requests with the status and the
// label they must have.

const { PassThrough } = require('node:stream')

const ok = (ctx) => {
  ctx.body = 'ok'
}
const pass = (_ctx, next) => next()
const fail = () => {
  throw new Error('thrown')
}
const text = String.raw

const UNMATCHED = '(unmatched)'

const routers = [
  {
    title: 'parameters, a prefix, several handlers and HEAD',
    build(app, { Router }) {
      const router = new Router({ prefix: '/api/:tenant' })
      router.get('/users/:id', pass, pass, ok)
      router.post('/users', ok)
      router.get('/', ok)
      app.use(router.routes())
    },
    requests: [
      ['GET /api/T/users/7?x=/y', 200, '/api/:tenant/users/:id'],
      ['HEAD /api/T/users/7', 200, '/api/:tenant/users/:id'],
      ['POST /api/T/users', 200, '/api/:tenant/users'],
      ['GET /api/T', 200, '/api/:tenant'],
      ['GET http://host/api/T/users/7', 200, '/api/:tenant/users/:id'],
    ],
  },
  {
    title: 'several routes that match: the one that answered, first, last or between',
    build(app, { Router }) {
      const router = new Router()
      router.get('/users/me', ok)
      router.get('/users/:id', (ctx, next) => (ctx.params.id === 'pass' ? next() : ok(ctx)))
      router.get('/:kind/:last', ok)
      app.use(router.routes())
    },
    requests: [
      ['GET /users/me', 200, '/users/me'],
      ['GET /users/7', 200, '/users/:id'],
      ['GET /users/pass', 200, '/:kind/:last'],
      ['GET /else/7', 200, '/:kind/:last'],
    ],
  },
  {
    title: '401 in `router.use` is labelled with the route that would have come next',
    build(app, { Router }) {
      const router = new Router()
      const deny = (ctx, next) => (ctx.query.deny ? ctx.throw(401) : next())
      router.use(deny)
      router.get('/users/me', (ctx, next) => (ctx.query.on ? next() : ok(ctx)))
      router.use('/users', (ctx, next) => (ctx.query.closed ? ctx.throw(423) : next()))
      router.get('/users/:id', ok)
      const prefixed = new Router({ prefix: '/public/:tenant' }).use(deny).get('/:id', ok)
      app.use(router.routes()).use(prefixed.routes())
    },
    requests: [
      ['GET /users/me?deny=1', 401, '/users/me'],
      ['GET /users/7?deny=1', 401, '/users/:id'],
      ['GET /users/7?closed=1', 423, '/users/:id'],
      ['GET /users/me?on=1&closed=1', 423, '/users/:id'],
      ['GET /users/7', 200, '/users/:id'],
      ['GET /public/T/7?deny=1', 401, '/public/:tenant/:id'],
      ['GET /public/T/7', 200, '/public/:tenant/:id'],
    ],
  },
  {
    title: 'nested routers with parameters, and one nested twice',
    build(app, { Router }) {
      const leaf = new Router().get('/leaf/:id', ok).get('/', ok)
      const middle = new Router().use('/m/:m', leaf.routes())
      const outer = new Router()
      outer.use('/one', middle.routes())
      outer.use('/two/:two', middle.routes())
      app.use(outer.routes())
    },
    requests: [
      ['GET /one/m/M/leaf/7', 200, '/one/m/:m/leaf/:id'],
      ['GET /two/2/m/M/leaf/7', 200, '/two/:two/m/:m/leaf/:id'],
      ['GET /two/2/m/M', 200, '/two/:two/m/:m'],
    ],
  },
  {
    title: 'arrays, RegExps and wildcards as paths',
    build(app, { Router }) {
      const router = new Router()
      router.get(['/a/:x', '/b/:y'], ok)
      router.get(/^\/re\/(\d+)$/, ok)
      router.get('/files/*rest', ok)
      router.get('/opt{/:x}', ok)
      router.get('/slash/', ok)
      app.use(router.routes())
    },
    requests: [
      ['GET /a/1', 200, '/a/:x'],
      ['GET /b/1', 200, '/b/:y'],
      ['GET /re/42', 200, text`/^\/re\/(\d+)$/`],
      ['GET /files/a/b', 200, '/files/*rest'],
      ['GET /opt/5', 200, '/opt{/:x}'],
      ['GET /slash/', 200, '/slash'],
    ],
  },
  {
    title: 'several routers: the one whose route took it',
    build(app, { Router }) {
      app.use(new Router().get('/first/:a', ok).get('/both/:a', pass).routes())
      app.use(new Router().post('/first/:b', ok).get('/both/:b', ok).get('/second/:b', ok).routes())
    },
    requests: [
      ['GET /first/1', 200, '/first/:a'],
      ['POST /first/1', 200, '/first/:b'],
      ['GET /both/1', 200, '/both/:b'],
      ['GET /second/1', 200, '/second/:b'],
    ],
  },
  {
    title: 'a router that runs one route only',
    build(app, { Router }) {
      const router = new Router({ exclusive: true })
      router.get('/users/:id', ok)
      router.get('/users/me', ok)
      app.use(router.routes())
    },
    requests: [
      ['GET /users/me', 200, '/users/me'],
      ['GET /users/7', 200, '/users/:id'],
    ],
  },
  {
    title: '405, 501 and OPTIONS by `allowedMethods` are labelled with the route whose path matched',
    build(app, { Router }) {
      const router = new Router().get('/users/:id', ok).post('/users', ok)
      app.use(router.routes()).use(router.allowedMethods())
    },
    requests: [
      ['POST /users/7', 405, '/users/:id'],
      ['OPTIONS /users/7', 200, '/users/:id'],
      ['COPY /users/7', 501, '/users/:id'],
      ['OPTIONS /nope', 404, UNMATCHED],
    ],
  },
  {
    title: 'another method without `allowedMethods` is unmatched',
    build(app, { Router }) {
      app.use(new Router().get('/users/:id', ok).routes())
      app.use((ctx, next) => (ctx.query.spa ? ok(ctx) : next()))
    },
    requests: [
      ['POST /users/7', 404, UNMATCHED],
      ['POST /users/7?spa=1', 200, '/'],
    ],
  },
  {
    title: 'a route that passes on keeps its label, whether something answers or nothing',
    build(app, { Router }) {
      app.use(new Router().get('/fall/:id', pass).routes())
      app.use((ctx, next) => (ctx.query.late ? ok(ctx) : next()))
    },
    requests: [
      ['GET /fall/7', 404, '/fall/:id'],
      ['GET /fall/7?late=1', 200, '/fall/:id'],
    ],
  },
  {
    title: '`router.param` that answers or fails',
    build(app, { Router }) {
      const router = new Router()
      router.param('id', (id, ctx, next) => (id === 'bad' ? fail() : id === 'gone' ? ctx.throw(410) : next()))
      router.get('/p/:id', ok)
      app.use(router.routes())
    },
    requests: [
      ['GET /p/1', 200, '/p/:id'],
      ['GET /p/bad', 500, '/p/:id'],
      ['GET /p/gone', 410, '/p/:id'],
    ],
  },
]

const endings = [
  {
    title: 'no route: nothing answers, a plain middleware answers, or gives 404 itself',
    build(app) {
      app.use((ctx, next) => {
        if (ctx.query.answer) return ok(ctx)
        if (ctx.query.fail) return fail()
        if (ctx.query.none) ctx.throw(404)
        return next()
      })
    },
    requests: [
      ['GET /nope/7', 404, UNMATCHED],
      ['GET /any/7?answer=1', 200, '/'],
      ['GET /any/7?fail=1', 500, '/'],
      ['GET /any/7?none=1', 404, UNMATCHED],
      ['GET /%ZZ', 404, UNMATCHED],
    ],
  },
  {
    title: 'errors thrown by a route, with and without a middleware that answers them',
    build(app, { Router }) {
      app.use(async (ctx, next) => {
        try {
          await next()
        } catch (error) {
          if (ctx.query.own === undefined) throw error
          ctx.status = 599
        }
      })
      const router = new Router()
      router.get('/sync/:id', fail)
      router.get('/async/:id', async () => {
        await new Promise(setImmediate)
        fail()
      })
      router.get('/status/:id', (ctx) => ctx.throw(404, 'none'))
      router.get('/odd/:id', () => Promise.reject('no Error'))
      app.use(new Router().use('/in/:t', router.routes()).routes())
    },
    requests: ['sync', 'async', 'status', 'odd'].flatMap((path) => [
      [`GET /in/T/${path}/7`, path === 'status' ? 404 : 500, `/in/:t/${path}/:id`],
      [`GET /in/T/${path}/7?own=1`, 599, `/in/:t/${path}/:id`],
    ]),
  },
  {
    title: '`ctx.respond = false`, streams, and a stream that fails',
    build(app, { Router }) {
      const router = new Router()
      router.get('/raw/:id', (ctx) => {
        ctx.respond = false
        setImmediate(() => ctx.res.writeHead(202).end('raw'))
      })
      router.get('/stream/:id', (ctx) => {
        const body = new PassThrough()
        ctx.body = body
        setImmediate(() => body.end('late'))
      })
      router.get('/broken/:id', (ctx) => {
        const body = new PassThrough()
        ctx.body = body
        setImmediate(() => body.destroy(new Error('broken')))
      })
      app.use(router.routes())
    },
    requests: [
      ['GET /raw/7', 202, '/raw/:id'],
      ['GET /stream/7', 200, '/stream/:id'],
      ['GET /broken/7', { 'koa-2': 500, koa: 'cut off' }, '/broken/:id'],
    ],
  },
  {
    title: 'a client that leaves while the handler hangs',
    build(app, { Router, mount }) {
      const hang = () => {
        app.emit('hang')
        return new Promise(() => {})
      }
      const router = new Router().get('/hang/:id', hang)
      app.use(mount('/in', router.routes()))
      app.use(router.routes())
      app.use((ctx, next) => (ctx.query.plain ? hang() : next()))
    },
    requests: [
      ['ABORT /in/hang/1', 'aborted', '/in/hang/:id'],
      ['ABORT /hang/1', 'aborted', '/hang/:id'],
      ['ABORT /x?plain=1', 'aborted', '/'],
    ],
  },
]

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

module.exports = { endings, mounts, routers }
