'use strict'
// Router trees whose point is who answers: a middleware, nobody, a `param` callback, a client that left.

const ok = (_req, res) => res.end('ok')
const pass = (_req, _res, next) => next()

const UNMATCHED = '(unmatched)'

const answerError = (error, _req, res, _next) => res.status(error.status ?? 500).end()

const endings = [
  {
    title: '`app.use` that answers is labelled with its mount template',
    build(app, express) {
      app.use((req, res, next) => (req.query.rooted ? res.status(401).end() : next()))
      app.use('/static', (req, res, next) => (req.path === '/hit' ? res.end() : next()))
      const api = express.Router()
      api.use((req, res, next) => (req.query.deny ? res.status(401).end() : next()))
      api.use('/area/:a', (req, res, next) => (req.query.closed ? res.status(423).end() : next()))
      api.get('/area/:a', ok)
      app.use('/api/:t', api)
      app.get('/', ok)
    },
    requests: [
      ['GET /anything?rooted=1', 401, '/'],
      ['GET /static/hit', 200, '/static'],
      ['GET /static/miss', 404, UNMATCHED],
      ['GET /api/T/area/7?deny=1', 401, '/api/:t'],
      ['GET /api/T/area/7?closed=1', 423, '/api/:t/area/:a'],
      ['GET /api/T/area/7', 200, '/api/:t/area/:a'],
      ['GET /', 200, '/'],
    ],
  },
  {
    title: '404 by finalhandler, whatever matched and passed on before',
    build(app, express) {
      app.get('/fall/:id', pass)
      app.use('/in/:t', express.Router().get('/fall/:id', pass).use('/m', pass))
    },
    requests: [
      ['GET /nope', 404, UNMATCHED],
      ['GET /fall/3', 404, UNMATCHED],
      ['GET /in/T/fall/3', 404, UNMATCHED],
      ['GET /in/T/m/3', 404, UNMATCHED],
      ['POST /fall/3', 404, UNMATCHED],
    ],
  },
  {
    title: "404 by the app's own not-found page, at the root and at a mount",
    build(app, express) {
      app.get('/fall/:id', pass)
      app.get('/own/:id', (_req, res) => res.status(404).end())
      const api = express.Router().get('/known/:id', ok)
      api.use((_req, res) => res.status(404).end())
      app.use('/api/:t', api)
      app.use((_req, res) => res.status(404).end('not here'))
    },
    requests: [
      ['GET /nope', 404, UNMATCHED],
      ['GET /fall/3', 404, UNMATCHED],
      ['GET /own/3', 404, '/own/:id'],
      ['GET /api/T/nope', 404, '/api/:t'],
    ],
    oracle: {
      'GET /nope': 'a middleware at the root answered; with 404 we call that unmatched',
      'GET /fall/3': 'the same',
    },
  },
  {
    title: 'a fall-through that a middleware answers later',
    build(app, express) {
      app.get('/fall/:id', pass)
      app.use('/in/:t', express.Router().get('/fall/:id', pass))
      app.use('/in', (_req, res) => res.end('late'))
      app.use((_req, res) => res.end('spa'))
    },
    requests: [
      ['GET /fall/3', 200, '/'],
      ['GET /in/T/fall/3', 200, '/in'],
      ['GET /else', 200, '/'],
    ],
  },
  {
    title: 'other methods: POST on a GET route, HEAD, automatic OPTIONS',
    build(app, express) {
      app.get('/get/:id', ok)
      app.post('/post/:id', ok)
      app.use('/in/:t', express.Router().get('/get/:id', ok))
    },
    requests: [
      ['POST /get/1', 404, UNMATCHED],
      ['HEAD /get/1', 200, '/get/:id'],
      ['HEAD /post/1', 404, UNMATCHED],
      ['HEAD /in/T/get/1', 200, '/in/:t/get/:id'],
      ['OPTIONS /get/1', 200, '/'],
      ['OPTIONS /in/T/get/1', 200, '/in/:t'],
      ['OPTIONS /nope', 404, UNMATCHED],
    ],
  },
  {
    title: 'a malformed URL, answered by finalhandler',
    build(app, express) {
      app.use('/in', express.Router().get('/:id', ok))
      app.get('/:id', ok)
    },
    requests: [
      ['GET /%ZZ', 400, UNMATCHED],
      ['GET /in/%ZZ', 400, '/in'],
    ],
    oracle: { 'GET /in/%ZZ': 'no handler of the router failed: the router itself did' },
  },
  {
    title: "a malformed URL, answered by the app's error handler",
    build(app, express) {
      app.use('/in', express.Router().get('/:id', ok))
      app.get('/:id', ok)
      app.use(answerError)
    },
    requests: [
      ['GET /%ZZ', 400, UNMATCHED],
      ['GET /%ZZ?x=%20', 400, UNMATCHED],
      ['GET /in/%ZZ', 400, '/in'],
      ['GET /fine?x=%ZZ', 200, '/:id'],
    ],
    oracle: {
      'GET /%ZZ': 'the error handler at the root answered; for a malformed URL we call that unmatched',
      'GET /%ZZ?x=%20': 'the same',
    },
  },
  {
    title: 'a client that leaves while the handler hangs',
    build(app, express) {
      const hang = (req) => req.app.emit('hang')
      const router = express.Router().get('/hang/:id', hang).use('/m', hang)
      app.use('/in/:t', router)
      app.get('/hang/:id', hang)
      app.use('/', (req) => app.emit('hang', req))
    },
    requests: [
      ['ABORT /in/T/hang/1', 'aborted', '/in/:t/hang/:id'],
      ['ABORT /in/T/m/1', 'aborted', '/in/:t/m'],
      ['ABORT /hang/1', 'aborted', '/hang/:id'],
      ['ABORT /else', 'aborted', '/'],
    ],
  },
  {
    title: '`param` callbacks of a route that answer, fail or skip it',
    build(app, express) {
      const parameter = (req, res, next, value) => {
        if (value === 'bad') return next(new Error('bad'))
        if (value === 'gone') return res.status(410).end()
        if (value === 'none') return next(Object.assign(new Error('none'), { status: 404 }))
        if (value === 'skip') return next('route')
        return next()
      }
      app.param('p', parameter)
      app.get('/p/:p', ok)
      app.get(['/one/:p', '/two/:p'], ok)
      const router = express.Router({ mergeParams: true })
      router.param('p', parameter)
      router.get('/p/:p', ok)
      router.get(['/one/:p', '/two/:p'], ok)
      app.use('/in/:t', router)
      app.get('/in/:t/p/:q', (_req, res) => res.status(202).end())
      app.use((error, _req, res, _next) => res.status(error.status ?? 500).end())
    },
    requests: [
      ['GET /p/1', 200, '/p/:p'],
      ['GET /p/bad', 500, '/p/:p'],
      ['GET /p/gone', 410, '/p/:p'],
      ['GET /p/none', 404, '/p/:p'],
      // Nothing tells it from one that failed with 404.
      ['GET /p/skip', 404, '/p/:p'],
      ['GET /two/bad', 500, '/two/:p'],
      ['GET /two/gone', 410, '/two/:p'],
      ['GET /in/T/p/1', 200, '/in/:t/p/:p'],
      ['GET /in/T/p/bad', 500, '/in/:t/p/:p'],
      ['GET /in/T/p/gone', 410, '/in/:t/p/:p'],
      ['GET /in/T/p/none', 404, '/in/:t/p/:p'],
      ['GET /in/T/p/skip', 202, '/in/:t/p/:q'],
      ['GET /in/T/two/bad', 500, '/in/:t/two/:p'],
      ['GET /in/T/two/gone', 410, '/in/:t/two/:p'],
    ],
    oracle: Object.fromEntries(
      ['/p/bad', '/p/gone', '/p/none', '/p/skip', '/two/bad', '/two/gone']
        .flatMap((path) => (path === '/p/skip' ? [path] : [path, `/in/T${path}`]))
        .map((path) => [`GET ${path}`, 'it does not say for which route a `param` callback runs'])
    ),
  },
  {
    title: 'a `param` callback that skips its route, and a middleware that answers or fails after it',
    build(app, express) {
      const router = express.Router()
      router.param('p', (_req, _res, next) => next('route'))
      router.get('/p/:p', ok)
      app.use('/in/:t', router)
      app.use((req, res, next) => (req.query.fail ? next(new Error('late')) : res.end('spa')))
      app.use(answerError)
    },
    requests: [
      ['GET /in/T/p/1', 200, '/'],
      ['GET /in/T/p/1?fail=1', 500, '/'],
    ],
  },
  {
    title: 'a handler that answers and then passes on: what follows does not change who answered',
    build(app, express) {
      const greedy = (_req, res, next) => {
        res.end('done')
        next()
      }
      app.get('/greedy/:id', greedy)
      const router = express.Router().get('/greedy/:id', greedy).use('/m', greedy)
      router.use((req, _res, next) => next(req.query.fail ? new Error('too late') : undefined))
      app.use('/in/:t', router)
      app.get('/greedy/:other', pass)
      app.use('/greedy', pass)
      app.use((req, _res, next) => next(req.query.fail ? new Error('too late') : undefined))
      app.use((_error, _req, _res, _next) => {})
    },
    requests: [
      ['GET /greedy/1', 200, '/greedy/:id'],
      ['GET /greedy/1?fail=1', 200, '/greedy/:id'],
      ['GET /in/T/greedy/1', 200, '/in/:t/greedy/:id'],
      ['GET /in/T/greedy/1?fail=1', 200, '/in/:t/greedy/:id'],
      ['GET /in/T/m/1', 200, '/in/:t/m'],
      ['GET /in/T/m/1?fail=1', 200, '/in/:t/m'],
    ],
  },
  {
    title: 'a handler that passes on while its answer is under way',
    build(app, express) {
      const slow = (_req, res, next) => {
        res.write('begun')
        next()
      }
      app.use(
        '/in/:t',
        express
          .Router()
          .get('/slow/:id', slow)
          .use((req, _res, next) => next(req.query.fail))
      )
      app.get('/in/:t/slow/:other', pass)
      app.use('/in/:x', pass)
      app.use((_req, res) => res.end())
      app.use((_error, _req, res, _next) => res.end())
    },
    requests: [
      ['GET /in/T/slow/1', 200, '/in/:t/slow/:id'],
      ['GET /in/T/slow/1?fail=1', 200, '/in/:t/slow/:id'],
    ],
    oracle: {
      'GET /in/T/slow/1': 'it goes by who comes last, we by who sent the head',
      'GET /in/T/slow/1?fail=1': 'the same',
    },
  },
  {
    title: 'a not-found page at an empty mount path',
    build(app) {
      app.use('', (_req, res) => res.status(404).end())
    },
    requests: [['GET /nope', 404, UNMATCHED]],
    oracle: { 'GET /nope': 'a middleware answered; at the root and with 404 we call that unmatched' },
  },
  {
    title: 'a middleware that only sends the head early did not answer',
    build(app) {
      app.use('/events', (_req, res, next) => {
        res.writeHead(200, { 'Content-Type': 'text/plain' })
        res.write('head ')
        next()
      })
      app.get('/events/:id', ok)
    },
    requests: [['GET /events/1', 200, '/events/:id']],
  },
]

module.exports = { answerError, endings }
