'use strict'
// npm run bench -- errors [flags]
//
// Measures the CPU time of a request that fails and gets our answer, over the same request with the
// framework's own answer in the same app without spillway. Express and Koa write each stack to stderr, here
// /dev/null, and Koa does so beside us too. `silent` is without that. Measures also what requests that do not
// fail pay. Slices of requests go in turn to processes that are all alive.
//
//   --starts 5        how often each case starts
//   --rounds 12       how many slices of 500 requests each process serves after a start
//   --save <name>     saves to bench/results/<name>-node-<major>.json (errors)

const path = require('node:path')
const { ClosedLoop } = require('../support/closed-loop')
const { readFlags } = require('../support/flags')
const { ONE_THREAD, pinLoad, startServer } = require('../support/pinned')
const { machineLine, save } = require('../support/results')
const { median, round2, scatter } = require('../support/statistics')

const FAILS = { path: '/fails/7', status: 500 }
const PASSES = { path: '/hello', status: 200 }
/** The base of each comes first. */
const CASES = [
  { framework: 'express', ...FAILS, variants: ['own', 'own, silent', 'spillway'] },
  { framework: 'express-4', ...FAILS, variants: ['own', 'own, silent', 'spillway'] },
  { framework: 'koa', ...FAILS, variants: ['own', 'spillway'] },
  { framework: 'koa', ...FAILS, variants: ['own, silent', 'spillway, silent'] },
  { framework: 'express', ...PASSES, variants: ['spillway, no handler', 'spillway'] },
  { framework: 'koa', ...PASSES, variants: ['spillway, errors: false', 'spillway'] },
]
const { starts: STARTS, rounds: ROUNDS, save: name } = readFlags({ starts: 5, rounds: 12, save: 'errors' })
const SLICE = 500
const WARM_UPS = 8
const WARM_UP = 1000
const CONNECTIONS = 16
const MOST = 1.3

async function start({ framework, path: url, status }, variant) {
  const script = path.join(__dirname, 'server.js')
  const server = await startServer(script, [framework, variant], {
    nodeArgs: ONE_THREAD,
    stderr: 'ignore',
  })
  const load = await ClosedLoop.open({ port: server.port, path: url, connections: CONNECTIONS, status })
  return { server, load, ratios: [] }
}

async function slice({ server, load }) {
  const before = await server.ask('cpu')
  await load.run(SLICE)
  const after = await server.ask('cpu')
  return (after.microseconds - before.microseconds) / SLICE
}

async function compareOnce(of) {
  const all = []
  for (const variant of of.variants) all.push(await start(of, variant))
  for (let i = 0; i < WARM_UPS; i++) for (const { load } of all) await load.run(WARM_UP)
  const [base, ...others] = all
  const costs = []
  for (let round = 0; round < ROUNDS; round++) {
    let before = await slice(base)
    for (const other of others) {
      const cost = await slice(other)
      const after = await slice(base)
      other.ratios.push((2 * cost) / (before + after))
      costs.push(after)
      before = after
    }
  }
  for (const { load, server } of all) {
    load.close()
    await server.stop()
  }
  return { base: median(costs), ratios: others.map(({ ratios }) => median(ratios)) }
}

async function measure(of) {
  const starts = []
  for (let i = 0; i < STARTS; i++) starts.push(await compareOnce(of))
  const baseMicroseconds = round2(median(starts.map(({ base }) => base)))
  const [base, ...others] = of.variants
  return others.map((variant, i) => {
    const ratios = starts.map((each) => each.ratios[i])
    return {
      framework: of.framework,
      path: of.path,
      base,
      variant,
      baseMicroseconds,
      ratio: round2(median(ratios)),
      plusMinus: round2(scatter(ratios)),
    }
  })
}

async function main() {
  pinLoad()
  process.stdout.write(`${machineLine()}\n`)
  const rows = []
  for (const of of CASES) {
    for (const row of await measure(of)) {
      rows.push(row)
      process.stdout.write(
        `${row.framework.padEnd(9)} ${row.path.padEnd(8)} ${row.variant.padEnd(16)} ${row.ratio.toFixed(2)} ±${row.plusMinus.toFixed(2)} ` +
          `of ${row.base} (${row.baseMicroseconds.toFixed(0)} µs)\n`
      )
    }
  }
  const ofExpress = rows.filter(({ framework, path, variant }) => {
    return framework.startsWith('express') && path === FAILS.path && variant === 'spillway'
  })
  const dearest = Math.max(...ofExpress.map(({ ratio }) => ratio))
  process.stdout.write(`an error answer is at most ${dearest} of Express's own; it may be ${MOST}\n`)
  process.stdout.write(
    `saved ${save(name, { starts: STARTS, rounds: ROUNDS, slice: SLICE, most: MOST, dearest, rows })}\n`
  )
}

main()
