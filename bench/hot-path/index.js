'use strict'
// npm run bench:hot-path: what we add to a request without the kernel. Requests are pushed into the server's own sockets
// and answers taken from them in the same process, so that a tenth of a microsecond shows, which bench:overhead, with
// half of its time in system calls, cannot tell: for before and after a change. Each figure is the median of several
// processes, of the fastest tenth of their slices, which are short: a machine that stands still for 19 of 20 ms tells as much.
// The loop's own turn is in all of them, so the turn clock is not.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const { createSpillway } = require('../../src/index.js')
const { answerHelp } = require('../support/help')
const { loadOf } = require('../support/memory-load')
const { peer } = require('../support/peers')
const { machineLine, save } = require('../support/results')
const { median } = require('../support/statistics')

answerHelp()

// Not Express: what it does itself scatters by 10 µs from process to process.
const CASES = {
  http: ['none', 'attach', 'attach, shed off', 'attach, errors by request'],
  koa: ['none', 'attach', 'attach, shed off', 'attach, errors by request', 'middleware'],
}
/** What a variant says after its comma. */
const OPTIONS = {
  'shed off': { shed: { mode: 'off' } },
  'errors by request': { errors: { uncaught: 'logRequest' } },
}
const PROCESSES = Number(process.env.PROCESSES ?? 9)
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
  const spillway = createSpillway(OPTIONS[variant.split(', ')[1]])
  server.on('request', listenerOf(framework, isMiddleware ? spillway.koa() : undefined))
  if (variant.startsWith('attach')) spillway.attach(server)
  if (variant === 'none') spillway.close()
  return server
}

async function measureHere(framework, variant) {
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
    const figures = variants.map(() => [])
    for (let i = 0; i < PROCESSES; i++) {
      for (const [index, variant] of variants.entries()) {
        const [micros] = await once(fork(__filename, [framework, variant]), 'message')
        figures[index].push(micros)
      }
    }
    const base = median(figures[0])
    for (const [index, variant] of variants.entries()) {
      const micros = median(figures[index])
      rows.push({ framework, variant, micros, addedMicros: micros - base })
      process.stdout.write(
        `${framework.padEnd(8)} ${variant.padEnd(26)} ${micros.toFixed(2).padStart(6)} µs  +${(micros - base).toFixed(2)}\n`
      )
    }
  }
  process.stdout.write(`saved ${save('hot-path', { processes: PROCESSES, slice: SLICE, rows })}\n`)
}

if (process.argv[2] === undefined) main()
else measureHere(process.argv[2], process.argv[3])
