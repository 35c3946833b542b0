'use strict'
// npm run bench -- overhead [flags]
//
// Measures the CPU time that spillway and other packages add to a request, over a no-op middleware, on
// Express 5 and Koa 3. A figure is the median over the starts of the median ratio of a start, times the
// median no-op. `floor` is the least that measuring a request costs on this machine
// (bench/overhead/floor.js). The Node matters: Node 20 gives requests and responses behind Express hidden
// classes of their own. A request then takes 100 µs instead of 25.
//
//   --variants a,b     only these variants
//   --connections 1    only these numbers of connections (1,32)
//   --starts 7         how often each pair of servers starts
//   --rounds 10        how many slices of 500 requests each server of a pair serves after a start
//   --save <name>      saves to bench/results/<name>-node-<major>.json (overhead; overhead-part with the first two flags)

const { readFlags } = require('../support/flags')
const { pinLoad } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { progress } = require('../support/terminal')
const { SLICE, TIMES, compare } = require('./compare')

const CASES = {
  express: [
    'no-op',
    'floor',
    'spillway wrap',
    'spillway attach',
    'spillway register',
    'spillway attach + express() + errorHandler()',
    'spillway express()',
    'overload-protection',
    'prometheus-api-metrics',
    'express-prom-bundle',
    'swagger-stats',
  ],
  koa: [
    'no-op',
    'floor',
    'spillway attach',
    'spillway register',
    'spillway attach + koa()',
    'spillway koa()',
    'overload-protection',
    'prometheus-api-metrics',
  ],
}

const ALL_CONNECTIONS = [1, 32]

const flags = readFlags(
  { variants: [String], connections: ALL_CONNECTIONS, ...TIMES, save: String },
  { variants: [...new Set(Object.values(CASES).flat())].slice(1) }
)
const times = { starts: flags.starts, rounds: flags.rounds }
const isPart = flags.variants !== undefined || flags.connections !== ALL_CONNECTIONS
const name = flags.save ?? (isPart ? 'overhead-part' : 'overhead')

async function main() {
  pinLoad()
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const [framework, all] of Object.entries(CASES)) {
    const names = all.filter((name, i) => i === 0 || (flags.variants?.includes(name) ?? true))
    if (names.length === 1) continue
    for (const connections of flags.connections) {
      const measured = await compare(framework, names, { connections }, times)
      progress('')
      for (const row of measured) {
        process.stdout.write(
          `${framework.padEnd(8)} ${String(connections).padStart(2)} conn  ${row.variant.padEnd(28)} ` +
            `${row.totalMicroseconds.toFixed(1).padStart(7)} µs  +${row.addedMicroseconds.toFixed(2)} ±${row.plusMinusMicroseconds.toFixed(2)}\n`
        )
      }
      rows.push(...measured)
    }
  }
  process.stdout.write(
    `saved ${save(name, { ...times, slice: SLICE, load: 'awake at 32 connections', rows })}\n`
  )
}

main()
