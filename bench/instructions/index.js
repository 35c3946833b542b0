'use strict'
// npm run bench -- instructions [flags]
//
// Counts the instructions that the main thread executes for a request, with callgrind. Needs Debian's
// valgrind. On a busy machine, CPU time scatters by a tenth from process to process, and instructions by a
// hundredth. Cache misses and system calls do not show here. They show in `npm run bench -- overhead`.
//
//   --frameworks express  only these frameworks
//   --warm-up 35000       the requests before the count begins
//   --save <name>         saves to bench/results/<name>-node-<major>.json (instructions; instructions-part with the first flag)

const { readFlags } = require('../support/flags')
const { machineLine, save } = require('../support/results')
const { WARM_UP, WINDOW, WINDOWS, measure } = require('./measure')

const CASES = {
  express: [
    'no-op',
    'floor',
    'spillway attach',
    'spillway wrap',
    'spillway express()',
    'express-prom-bundle',
  ],
  koa: ['no-op', 'floor', 'spillway attach', 'spillway koa()'],
}
const flags = readFlags(
  { frameworks: [String], 'warm-up': WARM_UP, save: String },
  { frameworks: Object.keys(CASES) }
)
const warmUp = flags['warm-up']
const name = flags.save ?? (flags.frameworks === undefined ? 'instructions' : 'instructions-part')

async function main() {
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const framework of flags.frameworks ?? Object.keys(CASES)) {
    let base
    for (const variant of CASES[framework]) {
      const instructions = await measure(framework, variant, { warmUp })
      base ??= instructions
      const addedPercent = Math.round((instructions / base - 1) * 1000) / 10
      rows.push({ framework, variant, instructions, added: instructions - base, addedPercent })
      process.stdout.write(
        `${framework.padEnd(8)} ${variant.padEnd(24)} ${String(instructions).padStart(8)}  +${instructions - base} (${addedPercent} %)\n`
      )
    }
  }
  process.stdout.write(`saved ${save(name, { windows: WINDOWS, window: WINDOW, warmUp, rows })}\n`)
}

main()
