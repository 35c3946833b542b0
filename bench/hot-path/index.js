'use strict'
// npm run bench -- hot-path [flags]
//
// Measures what spillway adds to a request without the kernel, to a tenth of a microsecond: for before and
// after a change. Requests are pushed into the server's own sockets, and answers are taken from them, in the
// same process. In `npm run bench -- overhead`, system calls are half of the time and hide so small a
// difference. A figure is the median of several processes, of the fastest tenth of their slices. Slices are
// short, so that a machine that stands still for 19 of 20 ms gives the same figure. The loop turn is in all
// figures, and so the turn clock's cost is not.
//
//   --processes 9     how many processes measure each variant
//   --save <name>     saves to bench/results/<name>-node-<major>.json (hot-path)

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')
const { median } = require('../support/statistics')
const { FEATURES } = require('./process')

const PROCESS = path.join(__dirname, 'process.js')
// Without Express: its own work scatters by 10 µs from process to process.
const CASES = {
  http: ['none', 'attach', 'attach, shed off', 'attach, insight off', 'attach, errors by request'],
  koa: [
    'none',
    'attach',
    'attach, shed off',
    'attach, insight off',
    'attach, errors by request',
    'middleware',
  ],
  // On plain `http` with `attach`. The first row is Spillway without the feature.
  feature: Object.keys(FEATURES),
}

const { processes, save: name } = readFlags({ processes: 9, save: 'hot-path' })

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const [framework, variants] of Object.entries(CASES)) {
    const figures = variants.map(() => [])
    for (let i = 0; i < processes; i++) {
      for (const [index, variant] of variants.entries()) {
        const [micros] = await once(fork(PROCESS, [framework, variant]), 'message')
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
  process.stdout.write(`saved ${save(name, { processes, rows })}\n`)
}

main()
