'use strict'
// npm run bench:otel: what we add to a request because OpenTelemetry's SDK is there (spans recorded, its metrics on, its instrumentation
// of http and Koa in place). A request then takes 50 µs and scatters by 10 from process to process, so that no two processes are
// compared: in one, slice by slice, our path for the SDK is on and off. The figure is the median of the differences of
// neighbours, and of that the median of several processes. Without the kernel, as bench:hot-path.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const { answerHelp } = require('../support/help')
const { loadOf } = require('../support/memory-load')
const { peer } = require('../support/peers')
const { machineLine, save } = require('../support/results')
const { median } = require('../support/statistics')

answerHelp()

const CASES = { http: ['attach'], koa: ['attach', 'middleware'] }
const PROCESSES = Number(process.env.PROCESSES ?? 9)
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
  const { systemClock } = require('../../src/clock')
  const { createKoaMiddleware } = require('../../src/adapters/koa')
  const { Instance } = require('../../src/instance')
  const { resolveOptions } = require('../../src/options/options')
  const server = require('node:http').createServer()
  // Not shed: a slice is a burst.
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
  if (variant === 'attach') instance.servers.attach(server)
  return { server, recorder: instance.recorder }
}

async function measureHere(framework, variant) {
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
    // Now this first, now that.
    const first = await slice(i % 2 === 0)
    const second = await slice(i % 2 === 1)
    const [on, off] = i % 2 === 0 ? [first, second] : [second, first]
    differences.push(on - off)
    offs.push(off)
  }
  clearInterval(alive)
  process.send?.({ over: median(differences), request: median(offs) }, () => process.exit())
}

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const [framework, variants] of Object.entries(CASES)) {
    for (const variant of variants) {
      const figures = []
      for (let i = 0; i < PROCESSES; i++) {
        const [figure] = await once(fork(__filename, [framework, variant]), 'message')
        figures.push(figure)
      }
      const overMicros = median(figures.map(({ over }) => over))
      const requestMicros = median(figures.map(({ request }) => request))
      rows.push({ framework, variant, requestMicros, overMicros })
      process.stdout.write(
        `${framework.padEnd(6)} ${variant.padEnd(12)} +${overMicros.toFixed(2)} µs of ${requestMicros.toFixed(1)}\n`
      )
    }
  }
  process.stdout.write(`saved ${save('otel', { processes: PROCESSES, pairs: PAIRS, slice: SLICE, rows })}\n`)
}

if (process.argv[2] === undefined) main()
else measureHere(process.argv[2], process.argv[3])
