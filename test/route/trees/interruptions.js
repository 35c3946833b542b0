'use strict'
// Router trees whose point is what cuts a request short or goes on after it: a `param` callback, a handler
// that passes on with its answer under way, a client that leaves.

const ok = (_req, res) => res.end('ok')
const pass = (_req, _res, next) => next()
const answerError = (error, _req, res, _next) => res.status(error.status ?? 500).end()

const interruptions = [
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
      app.use('/greedy-mount', greedy)
      app.get('/greedy-mount/:id', pass)
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
      ['GET /greedy-mount/1', 200, '/greedy-mount'],
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

module.exports = { interruptions }
