'use strict'
// node server.js <framework> <variant> [plain middlewares]: a hello-world server with a package in it. It
// answers a message with its CPU time.

const http = require('node:http')
const { createSpillway } = require('../../src/index.js')
const { peer } = require('../support/peers')
const { attachFloor } = require('./floor')

const [framework, variant, plain = '1'] = process.argv.slice(2)
/**
 * It costs the same with any threshold. With its default of 42 ms, a stall of the machine gives a 503, which
 * ends the bench.
 */
const OVERLOAD_PROTECTION = { logging: false, maxEventLoopDelay: 10_000 }

/** Its hooks only have to be there before the server listens. */
const register = () => {
  Object.assign(process.env, { SPILLWAY_ADMIN_PORT: '0', SPILLWAY_LOGGER: 'false' })
  require('../../src/register.js')
}

const RECOMMENDED = 'spillway attach + express() + errorHandler()'
const VARIANTS = {
  express: {
    'no-op': (app) => app.use((_req, _res, next) => next()),
    'spillway express()': (app) => app.use(createSpillway().express()),
    floor: (_app, server) => attachFloor(server),
    'spillway attach': (_app, server) => createSpillway().attach(server),
    'spillway register': register,
    [RECOMMENDED]: (app, server) => {
      const spillway = createSpillway()
      app.use(spillway.express())
      spillway.attach(server)
      return () => app.use(spillway.errorHandler())
    },
    'spillway attach, access log': (_app, server) => createSpillway({ log: { access: true } }).attach(server),
    'spillway attach, access log by a pino given': (_app, server) =>
      createSpillway({ logger: require('pino')(), log: { access: true } }).attach(server),
    'spillway wrap': () => {},
    morgan: (app) => app.use(peer('morgan')('combined')),
    'pino-http': (app) => app.use(peer('pino-http')()),
    'express-prom-bundle': (app) =>
      app.use(peer('express-prom-bundle')({ includeMethod: true, includePath: true })),
    'prometheus-api-metrics': (app) => app.use(peer('prometheus-api-metrics')({ excludeRoutes: [] })),
    'swagger-stats': (app) => app.use(peer('swagger-stats').getMiddleware({})),
    'overload-protection': (app) => app.use(peer('overload-protection')('express', OVERLOAD_PROTECTION)),
  },
  koa: {
    'no-op': (app) => app.use((_ctx, next) => next()),
    'spillway koa()': (app) => app.use(createSpillway().koa()),
    floor: (_app, server) => attachFloor(server),
    'spillway attach': (_app, server) => createSpillway().attach(server),
    'spillway register': register,
    'spillway attach + koa()': (app, server) => {
      const spillway = createSpillway()
      app.use(spillway.koa())
      spillway.attach(server)
    },
    'prometheus-api-metrics': (app) => app.use(peer('prometheus-api-metrics').koaMiddleware()),
    'overload-protection': (app) => app.use(peer('overload-protection')('koa', OVERLOAD_PROTECTION)),
  },
}

const server = http.createServer()
let listener
if (framework === 'express') {
  const app = peer('express')()
  const addLast = VARIANTS.express[variant](app, server)
  for (let i = 1; i < Number(plain); i++) app.use((_req, _res, next) => next())
  app.get('/hello', (_req, res) => res.json({ hello: 'world' }))
  if (variant === RECOMMENDED) addLast()
  listener = variant === 'spillway wrap' ? createSpillway().wrap(app) : app
} else {
  const app = new (peer('koa'))()
  VARIANTS.koa[variant](app, server)
  app.use((ctx) => {
    ctx.body = { hello: 'world' }
  })
  listener = app.callback()
}
// The load keeps its connections open between slices.
server.keepAliveTimeout = 0
server.on('request', listener)
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ microseconds: user + system })
})
process.on('disconnect', () => process.exit())
