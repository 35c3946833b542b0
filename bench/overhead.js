'use strict'
// npm run bench:overhead: CPU per request each package adds to a no-op middleware, on Express 5 and Koa 3, at 1 and 32
// connections. Every variant is a process of its own, all alive on one core, the load on the other. Slices of some
// milliseconds go through all of them in turn; each is compared with the no-op slices beside it, because other tenants
// of the machine change its speed twofold by the second. All are started anew several times: on Node 20 one process in
// ten compiles process.nextTick badly and is 3 µs a request dearer for good, whatever it carries. A figure is the
// median over the starts of the median ratio of a start, times the median no-op.

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
const STARTS = Number(process.env.STARTS ?? 7)
const ROUNDS = Number(process.env.ROUNDS ?? 10)
const SLICE = Number(process.env.SLICE ?? 500)
const WARM_UPS = 8
const WARM_UP = 2000

class Variant {
  ratios = []
  costs = []

  static async start(framework, name, { connections, headers }) {
    const variant = new Variant()
    variant.name = name
    variant.server = await startServer(path.join(__dirname, 'overhead-server.js'), [framework, name])
    variant.load = await ClosedLoop.open({ port: variant.server.port, path: '/hello', connections, headers })
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

/** Starts all variants, compares them, and stops them again. @returns what each cost, and as a share of the no-op */
async function compareOnce(framework, names, load) {
  const variants = []
  for (const name of names) variants.push(await Variant.start(framework, name, load))
  // In turns: a process that has idled for ten seconds throws its compiled code away, and needs 2500 requests again.
  for (let i = 0; i < WARM_UPS; i++) for (const variant of variants) await variant.load.run(WARM_UP)
  const [noop, ...others] = variants
  for (let round = 0; round < ROUNDS; round++) {
    let before = await noop.slice()
    for (const variant of others) {
      const cost = await variant.slice()
      const after = await noop.slice()
      variant.ratios.push((2 * cost) / (before + after))
      noop.costs.push(after)
      before = after
    }
  }
  await Promise.all(variants.map((variant) => variant.stop()))
  noop.ratios.push(1)
  return { base: median(noop.costs), ratios: variants.map(({ ratios }) => median(ratios)) }
}

/** @param {{ connections: number, headers?: string }} load */
async function compare(framework, names, load) {
  const starts = []
  for (let start = 1; start <= STARTS; start++) {
    progress(`${framework}, ${load.connections} connections: start ${start} of ${STARTS}`)
    starts.push(await compareOnce(framework, names, load))
  }
  const base = median(starts.map((start) => start.base))
  return names.map((variant, i) => {
    const ratios = starts.map((start) => start.ratios[i])
    return {
      framework,
      connections: load.connections,
      variant,
      totalMicroseconds: round2(median(ratios) * base),
      addedMicroseconds: round2((median(ratios) - 1) * base),
      addedPercent: round2((median(ratios) - 1) * 100),
      // Half of the starts were within this of the median.
      plusMinusMicroseconds: round2(scatter(ratios) * base),
    }
  })
}

const round2 = (value) => Math.round(value * 100) / 100

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

async function main() {
  pinLoad()
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const [framework, names] of Object.entries(CASES)) {
    for (const connections of [1, 32]) {
      const measured = await compare(framework, names, { connections })
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
  process.stdout.write(`saved ${save('overhead', { starts: STARTS, rounds: ROUNDS, slice: SLICE, rows })}\n`)
}

if (require.main === module) main()

module.exports = { compare }
