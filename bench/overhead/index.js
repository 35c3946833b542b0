'use strict'
// npm run bench:overhead: CPU per request each package adds to a no-op middleware, on Express 5 and Koa 3, at 1 and 32
// connections. Each is a process of its own, beside a no-op of its own on the same core, the load on the other. Slices of
// some milliseconds go to the two in turn, because other tenants of the machine change its speed twofold by the second.
// No more than two are alive: with all of them, a process finds the caches cold after each rest, and what is counted is
// how much code it has (attach 7.0 of 127 µs instead of 5.1). Each pair is started anew several times:
// on Node 20 one process in ten compiles process.nextTick badly and is 3 µs a request dearer for good, whatever it carries.
// Run it on the Node you mean: 20 gives what Express has touched hidden classes of its own (a request takes 100 µs, not 25).
// `floor` is the least that measuring takes on this machine: see floor.js.
// A figure is the median over the starts of the median ratio of a start, times the median no-op.

const path = require('node:path')
const { parseArgs } = require('node:util')
const { ClosedLoop } = require('../support/closed-loop')
const { ONE_THREAD, pinLoad, startServer } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { median, scatter } = require('../support/statistics')

const CASES = {
  express: [
    'no-op',
    'floor',
    'spillway wrap',
    'spillway attach',
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
    'spillway attach + koa()',
    'spillway koa()',
    'overload-protection',
    'prometheus-api-metrics',
  ],
}
const HELP = `npm run bench:overhead -- [options]

  --variants a,b       only these: ${[...new Set(Object.values(CASES).flat())].slice(1).join(', ')}
  --connections 1      only so many (1,32)
  --starts, --rounds   how often each pair is started, and how many slices it has then (7, 10)
  --save <name>        bench/results/<name>.json (overhead-node-<major>)`

const { values: flags } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    ...Object.fromEntries(
      ['variants', 'connections', 'starts', 'rounds', 'save'].map((name) => [name, { type: 'string' }])
    ),
  },
  // bench/access-log compares in the same way, with options of its own.
  args: require.main === module ? undefined : [],
})
const STARTS = Number(flags.starts ?? process.env.STARTS ?? 7)
const ROUNDS = Number(flags.rounds ?? 10)
const SLICE = 500
/** Not measured: until then it is about how cold the caches are. */
const LEAD_IN = 200
const WARM_UPS = 8
const WARM_UP = 2000

const HOW = { starts: STARTS, rounds: ROUNDS, slice: SLICE, load: 'awake at 32 connections' }

class Variant {
  costs = []

  static async start(framework, name, { connections, headers }) {
    const variant = new Variant()
    variant.server = await startServer(path.join(__dirname, 'server.js'), [framework, name], {
      nodeArgs: ONE_THREAD,
    })
    variant.load = await ClosedLoop.open({ port: variant.server.port, path: '/hello', connections, headers })
    // Over one, server and load wait for each other: a load that is awake answers so soon that the dearer server need not sleep.
    if (connections > 1) variant.load.stayAwake()
    return variant
  }

  async slice() {
    await this.load.run(LEAD_IN)
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

/** Starts a variant with a base beside it, compares the two, and stops them. @returns what the base costs, and the variant as a share of it */
async function comparePair(framework, names, load) {
  const pair = [
    await Variant.start(framework, names[0], load),
    await Variant.start(framework, names[1], load),
  ]
  for (let i = 0; i < WARM_UPS; i++) for (const variant of pair) await variant.load.run(WARM_UP)
  for (let round = 0; round < ROUNDS; round++) {
    for (const variant of round % 2 === 0 ? pair : [...pair].reverse()) {
      variant.costs.push(await variant.slice())
    }
  }
  await Promise.all(pair.map((variant) => variant.stop()))
  const [base, variant] = pair
  return { base: median(base.costs), ratio: median(variant.costs.map((cost, i) => cost / base.costs[i])) }
}

/** @param {{ connections: number, headers?: string }} load */
async function compare(framework, [base, ...others], load) {
  const bases = []
  const ratios = others.map(() => [])
  for (let start = 1; start <= STARTS; start++) {
    for (const [i, name] of others.entries()) {
      progress(`${framework}, ${load.connections} connections: start ${start} of ${STARTS}, ${name}`)
      const compared = await comparePair(framework, [base, name], load)
      bases.push(compared.base)
      ratios[i].push(compared.ratio)
    }
  }
  const microseconds = median(bases)
  return [base, ...others].map((variant, i) => {
    const each = i === 0 ? [1] : ratios[i - 1]
    return {
      framework,
      connections: load.connections,
      variant,
      totalMicroseconds: round2(median(each) * microseconds),
      addedMicroseconds: round2((median(each) - 1) * microseconds),
      addedPercent: round2((median(each) - 1) * 100),
      // Half of the starts were within this of the median.
      plusMinusMicroseconds: round2(scatter(each) * microseconds),
    }
  })
}

const round2 = (value) => Math.round(value * 100) / 100

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

async function main() {
  const [major] = process.versions.node.split('.')
  if (flags.help) return void process.stdout.write(`${HELP}\n`)
  const chosen = flags.variants?.split(',')
  const unknown = chosen?.find((name) => !Object.values(CASES).flat().includes(name))
  if (unknown !== undefined) throw new Error(`there is no variant '${unknown}': see --help`)
  pinLoad()
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const [framework, all] of Object.entries(CASES)) {
    const names = all.filter((name, i) => i === 0 || (chosen?.includes(name) ?? true))
    if (names.length === 1) continue
    for (const connections of (flags.connections ?? '1,32').split(',').map(Number)) {
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
  process.stdout.write(`saved ${save(flags.save ?? `overhead-node-${major}`, { ...HOW, rows })}\n`)
}

if (require.main === module) main()

module.exports = { compare }
