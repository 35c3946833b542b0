'use strict'
// npm run bench -- logged-in [flags]
//
// Measures what it costs to know the user before the gate, by the recipes of docs/recipes.md: microseconds of
// CPU for a request behind Express 5, without the kernel as in `hot-path`, of requests that are admitted and
// requests that are rejected. A figure is the median of several processes, of the fastest tenth of their
// slices. Nothing is saved.
//
//   --processes 5     how many processes measure each way

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { readFlags } = require('../support/flags')
const { machineLine } = require('../support/results')
const { median } = require('../support/statistics')
const { WAYS } = require('./ways')

const PROCESS = path.join(__dirname, 'process.js')
const { processes } = readFlags({ processes: 5 })

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  for (const outcome of ['admitted', 'rejected']) {
    const names = Object.keys(WAYS)
    const figures = names.map(() => [])
    for (let i = 0; i < processes; i++) {
      for (const [index, way] of names.entries()) {
        const [micros] = await once(fork(PROCESS, [way, outcome]), 'message')
        figures[index].push(micros)
      }
    }
    for (const [index, way] of names.entries()) {
      const micros = median(figures[index])
      const added = micros - median(figures[0])
      process.stdout.write(
        `${outcome.padEnd(12)} ${way.padEnd(42)} ${micros.toFixed(1).padStart(6)} µs  +${added.toFixed(1)}\n`
      )
    }
  }
}

main()
