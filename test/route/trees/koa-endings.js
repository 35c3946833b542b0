'use strict'
// Koa trees whose point is how a request ends: no route, errors, streams, a client that left.

const { PassThrough } = require('node:stream')

const ok = (ctx) => {
  ctx.body = 'ok'
}
const fail = () => {
  throw new Error('thrown')
}

const UNMATCHED = '(unmatched)'

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

module.exports = { endings }
