'use strict'
// npm run bench:otel: what we add to a request under OpenTelemetry's SDK (spans recorded, its metrics on, its instrumentation of
// http and Koa in place), against what we add without one. As in bench:hot-path without the kernel, and each figure the
// median of several processes, of the fastest tenth of their slices: under an SDK a request takes 20 µs more and scatters.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const { createRequire } = require('node:module')
const path = require('node:path')
const { loadOf } = require('./memory-load')
const { machineLine, save } = require('./results')
const { median } = require('./statistics')

const CASES = { http: ['none', 'attach'], koa: ['none', 'attach', 'middleware'] }
const PROCESSES = Number(process.env.PROCESSES ?? 9)
const SLICE = 2000
const WARM_UP_SLICES = 20
const MEASURE_MS = 600

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

function serve(framework, variant) {
  const { createSpillway } = require('../src/index.js')
  const server = require('node:http').createServer()
  const spillway = createSpillway()
  if (framework === 'http') server.on('request', (_req, res) => res.end('hello'))
  else {
    const peers = createRequire(path.join(__dirname, 'peers', 'package.json'))
    const app = new (peers('koa'))()
    app.use(variant === 'middleware' ? spillway.koa() : (_ctx, next) => next())
    app.use((ctx) => {
      ctx.body = { hello: 'world' }
    })
    server.on('request', app.callback())
  }
  if (variant === 'attach') spillway.attach(server)
  if (variant === 'none') spillway.close()
  return server
}

async function measureHere(framework, variant, sdk) {
  if (sdk === 'sdk') startSdk()
  const run = loadOf(serve(framework, variant))
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

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const [framework, variants] of Object.entries(CASES)) {
    const kinds = ['no sdk', 'sdk'].flatMap((sdk) =>
      variants.map((variant) => ({ variant, sdk, figures: [] }))
    )
    for (let i = 0; i < PROCESSES; i++) {
      for (const { variant, sdk, figures } of kinds) {
        const [micros] = await once(fork(__filename, [framework, variant, sdk]), 'message')
        figures.push(micros)
      }
    }
    const of = (variant, sdk) =>
      median(kinds.find((kind) => kind.variant === variant && kind.sdk === sdk).figures)
    const added = (variant, sdk) => of(variant, sdk) - of('none', sdk)
    for (const variant of variants.slice(1)) {
      const row = {
        framework,
        variant,
        alone: of('none', 'no sdk'),
        aloneWithSdk: of('none', 'sdk'),
        added: added(variant, 'no sdk'),
        addedWithSdk: added(variant, 'sdk'),
      }
      rows.push({ ...row, overMicros: row.addedWithSdk - row.added })
      process.stdout.write(
        `${framework.padEnd(6)} ${variant.padEnd(12)} +${row.added.toFixed(2)} µs without an SDK, +${row.addedWithSdk.toFixed(2)} with one: ${(row.addedWithSdk - row.added).toFixed(2)} more\n`
      )
    }
  }
  process.stdout.write(`saved ${save('otel', { processes: PROCESSES, slice: SLICE, rows })}\n`)
}

if (process.argv[2] === undefined) main()
else measureHere(process.argv[2], process.argv[3], process.argv[4])
