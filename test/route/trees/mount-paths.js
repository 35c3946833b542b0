'use strict'
// Router trees whose point is the path of a mount, and what a URL may look like that it takes.

const ok = (_req, res) => res.end('ok')
const hit = (req, res, next) => (req.path === '/hit' ? res.end('hit') : next())
const SHOP = { 5: '/shop{/:lang}/cart/:id', 4: '/shop/:lang?/cart/:id', 2.2: '/shop/:lang/cart/:id' }

const UNMATCHED = '(unmatched)'

const mountPaths = [
  {
    title: 'arrays of mount paths: the one that matched',
    build(app, express) {
      app.use(['/arr/:q', '/brr'], hit)
      app.use(['/v1', '/v2'], express.Router().get('/x/:id', ok))
      app.use([['/n1', ['/n2/:n']], '/n3'], express.Router().get('/x/:id', ok))
      app.use(['/g/:a', '/g/:a/:b'], express.Router().get('/x', ok))
    },
    requests: [
      ['GET /arr/5/hit', 200, '/arr/:q'],
      ['GET /brr/hit', 200, '/brr'],
      ['GET /v2/x/1', 200, '/v2/x/:id'],
      ['GET /v1/x/1', 200, '/v1/x/:id'],
      ['GET /v2/x/1', 200, '/v2/x/:id'],
      ['GET /n1/x/1', 200, '/n1/x/:id'],
      ['GET /n2/N/x/1', 200, '/n2/:n/x/:id'],
      ['GET /n3/x/1', 200, '/n3/x/:id'],
      ['GET /g/a/x', 200, '/g/:a/x'],
      ['GET /nope', 404, UNMATCHED],
    ],
    // Router 2.2 does not match nested arrays of mount paths.
    not: { 2.2: ['GET /n1/x/1', 'GET /n2/N/x/1', 'GET /n3/x/1'] },
  },
  {
    title: 'mounts at a RegExp; router 2.2 keeps no pattern of them',
    build(app, express) {
      app.use(/^\/re\/\d+/, express.Router().get('/x/:id', ok).use('/m', hit))
      app.use(/^\/(\w+)\/mixed/i, hit)
    },
    requests: [
      ['GET /re/42/x/1', 200, { 2.2: '(regexp)/x/:id', other: String.raw`/^\/re\/\d+//x/:id` }],
      ['GET /re/42/m/hit', 200, { 2.2: '(regexp)/m', other: String.raw`/^\/re\/\d+//m` }],
      ['GET /tenant9/MIXED/hit', 200, { 2.2: '(regexp)', other: String.raw`/^\/(\w+)\/mixed/i` }],
    ],
  },
  {
    title: 'a RegExp among the paths of a mount',
    build(app, express) {
      app.use([/^\/re\/\d+/, '/lit', '/par/:p'], express.Router().get('/x/:id', ok))
    },
    requests: [
      ['GET /re/42/x/1', 200, { 2.2: '(regexp)/x/:id', other: String.raw`/^\/re\/\d+//x/:id` }],
      ['GET /re/43/x/1', 200, { 2.2: '(regexp)/x/:id', other: String.raw`/^\/re\/\d+//x/:id` }],
      ['GET /lit/x/1', 200, '/lit/x/:id'],
      ['GET /par/7/x/1', 200, '/par/:p/x/:id'],
    ],
  },
  {
    title: 'parts of a segment as parameters, whatever the values look like',
    build(app) {
      app.use('/lit/:x-:y', hit)
      app.use('/rel:major.:minor', hit)
      app.use('/u:a-:b', hit)
      app.use('/by:name/of/:of', hit)
    },
    requests: [
      ['GET /u%75-%62/hit', 200, '/u:a-:b'],
      ['GET /uu-b/hit', 200, '/u:a-:b'],
      ['GET /u5-5/hit', 200, '/u:a-:b'],
      ['GET /lit/:x-:x/hit', 200, '/lit/:x-:y'],
      ['GET /lit/a%20b-%C3%A9/hit', 200, '/lit/:x-:y'],
      ['GET /lit/5-6/hit', 200, '/lit/:x-:y'],
      ['GET /rel11.1/hit', 200, '/rel:major.:minor'],
      ['GET /rel1.11/hit', 200, '/rel:major.:minor'],
      ['GET /byby/of/of/hit', 200, '/by:name/of/:of'],
      ['GET /byme/of/you/hit', 200, '/by:name/of/:of'],
    ],
  },
  {
    title: 'wildcard mounts take all and are named once',
    build(app, _express, { splat }) {
      app.use(splat('/files/*path'), (req, res, next) => (req.query.answer ? res.end() : next()))
      app.use(splat('/pre/*path/mid'), hit)
    },
    requests: [
      ['GET /files/a/b/c?answer=1', 200, { 4: '/files/*', other: '/files/*path' }],
      ['GET /files/a?answer=1', 200, { 4: '/files/*', other: '/files/*path' }],
      ['GET /files/a/b/?answer=1', 200, { 4: '/files/*', other: '/files/*path' }],
      ['GET /files/files/files?answer=1', 200, { 4: '/files/*', other: '/files/*path' }],
      [`GET /files${'/a'.repeat(3000)}?answer=1`, 200, { 4: '/files/*', other: '/files/*path' }],
      ['GET /pre/a/b/mid/hit', 200, { 4: '/pre/*/mid', other: '/pre/*path/mid' }],
      ['GET /files/a', 404, UNMATCHED],
    ],
  },
  {
    title: 'mounts that may take nothing of the URL',
    only: [4],
    build(app) {
      app.use('/files/*', (_req, res) => res.end())
      app.use(['/', '/also'], (req, res, next) => (req.path === '/rooted' ? res.end() : next()))
      app.use(['/one/*', '/two/*'], (_req, res) => res.end())
    },
    requests: [
      ['GET /files/', 200, '/files/*'],
      ['GET /files/a', 200, '/files/*'],
      ['GET /two/', 200, '/two/*'],
      ['GET /rooted', 200, '/'],
      ['GET /nope', 404, UNMATCHED],
    ],
  },
  {
    title: 'optional parts of a mount',
    build(app, express, { optional }) {
      app.use(optional('/shop', 'lang'), express.Router().get('/cart/:id', ok))
    },
    // Router 2.0 to 2.2 keep no path: there the template is what was taken of it.
    requests: [
      ['GET /shop/en/cart/1', 200, SHOP],
      ['GET /shop/fr/cart/1', 200, SHOP],
    ],
  },
  {
    title: 'parameters with a pattern of their own, and other expressions within a path',
    only: [4],
    build(app, express) {
      app.use('/num/:id(\\d+)', express.Router().get('/x', ok))
      app.use('/word/:w([a-z]+)-:n(\\d{2,})', hit)
      app.use('/alt/(one|two)', hit)
      app.use('/unnamed/(\\d+)', hit)
      app.use('/plu+s', hit)
      app.use('/many/:p*', (req, res, next) => (req.query.answer ? res.end() : next()))
    },
    requests: [
      ['GET /num/42/x', 200, '/num/:id(\\d+)/x'],
      ['GET /word/abc-123/hit', 200, '/word/:w([a-z]+)-:n(\\d{2,})'],
      ['GET /alt/two/hit', 200, '/alt/(one|two)'],
      ['GET /unnamed/42/hit', 200, '/unnamed/(\\d+)'],
      ['GET /pluuus/hit', 200, '/plu+s'],
      ['GET /many/a/b?answer=1', 200, '/many/:p*'],
    ],
  },
  {
    title: 'slashes at the end of a mount path or of a URL',
    build(app, express) {
      const router = express.Router().get('/', ok).get('/:id', ok)
      app.use('/slash/', router)
      app.use('/plain', router)
    },
    requests: [
      ['GET /slash', 200, '/slash'],
      ['GET /slash/', 200, '/slash'],
      ['GET /slash/7', 200, '/slash/:id'],
      ['GET /slash/7/', 200, '/slash/:id'],
      ['GET /plain/', 200, '/plain'],
      ['GET /plain?a=/b', 200, '/plain'],
    ],
  },
  {
    title: 'another case in the URL than in the mount path',
    build(app, express) {
      app.use('/caseUsers', express.Router().get('/:id', ok))
      app.use('/Tenant/:t/Of', hit)
    },
    // Router 2.0 to 2.2 keep no path: what the first request had is the label.
    requests: [
      ['GET /CASEUSERS/7', 200, { 2.2: '/CASEUSERS/:id', other: '/caseUsers/:id' }],
      ['GET /caseUsers/7', 200, { 2.2: '/CASEUSERS/:id', other: '/caseUsers/:id' }],
      ['GET /tenant/9/OF/hit', 200, { 2.2: '/tenant/:t/OF', other: '/Tenant/:t/Of' }],
    ],
  },
]

module.exports = { mountPaths }
