'use strict'
// node server.js <variant> <series>: a server with so many series of 16 buckets each, and a way to show them
// at /metrics. It answers what a scrape did to it: the CPU time, or the longest time between two runs of an
// immediate that reschedules itself. It never measures both at once, because a loop that spins for the second
// measures itself in the first.

const http = require('node:http')
const { ROOT_CONTEXT, context, trace } = require('@opentelemetry/api')
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks')
const { inject } = require('light-my-request')
const client = require('prom-client')
const { DEFAULTS } = require('../../src/core/options/options')
const { Spillway } = require('../../src/spillway')
const { Blocks, cpuMs } = require('../support/blocks')
const { leapingClock } = require('../support/leaping-clock')
const { moveLoopToServerCore } = require('../support/pinned')

const [variant, seriesText] = process.argv.slice(2)
const SERIES = Number(seriesText)
/** As many at every size, so that a counter has a digit or three. */
const REQUESTS = 40_000
const { clock, leap } = leapingClock()
const names = Array.from({ length: SERIES }, (_, i) => `/api/v1/resource-${i}/:id/items/:itemId`)

const servedBy = (registry) => async (_req, res) => {
  const text = await registry.metrics()
  res.writeHead(200, { 'Content-Type': registry.contentType })
  res.end(text)
}

const VARIANTS = {
  /** All that /metrics serves, prom-client's default metrics included. */
  'spillway /metrics': () => fill(spillwayWith({ metrics: { defaults: true } })),
  /** Every request traced. */
  'spillway OpenMetrics': () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    const ids = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 }
    const traced = trace.setSpan(ROOT_CONTEXT, trace.wrapSpanContext(ids))
    return fill(spillwayWith({}), (_req, res) => context.with(traced, () => res.end('ok')))
  },
  'spillway protobuf': () => fill(spillwayWith({ latency: { nativeHistograms: true } })),
  'spillway in a registry': async () => {
    const registry = new client.Registry()
    await fill(spillwayWith({ registry }))
    return servedBy(registry)
  },
  /**
   * One histogram, and its default metrics, which ours shows as well. Without the timer for the lag, which no
   * scrape pays for.
   */
  'prom-client': () => servedBy(promClient()),
  /** All that ours says of a route, line for line. */
  'prom-client, as many lines': () => {
    const registry = promClient()
    const outcomes = new client.Counter({
      name: 'requests_total',
      help: 'Requests by outcome.',
      labelNames: ['http_request_method', 'http_route', 'outcome'],
      registers: [registry],
    })
    for (let i = 0; i < REQUESTS; i++) {
      outcomes.inc({ http_request_method: 'GET', http_route: names[i % SERIES], outcome: 'completed' })
    }
    return servedBy(registry)
  },
}

function promClient() {
  const registry = new client.Registry()
  client.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 2 ** 31 - 1 })
  const histogram = new client.Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Duration of HTTP server requests.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: [...DEFAULTS.metrics.buckets],
    registers: [registry],
  })
  for (let i = 0; i < REQUESTS; i++) {
    histogram.observe(
      { http_request_method: 'GET', http_route: names[i % SERIES], http_response_status_code: 200 },
      Math.random() / 1000
    )
  }
  return registry
}

function spillwayWith(options) {
  let next = 0
  return new Spillway({ ...options, routes: { max: SERIES, label: () => names[next++ % SERIES] } }, clock)
}

async function fill(spillway, answer = (_req, res) => res.end('ok')) {
  const listener = spillway.wrap(answer)
  for (let i = 0; i < REQUESTS; i++) {
    await inject(listener, { url: '/' })
    // Injected answers close in a later turn.
    if (i % 100 === 99) await new Promise((resolve) => setImmediate(resolve))
  }
  return listener
}

async function main() {
  moveLoopToServerCore(process.pid)
  const listener = await VARIANTS[variant]()
  const server = http.createServer((req, res) => {
    leap()
    listener(req, res)
  })
  global.gc()
  server.keepAliveTimeout = 0
  const blocks = new Blocks()
  const answers = {
    cpu: () => ({ cpuMs: cpuMs() }),
    watch() {
      blocks.start()
      return {}
    },
    longest: () => blocks.stop(),
  }
  process.on('message', (/** @type {keyof typeof answers} */ question) => process.send(answers[question]()))
  process.on('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
}

main()
