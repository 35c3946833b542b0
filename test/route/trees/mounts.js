'use strict'
// Router trees whose point is where something is mounted. Each case builds an app and lists requests with the
// status and the route label they must have; what differs by version is given as `{ 4: …, 5: …, 2.2: … }`,
// the last for router 2.2. `oracle` says where, and why, test/route/oracle.test.js must differ.

const ok = (_req, res) => res.end('ok')
const pass = (_req, _res, next) => next()
const hit = (req, res, next) => (req.path === '/hit' ? res.end('hit') : next())

const UNMATCHED = '(unmatched)'

const mounts = [
  {
    title: 'parameterised mounts and nested routers with mergeParams',
    build(app, express) {
      const books = express.Router({ mergeParams: true })
      books.use((req, res, next) => (req.query.deny ? res.status(401).end() : next()))
      books.get('/', ok)
      books.get('/:book', (req, res) => res.end(`${req.params.user} ${req.params.book}`))
      const users = express.Router({ mergeParams: true })
      users.use('/:user/books', pass)
      users.use('/:user/books', books)
      users.get('/:user', ok)
      app.use('/users', users)
    },
    requests: [
      ['GET /users/7/books/9', 200, '/users/:user/books/:book'],
      ['GET /users/8/books/9?x=/users', 200, '/users/:user/books/:book'],
      ['GET /users/7/books/9?deny=1', 401, '/users/:user/books'],
      ['GET /users/7/books', 200, '/users/:user/books'],
      ['GET /users/7/books/', 200, '/users/:user/books'],
      ['GET /users/7', 200, '/users/:user'],
      ['GET /users/users/books/books', 200, '/users/:user/books/:book'],
      ['GET /users', 404, UNMATCHED],
      ['GET /users/7/books/9/10', 404, UNMATCHED],
    ],
  },
  {
    title: 'one router mounted twice, and that one again mounted twice',
    build(app, express) {
      const leaf = express.Router({ mergeParams: true }).get('/z/:q', ok).use('/end', hit)
      const middle = express.Router({ mergeParams: true }).use('/one', leaf).use('/two/:two', leaf)
      app.use('/v1', middle)
      app.use('/v2/:v2', middle)
      app.use(leaf)
    },
    requests: [
      ['GET /v1/one/z/1', 200, '/v1/one/z/:q'],
      ['GET /v2/2/one/z/1', 200, '/v2/:v2/one/z/:q'],
      ['GET /v1/two/2/z/1', 200, '/v1/two/:two/z/:q'],
      ['GET /v2/2/two/2/z/1', 200, '/v2/:v2/two/:two/z/:q'],
      ['GET /v1/two/2/end/hit', 200, '/v1/two/:two/end'],
      ['GET /z/1', 200, '/z/:q'],
      ['GET /end/hit', 200, '/end'],
      ['GET /v1/one/z/1', 200, '/v1/one/z/:q'],
    ],
  },
  {
    title: 'two routers at one path, the first of which passes on',
    build(app, express) {
      app.use('/api', express.Router().get('/first/:id', ok).get('/shared/:a', pass))
      app.use('/api', express.Router().get('/second/:id', ok).get('/shared/:b', ok))
      app.use('/api/:tenant', express.Router().get('/third/:id', ok))
    },
    requests: [
      ['GET /api/first/1', 200, '/api/first/:id'],
      ['GET /api/second/1', 200, '/api/second/:id'],
      ['GET /api/shared/1', 200, '/api/shared/:b'],
      ['GET /api/t/third/1', 200, '/api/:tenant/third/:id'],
    ],
    oracle: {
      'GET /api/t/third/1':
        'it cannot tell a mount within /api from one beside it that goes on to a longer path',
    },
  },
  {
    title: 'sub-apps, one and two deep, with a parameter, and an error inside',
    build(app, express) {
      const inner = express()
      inner.get('/leaf/:id', ok)
      inner.get('/fails/:id', () => {
        throw new Error('inner')
      })
      const own = express()
      own.get('/fails/:id', () => {
        throw new Error('own')
      })
      own.use((_error, _req, res, _next) => res.status(503).end())
      const outer = express()
      outer.use('/in', express.Router().get('/deep/:id', ok))
      outer.use('/inner/:app', inner)
      outer.use('/own', own)
      outer.use('/closed', hit)
      app.use('/mnt/:tenant', outer)
      app.get('/mnt/:tenant/after/:id', ok)
    },
    requests: [
      ['GET /mnt/T/in/deep/4', 200, '/mnt/:tenant/in/deep/:id'],
      ['GET /mnt/T/inner/A/leaf/4', 200, '/mnt/:tenant/inner/:app/leaf/:id'],
      ['GET /mnt/T/inner/A/fails/4', 500, '/mnt/:tenant/inner/:app/fails/:id'],
      ['GET /mnt/T/own/fails/4', 503, '/mnt/:tenant/own/fails/:id'],
      ['GET /mnt/T/closed/hit', 200, '/mnt/:tenant/closed'],
      ['GET /mnt/T/after/4', 200, '/mnt/:tenant/after/:id'],
      ['GET /mnt/T/nothing', 404, UNMATCHED],
    ],
  },
  {
    title: 'routers and middleware without a path of their own',
    build(app, express) {
      const bare = express.Router()
      bare.use(pass)
      bare.get('/bare/:id', ok)
      bare.use((req, res, next) => (req.query.gate ? res.status(403).end() : next()))
      app.use(express.Router().use(express.Router().use(bare)))
      app.use('/pre', bare)
      app.use('/', express.Router().get('/slash-mounted/:id', ok))
      app.use('', express.Router().get('/empty-mounted/:id', ok))
    },
    requests: [
      ['GET /bare/1', 200, '/bare/:id'],
      ['GET /pre/bare/1', 200, '/pre/bare/:id'],
      ['GET /pre/x?gate=1', 403, '/'],
      ['GET /slash-mounted/1', 200, '/slash-mounted/:id'],
      ['GET /empty-mounted/1', 200, '/empty-mounted/:id'],
      ['GET /nope', 404, UNMATCHED],
    ],
  },
  {
    title: 'a router of another copy of Express, as a package with its own dependency brings it',
    build(app, _express, { other }) {
      const inner = other.Router().get('/leaf/:id', ok)
      const foreign = other.Router().get('/x/:id', ok).use('/inner/:i', inner).use('/m', hit)
      app.use('/foreign/:f', foreign)
      app.use(other.Router().use('/rooted', inner))
      foreign.post('/grow', (_req, res) => {
        inner.use('/grown/:g', other.Router().get('/leaf/:id', ok))
        res.end()
      })
    },
    requests: [
      ['GET /foreign/1/x/2', 200, '/foreign/:f/x/:id'],
      ['GET /foreign/1/inner/2/leaf/3', 200, '/foreign/:f/inner/:i/leaf/:id'],
      ['GET /foreign/1/m/hit', 200, '/foreign/:f/m'],
      ['GET /rooted/leaf/3', 200, '/rooted/leaf/:id'],
      ['POST /foreign/1/grow', 200, '/foreign/:f/grow'],
      ['GET /foreign/1/inner/2/grown/3/leaf/4', 200, '/foreign/:f/inner/:i/grown/:g/leaf/:id'],
    ],
    oracle: {
      'GET /foreign/1/x/2': 'the router of Express 4 has no tracing channel',
      'GET /foreign/1/inner/2/leaf/3': 'the same',
      'GET /foreign/1/m/hit': 'the same',
      'GET /rooted/leaf/3': 'the same',
      'POST /foreign/1/grow': 'the same',
      'GET /foreign/1/inner/2/grown/3/leaf/4': 'the same',
    },
  },
  {
    title: 'a router as the handler of a route, and a request sent through the app again',
    build(app, express, { splat }) {
      app.all(splat('/api/*rest'), express.Router().get('/api/users/:id', ok))
      app.use('/in/:t', express.Router().all(splat('/sub/*rest'), express.Router().get('/sub/leaf/:id', ok)))
      const inner = express.Router().get('/leaf/:id', ok)
      app.all(splat('/deep/*rest'), express.Router().use('/deep/:d', inner))
      app.get('/old/:id', (req, res, next) => {
        req.url = `/new/${req.params.id}`
        app.handle(req, res, next)
      })
      app.get('/new/:id', ok)
    },
    requests: [
      ['GET /api/users/7', 200, '/api/users/:id'],
      ['GET /in/T/sub/leaf/7', 200, '/in/:t/sub/leaf/:id'],
      ['GET /deep/D/leaf/7', 200, '/deep/:d/leaf/:id'],
      ['GET /old/7', 200, '/new/:id'],
      ['GET /api/nothing', 404, UNMATCHED],
    ],
  },
]

module.exports = { mounts }
