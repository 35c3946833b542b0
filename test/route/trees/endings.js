'use strict'
// Router trees whose point is who answers: a middleware, a not-found page, the router itself, nobody.

const ok = (_req, res) => res.end('ok')
const pass = (_req, _res, next) => next()
const answerError = (error, _req, res, _next) => res.status(error.status ?? 500).end()

const UNMATCHED = '(unmatched)'

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
    title: 'a not-found page at an empty mount path',
    build(app) {
      app.use('', (_req, res) => res.status(404).end())
    },
    requests: [['GET /nope', 404, UNMATCHED]],
    oracle: { 'GET /nope': 'a middleware answered; at the root and with 404 we call that unmatched' },
  },
]

module.exports = { endings }
