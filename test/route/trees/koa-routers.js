'use strict'
// Koa trees whose point is the router: each case builds an app, and lists requests with the status and label
// they must have.

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

module.exports = { routers }
