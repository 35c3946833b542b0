'use strict'
// npm run bench -- otel [flags]
//
// Measures what spillway adds to a request when OpenTelemetry's SDK is in the process: spans are recorded,
// its metrics are on, and http and Koa are instrumented. A request then takes 50 µs and scatters by 10 from
// process to process. So the bench compares no two processes: in the same process, our path for the SDK is on
// in one slice and off in the next. A figure is the median over several processes of the median difference of
// neighbours, without the kernel as in `hot-path`.
//
//   --processes 9     how many processes measure each variant
//   --save <name>     saves to bench/results/<name>-node-<major>.json (otel)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')
const { median } = require('../support/statistics')

const PROCESS = path.join(__dirname, 'process.js')
const CASES = { http: ['attach'], koa: ['attach', 'middleware'] }

const { processes, save: name } = readFlags({ processes: 9, save: 'otel' })

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const [framework, variants] of Object.entries(CASES)) {
    for (const variant of variants) {
      const figures = []
      for (let i = 0; i < processes; i++) {
        const [figure] = await once(fork(PROCESS, [framework, variant]), 'message')
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
  process.stdout.write(`saved ${save(name, { processes, rows })}\n`)
}

main()
