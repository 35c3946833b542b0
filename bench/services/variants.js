'use strict'
// What a service is measured with. Each variant says how many requests it has seen, so that none counts as
// free because it was off.

const path = require('node:path')
const { peer } = require('../support/peers')

const BASE = 'none'
const SRC = path.join(__dirname, '..', '..', 'src')
/** Names of the variants that another checkout has too. */
const BEFORE = { spillway: 'spillway before', 'spillway attach': 'spillway attach before' }

/**
 * @typedef {object} Variant
 * @property {(app: any) => void} [first] before the middlewares of the service
 * @property {(app: any) => void} [last] behind them
 * @property {(server: import('node:http').Server) => void} [attach]
 * @property {(io: any) => void} [sockets]
 * @property {() => number | Promise<number>} seen
 */

const createSpillway = (src) => require(path.join(src, 'index.js')).createSpillway()

const seenBy = (spillway) => () =>
  spillway
    .snapshot()
    .routes.reduce((sum, { outcomes }) => Object.values(outcomes).reduce((a, b) => a + b, sum), 0)

/** The set-up that README.md recommends. @returns {Variant} */
function recommended(framework, src) {
  const spillway = createSpillway(src)
  return {
    first: (app) => app.use(framework === 'koa' ? spillway.koa() : spillway.express()),
    last: (app) => framework === 'koa' || app.use(spillway.errorHandler()),
    attach: (server) => spillway.attach(server),
    sockets: (io) => spillway.sockets(io),
    seen: seenBy(spillway),
  }
}

/** @returns {Variant} */
function attached(_framework, src) {
  const spillway = createSpillway(src)
  return { attach: (server) => spillway.attach(server), seen: seenBy(spillway) }
}

/** @returns {Variant} */
function prometheus(framework) {
  if (framework === 'koa') return koaPrometheus()
  const bundle = peer('express-prom-bundle')({ includeMethod: true, includePath: true })
  return { first: (app) => app.use(bundle), seen: () => countOf('http_request_duration_seconds') }
}

/** What users of Koa write, as there is no package that is used as much as express-prom-bundle. */
function koaPrometheus() {
  const duration = new (peer('prom-client').Histogram)({
    name: 'http_request_duration_seconds',
    help: 'Duration of HTTP requests',
    labelNames: ['method', 'path', 'status_code'],
  })
  const middleware = async (ctx, next) => {
    const end = duration.startTimer()
    try {
      await next()
    } finally {
      end({ method: ctx.method, path: ctx.path, status_code: ctx.status })
    }
  }
  return { first: (app) => app.use(middleware), seen: () => countOf(duration.name) }
}

async function countOf(name) {
  const { values } = await peer('prom-client').register.getSingleMetric(name).get()
  return values.reduce((sum, { metricName, value }) => sum + (metricName === `${name}_count` ? value : 0), 0)
}

/** Spans go the usual way, in batches, to an exporter that sends nothing. @returns {Variant} */
function openTelemetry(framework) {
  const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http')
  const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express')
  const { KoaInstrumentation } = require('@opentelemetry/instrumentation-koa')
  const { BatchSpanProcessor, NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
  let exported = 0
  const exporter = {
    export(spans, done) {
      exported += spans.length
      done({ code: 0 })
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  }
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
  provider.register()
  const ofFramework = framework === 'koa' ? new KoaInstrumentation() : new ExpressInstrumentation()
  for (const each of [new HttpInstrumentation(), ofFramework]) each.setTracerProvider(provider)
  return { seen: () => provider.forceFlush().then(() => exported) }
}

/** @type {Record<string, (framework: string, src: string) => Variant>} */
const STARTS = {
  [BASE]: () => ({ seen: () => Number.NaN }),
  prometheus,
  opentelemetry: openTelemetry,
  spillway: recommended,
  'spillway attach': attached,
}

/** @param {{ name: string, src?: string }} chosen */
const startVariant = (framework, { name, src = SRC }) => STARTS[name](framework, src)

module.exports = { BASE, BEFORE, VARIANTS: Object.keys(STARTS), startVariant }
