'use strict'
// node process.js <framework> <variant>: measures a variant in a process of its own, and sends the
// microseconds of a request.

const http = require('node:http')
const { createSpillway } = require('../../src/index.js')
const { loadOf } = require('../support/memory-load')
const { peer } = require('../support/peers')

/** The options of a variant, by what follows the comma of its name. */
const OPTIONS = {
  'shed off': { shed: { mode: 'off' } },
  'insight off': { insight: false },
  'errors by request': { errors: { uncaught: 'logRequest' } },
}
/** What a request pays for a feature: its options, and what the handler calls. */
const FEATURES = {
  none: {},
  'proxy.requestStart': { options: { proxy: { requestStart: true }, shed: { maxAge: 60_000 } } },
  'deadline.header': { options: { deadline: { header: 'x-request-timeout-ms' } } },
  'shed.classify.header': { options: { shed: { classify: { header: 'x-class', urgency: true } } } },
  'shed.key': { options: { shed: { key: ({ headers }) => headers['x-tenant'] } } },
  'signal()': { handler: (spillway) => (req, res) => res.end(spillway.signal(req).aborted ? '' : 'hello') },
  'limit()': {
    handler: (spillway) => {
      const limit = spillway.limit({ name: 'hello', maxConcurrent: 64 })
      return (req, res) => limit(req, res, () => res.end('hello'))
    },
  },
  'shouldDegrade()': {
    handler: (spillway) => (req, res) => res.end(spillway.shouldDegrade(req) ? '' : 'hello'),
  },
  'balancer.orca': { options: { balancer: { orca: () => true } } },
}
const featureRequest = () =>
  Buffer.from(
    `GET /hello HTTP/1.1\r\nHost: localhost\r\nX-Request-Start: t=${Date.now() / 1000}\r\nX-Request-Timeout-Ms: 5000\r\n` +
      'X-Class: high\r\nX-Tenant: a\r\nEndpoint-Load-Metrics-Format: TEXT\r\n\r\n'
  )
const SLICE = 100
const WARM_UP_SLICES = 400
const MEASURE_MS = 3000

function listenerOf(framework, use) {
  if (framework === 'http') return (_req, res) => res.end('hello')
  const app = new (peer('koa'))()
  app.use(use ?? ((_ctx, next) => next()))
  app.use((ctx) => {
    ctx.body = { hello: 'world' }
  })
  return app.callback()
}

function serve(framework, variant) {
  const server = http.createServer()
  const isMiddleware = variant === 'middleware'
  // Its slices are loop turns of many requests, and would be stalls.
  const insight = { stalls: false }
  const spillway = createSpillway({ insight, ...OPTIONS[variant.split(', ')[1]] })
  server.on('request', listenerOf(framework, isMiddleware ? spillway.koa() : undefined))
  if (variant.startsWith('attach')) spillway.attach(server)
  if (variant === 'none') spillway.close()
  return server
}

function serveFeature(variant) {
  const { options, handler = () => (_req, res) => res.end('hello') } = FEATURES[variant]
  const spillway = createSpillway({ insight: { stalls: false }, logger: false, ...options })
  const server = http.createServer(handler(spillway))
  spillway.attach(server)
  return server
}

async function main([framework, variant]) {
  const isFeature = framework === 'feature'
  const run = isFeature ? loadOf(serveFeature(variant), featureRequest) : loadOf(serve(framework, variant))
  const alive = setInterval(() => {}, 1000)
  for (let i = 0; i < WARM_UP_SLICES; i++) await run(SLICE)
  const micros = []
  for (const startMs = performance.now(); performance.now() - startMs < MEASURE_MS; ) {
    const sinceMs = performance.now()
    await run(SLICE)
    micros.push(((performance.now() - sinceMs) * 1000) / SLICE)
  }
  clearInterval(alive)
  process.send?.(micros.sort((a, b) => a - b)[Math.floor(micros.length / 10)], () => process.exit())
}

if (require.main === module) main(process.argv.slice(2))

module.exports = { FEATURES }
