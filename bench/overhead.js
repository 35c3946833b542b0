'use strict'
// npm run bench:overhead: CPU per request each package adds to a no-op middleware, on Express 5 and Koa 3, at 1 and 32
// connections. Every variant is a process of its own, all alive on one core, the load on the other. Slices of some
// milliseconds go through all of them in turn; each is compared with the no-op slices beside it, and a figure is the
// median of many such ratios, times the median no-op: other tenants of the machine change its speed twofold by the second.

const path = require('node:path')
const { ClosedLoop } = require('./load')
const { pinLoad, startServer } = require('./pinned')
const { machineLine, save } = require('./results')
const { median, scatter } = require('./statistics')

const CASES = {
  express: [
    'no-op',
    'spillway wrap',
    'spillway attach',
    'spillway attach + express()',
    'spillway express()',
    'overload-protection',
    'prometheus-api-metrics',
    'express-prom-bundle',
    'swagger-stats',
  ],
  koa: [
    'no-op',
    'spillway attach',
    'spillway attach + koa()',
    'spillway koa()',
    'overload-protection',
    'prometheus-api-metrics',
  ],
}
const ROUNDS = Number(process.env.ROUNDS ?? 40)
const SLICE = Number(process.env.SLICE ?? 500)
const WARM_UP = 20_000

class Variant {
  ratios = []
  costs = []

  static async start(framework, name, connections) {
    const variant = new Variant()
    variant.name = name
    variant.server = await startServer(path.join(__dirname, 'overhead-server.js'), [framework, name])
    variant.load = await ClosedLoop.open({ port: variant.server.port, path: '/hello', connections })
    await variant.load.run(WARM_UP)
    return variant
  }

  async slice() {
    const before = await this.server.ask('cpu')
    await this.load.run(SLICE)
    const after = await this.server.ask('cpu')
    return (after.microseconds - before.microseconds) / SLICE
  }

  async stop() {
    this.load.close()
    await this.server.stop()
  }
}

async function measureFramework(framework, connections) {
  const variants = []
  for (const name of CASES[framework]) variants.push(await Variant.start(framework, name, connections))
  const [noop, ...others] = variants
  for (let round = 0; round < ROUNDS; round++) {
    progress(`${framework}, ${connections} connections: round ${round + 1} of ${ROUNDS}`)
    let before = await noop.slice()
    for (const variant of others) {
      const cost = await variant.slice()
      const after = await noop.slice()
      variant.ratios.push((2 * cost) / (before + after))
      variant.costs.push(cost)
      noop.costs.push(after)
      before = after
    }
  }
  await Promise.all(variants.map((variant) => variant.stop()))
  const base = median(noop.costs)
  noop.ratios.push(1)
  return variants.map(({ name, ratios }) => ({
    framework,
    connections,
    variant: name,
    totalMicroseconds: round2(median(ratios) * base),
    addedMicroseconds: round2((median(ratios) - 1) * base),
    // How far the median of so many ratios may be off, by their own scatter.
    plusMinusMicroseconds: round2((1.86 * scatter(ratios) * base) / Math.sqrt(ratios.length)),
  }))
}

const round2 = (value) => Math.round(value * 100) / 100

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

async function main() {
  pinLoad()
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const framework of Object.keys(CASES)) {
    for (const connections of [1, 32]) {
      const measured = await measureFramework(framework, connections)
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
  process.stdout.write(`saved ${save('overhead', { rounds: ROUNDS, slice: SLICE, rows })}\n`)
}

main()
