'use strict'
// node process.js <framework> <variant>: measures in a process with OpenTelemetry's SDK. Sends the
// microseconds of a request, and those that our path for the SDK adds.

const { loadOf } = require('../support/memory-load')
const { peer } = require('../support/peers')
const { median } = require('../support/statistics')

const SLICE = 500
const WARM_UP_SLICES = 40
const PAIRS = 60

function startSdk() {
  const { metrics } = require('@opentelemetry/api')
  const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http')
  const { KoaInstrumentation } = require('@opentelemetry/instrumentation-koa')
  const { MeterProvider } = require('@opentelemetry/sdk-metrics')
  const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
  const tracerProvider = new NodeTracerProvider()
  tracerProvider.register()
  const meterProvider = new MeterProvider()
  metrics.setGlobalMeterProvider(meterProvider)
  for (const each of [new HttpInstrumentation(), new KoaInstrumentation()]) {
    each.setTracerProvider(tracerProvider)
    each.setMeterProvider(meterProvider)
  }
}

/** @returns {{ server: any, recorder: any }} */
function serve(framework, variant) {
  const { systemClock } = require('../../src/core/clock')
  const { createKoaMiddleware } = require('../../src/core/http/koa')
  const { Instance } = require('../../src/instance')
  const { resolveOptions } = require('../../src/core/options/options')
  const server = require('node:http').createServer()
  // A slice is a burst, which the gate would shed.
  const instance = new Instance(
    resolveOptions({ logger: false, shed: { mode: 'off' } }),
    systemClock,
    () => {}
  )
  if (framework === 'http') server.on('request', (_req, res) => res.end('hello'))
  else {
    const app = new (peer('koa'))()
    app.use(variant === 'middleware' ? createKoaMiddleware(instance) : (_ctx, next) => next())
    app.use((ctx) => {
      ctx.body = { hello: 'world' }
    })
    server.on('request', app.callback())
  }
  if (variant === 'attach') instance.entrance.attach(server)
  return { server, recorder: instance.recorder }
}

async function main([framework, variant]) {
  startSdk()
  const { server, recorder } = serve(framework, variant)
  const run = loadOf(server)
  const alive = setInterval(() => {}, 1000)
  const slice = async (isTracing) => {
    recorder.isTracing = isTracing
    const sinceMs = performance.now()
    await run(SLICE)
    return ((performance.now() - sinceMs) * 1000) / SLICE
  }
  for (let i = 0; i < WARM_UP_SLICES; i++) await slice(i % 2 === 0)
  const differences = []
  const offs = []
  for (let i = 0; i < PAIRS; i++) {
    // Alternates which is first.
    const first = await slice(i % 2 === 0)
    const second = await slice(i % 2 === 1)
    const [on, off] = i % 2 === 0 ? [first, second] : [second, first]
    differences.push(on - off)
    offs.push(off)
  }
  clearInterval(alive)
  process.send?.({ over: median(differences), request: median(offs) }, () => process.exit())
}

main(process.argv.slice(2))
