'use strict'
// Router trees that fail: at every depth, in every way, with every kind of error handler. The label is where
// the error came from, whoever answers it.

const failures = {
  throws: () => {
    throw new Error('thrown')
  },
  'passes an error on': (_req, _res, next) => next(new Error('passed')),
  'passes an error on later': (_req, _res, next) => setImmediate(next, new Error('passed')),
  'passes on something that is no Error': (_req, _res, next) => next('text'),
}

/** Express 4 knows nothing of promises. */
const rejections = {
  rejects: async () => {
    throw new Error('rejected')
  },
  'rejects later': async () => {
    await new Promise(setImmediate)
    throw new Error('rejected')
  },
  'rejects with nothing': () => Promise.reject(),
}

const answer = (_error, _req, res, _next) => res.status(599).end()
const recover = (_error, _req, _res, next) => next()

const leavesNoTrace = (path) => path === '/root' || path.endsWith('/use')

/** Who deals with the error, and what status and label that makes of a path. */
const handlers = {
  'without an error handler': { install() {}, status: () => 500 },
  'with an error handler of the app': {
    install: ({ app }) => app.use(answer),
    status: () => 599,
  },
  'with an error handler in the innermost router': {
    install: ({ routers }) => {
      for (const router of routers) router.use(answer)
    },
    status: (path) => (path.startsWith('/d/') ? 599 : 500),
  },
  'with an error handler at a mount': {
    install: ({ app }) => app.use('/d/:d', answer).use(answer),
    status: () => 599,
  },
  'with an error handler that passes it on changed': {
    install: ({ app, routers }) => {
      for (const router of routers) router.use((_error, _req, _res, next) => next(new Error('changed')))
      app.use(answer)
    },
    status: () => 599,
  },
  'with an error handler that recovers, and nothing after it': {
    install: ({ app, routers }) => {
      for (const router of routers) router.use(recover)
      app.use(recover)
    },
    status: () => 404,
    // A plain middleware of a router that recovers leaves no trace: nothing of ours saw it fail.
    label: (path, template) => (leavesNoTrace(path) ? '(unmatched)' : template),
    oracle: (path) =>
      leavesNoTrace(path) ? 'it sees plain middleware fail, for a price we do not pay' : undefined,
  },
  'with an error handler that recovers, and a route after it': {
    install: ({ app }) => {
      app.use(recover)
      app.get(/^\/(d\/)?/, (_req, res) => res.status(298).end())
    },
    status: () => 298,
    label: () => String.raw`/^\/(d\/)?/`,
  },
}

const DEPTHS = [
  ['/app-route/7', '/app-route/:id'],
  ['/app-mount/7', '/app-mount'],
  ['/d/D/route/7', '/d/:d/route/:id'],
  ['/d/D/mount/7', '/d/:d/mount'],
  ['/d/D/use', '/d/:d'],
  ['/d/D/in/I/route/7', '/d/:d/in/:i/route/:id'],
  ['/d/D/in/I/use', '/d/:d/in/:i'],
  ['/d/D/sub/S/route/7', '/d/:d/sub/:s/route/:id'],
  ['/root', '/'],
]

function failingTree(app, express, fail) {
  const only = (path) => (req, res, next) => (req.path === path ? fail(req, res, next) : next())
  const router = () => {
    const made = express.Router()
    made.get('/route/:id', fail)
    made.use('/mount', fail)
    made.use(only('/use'))
    return made
  }
  const inner = router()
  const middle = router()
  const sub = express()
  sub.get('/route/:id', fail)
  middle.use('/in/:i', inner)
  middle.use('/sub/:s', sub)
  app.use('/d/:d', middle)
  app.get('/app-route/:id', fail)
  app.use('/app-mount', fail)
  app.use(only('/root'))
  return [inner, sub, middle]
}

const errors = []
for (const [who, { install, status, label, oracle }] of Object.entries(handlers)) {
  for (const [how, fail] of Object.entries({ ...failures, ...rejections })) {
    errors.push({
      title: `a handler that ${how}, at every depth, ${who}`,
      only: how in rejections ? [5, 2.2] : undefined,
      build(app, express) {
        install({ app, routers: failingTree(app, express, fail) })
      },
      requests: DEPTHS.map(([path, template]) => [
        `GET ${path}`,
        status(path),
        label?.(path, template) ?? template,
      ]),
      oracle: Object.fromEntries(
        DEPTHS.flatMap(([path]) => (oracle?.(path) === undefined ? [] : [[`GET ${path}`, oracle(path)]]))
      ),
    })
  }
}

module.exports = { errors }
