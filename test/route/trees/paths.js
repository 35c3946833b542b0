'use strict'
// Router trees whose point is the path of a route, or how the URL comes to match it.

const ok = (_req, res) => res.end('ok')
const pass = (_req, _res, next) => next()
const text = String.raw

const UNMATCHED = '(unmatched)'

const paths = [
  {
    title: 'arrays of paths on routes: the one that matched',
    build(app, express) {
      app.get(['/a/:x', '/b/:y'], ok)
      app.get(['/c/:x', /^\/d\/(\d+)$/, ['/e', ['/f/:z']]], ok)
      app.use('/in', express.Router({ strict: true }).get(['/s/:x', '/t/:y/'], ok))
      app.use('/cs', express.Router({ caseSensitive: true }).get(['/Up/:x', '/up/:y'], ok))
      app.get('/after', ok)
    },
    requests: [
      ['GET /a/1', 200, '/a/:x'],
      ['GET /b/1?c=/a/1', 200, '/b/:y'],
      ['GET /A/1/', 200, '/a/:x'],
      ['GET /c/1', 200, '/c/:x'],
      ['GET /d/1', 200, text`/^\/d\/(\d+)$/`],
      ['GET /e', 200, '/e'],
      ['GET /f/1', 200, '/f/:z'],
      ['GET /in/s/1', 200, '/in/s/:x'],
      ['GET /in/t/1/', 200, '/in/t/:y'],
      ['GET /cs/up/1', 200, '/cs/up/:y'],
      ['GET /cs/Up/1', 200, '/cs/Up/:x'],
      ['GET /b/%41', 200, '/b/:y'],
    ],
    not: { 2.2: ['GET /e', 'GET /f/1'] },
  },
  {
    title: 'RegExp routes',
    build(app, express) {
      app.get(/^\/re\/(\d+)$/, ok)
      app.get(/^\/insensitive\/x$/i, ok)
      app.use('/in/:t', express.Router().get(/^\/re\/.*/, ok))
    },
    requests: [
      ['GET /re/42', 200, text`/^\/re\/(\d+)$/`],
      ['GET /INSENSITIVE/X', 200, text`/^\/insensitive\/x$/i`],
      ['GET /in/T/re/9', 200, text`/in/:t/^\/re\/.*/`],
    ],
  },
  {
    title: 'parts of a segment, wildcards and optional parts',
    build(app, _express, { splat, optional }) {
      app.get('/flights/:from-:to', ok)
      app.get('/file.:ext', ok)
      app.get(optional('/opt', 'x'), ok)
      app.get(splat('/wild/*rest'), ok)
    },
    requests: [
      ['GET /flights/LHR-JFK', 200, '/flights/:from-:to'],
      ['GET /file.txt', 200, '/file.:ext'],
      ['GET /opt', 200, { 4: '/opt/:x?', other: '/opt{/:x}' }],
      ['GET /opt/5', 200, { 4: '/opt/:x?', other: '/opt{/:x}' }],
      ['GET /wild/a/b', 200, { 4: '/wild/*', other: '/wild/*rest' }],
    ],
  },
  {
    title: 'a catch-all, and parameters with a pattern of their own',
    only: [4],
    build(app, express) {
      app.use('/in', express.Router().get('/:id(\\d+)', ok).get('*', ok))
      app.get(['/x/:a(\\d+)', '/x/:b'], ok)
      app.get('*', ok)
    },
    requests: [
      ['GET /in/42', 200, '/in/:id(\\d+)'],
      ['GET /in/other', 200, '/in*'],
      ['GET /x/1', 200, '/x/:a(\\d+)'],
      ['GET /x/y', 200, '/x/:b'],
      ['GET /any/thing', 200, '*'],
    ],
  },
  {
    title: 'several handlers, several methods and several routes of one path',
    build(app, express) {
      app
        .route('/thing/:id')
        .get(pass, [pass, (req, _res, next) => next(req.query.skip ? 'route' : undefined)], ok)
        .post((_req, res) => res.status(201).end())
      app.get('/thing/:other', (_req, res) => res.status(202).end())
      app.all('/all/:id', ok)
      const gate = express.Router()
      gate.use((req, _res, next) => next(req.query.leave ? 'router' : undefined))
      gate.get('/:inside', (req, _res, next) => next(req.query.exit ? 'router' : undefined), ok)
      gate.get('/:never', (_req, res) => res.status(500).end())
      app.use('/gate', gate)
      app.get('/gate/:outside', (_req, res) => res.status(203).end())
      app.use('/dead/:end', gate)
      app.get('/route/:id', (_req, _res, next) => next('route'))
    },
    requests: [
      ['GET /thing/1', 200, '/thing/:id'],
      ['POST /thing/1', 201, '/thing/:id'],
      ['GET /thing/1?skip=1', 202, '/thing/:other'],
      ['DELETE /all/1', 200, '/all/:id'],
      ['GET /gate/1', 200, '/gate/:inside'],
      ['GET /gate/1?leave=1', 203, '/gate/:outside'],
      ['GET /gate/1?exit=1', 203, '/gate/:outside'],
      ['GET /dead/1/2?leave=1', 404, UNMATCHED],
      ['GET /dead/1/2?exit=1', 404, UNMATCHED],
      ['GET /route/1', 404, UNMATCHED],
    ],
  },
  {
    title: 'request targets in absolute form, as proxies send them',
    build(app, express) {
      app.get('/plain/:id', ok)
      app.get(['/a/:x', '/b/:y'], ok)
      app.use('/users', express.Router().get(['/x/:x', '/:id'], ok))
      app.use('/t/:tenant', express.Router().use('/in/:i', express.Router().get('/leaf/:id', ok)))
    },
    requests: [
      ['GET http://host/plain/5', 200, '/plain/:id'],
      ['GET http://host:80/b/5?x=http://host/a/1', 200, '/b/:y'],
      ['GET http://host/users/5', 200, '/users/:id'],
      ['GET http://host/t/T/in/I/leaf/7', 200, '/t/:tenant/in/:i/leaf/:id'],
      ['GET http://host/nope', 404, UNMATCHED],
    ],
  },
  {
    title: 'a URL rewritten on the way',
    build(app, express) {
      app.use((req, _res, next) => {
        if (req.url.startsWith('/legacy')) req.url = req.url.replace('/legacy', '/modern')
        next()
      })
      const modern = express.Router()
      modern.use((req, _res, next) => {
        if (req.url.startsWith('/alias')) req.url = req.url.replace('/alias', '/name')
        next()
      })
      modern.get(['/name/:n', '/id/:i'], ok)
      app.use('/modern/:m', modern)
    },
    requests: [
      ['GET /legacy/1/id/2', 200, '/modern/:m/id/:i'],
      ['GET /legacy/1/alias/2', 200, '/modern/:m/name/:n'],
    ],
  },
  {
    title: 'routes and routers added after the first request, and taken away',
    build(app, express) {
      const grown = express.Router().get('/old/:id', ok)
      app.use('/grown', grown)
      app.post('/grow', (_req, res) => {
        grown.get('/new/:id', ok)
        grown.use('/deep/:d', express.Router().get('/leaf/:id', ok))
        app.get('/late/:id', ok)
        res.end()
      })
      app.post('/shrink', (_req, res) => {
        grown.stack.splice(0, 1)
        grown.get('/newer/:id', ok)
        grown.stack.unshift(grown.stack.pop())
        res.end()
      })
    },
    requests: [
      ['GET /grown/old/1', 200, '/grown/old/:id'],
      ['GET /grown/new/1', 404, UNMATCHED],
      ['POST /grow', 200, '/grow'],
      ['GET /grown/new/1', 200, '/grown/new/:id'],
      ['GET /grown/deep/1/leaf/2', 200, '/grown/deep/:d/leaf/:id'],
      ['GET /late/1', 200, '/late/:id'],
      ['POST /shrink', 200, '/shrink'],
      ['GET /grown/old/1', 404, UNMATCHED],
      ['GET /grown/newer/1', 200, '/grown/newer/:id'],
      ['GET /grown/new/1', 200, '/grown/new/:id'],
    ],
  },
  {
    title: 'routes behind more middleware than a router runs in one go',
    build(app, express) {
      for (let i = 0; i < 150; i++) app.use(pass)
      const router = express.Router()
      for (let i = 0; i < 150; i++) router.use('/:id', pass)
      router.get('/:id', ok)
      app.use('/many/:m', router)
    },
    requests: [
      ['GET /many/1/2', 200, '/many/:m/:id'],
      ['GET /many', 404, UNMATCHED],
    ],
  },
]

module.exports = { paths }
