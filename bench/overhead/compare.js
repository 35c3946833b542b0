'use strict'
// Compares what a request costs in two servers, in CPU time. The load is on one core, both servers are on the
// other. The two serve slices of some milliseconds in turn, because other tenants of a machine change its
// speed from second to second. No more than two servers are alive. With all of them, each finds the caches
// cold after a rest and seems dearer than it is. Each pair starts several times. In one of ten processes of
// Node 20, process.nextTick is compiled badly and adds 3 µs.

const path = require('node:path')
const { ClosedLoop } = require('../support/closed-loop')
const { ONE_THREAD, startServer } = require('../support/pinned')
const { median, round2, scatter } = require('../support/statistics')
const { progress } = require('../support/terminal')

const SLICE = 500
/** Requests of a slice that do not count: their cost depends on how cold the caches are. */
const LEAD_IN = 200
const WARM_UPS = 8
const WARM_UP = 2000
/** How often each pair starts, and how many slices each server of a pair then serves. */
const TIMES = { starts: 7, rounds: 10 }

class Variant {
  costs = []

  static async start(framework, name, { connections, headers }) {
    const variant = new Variant()
    variant.server = await startServer(path.join(__dirname, 'server.js'), [framework, name], {
      nodeArgs: ONE_THREAD,
    })
    variant.load = await ClosedLoop.open({ port: variant.server.port, path: '/hello', connections, headers })
    // With one connection, server and load wait for each other. A load that is awake answers so soon that
    // only the faster server sleeps.
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

/**
 * Starts a variant and its base, compares the two, and stops them.
 * @returns {Promise<{ base: number, ratio: number }>} what the base costs, and the variant as a share of it
 */
async function comparePair(framework, names, load, rounds) {
  const pair = [
    await Variant.start(framework, names[0], load),
    await Variant.start(framework, names[1], load),
  ]
  for (let i = 0; i < WARM_UPS; i++) for (const variant of pair) await variant.load.run(WARM_UP)
  for (let round = 0; round < rounds; round++) {
    for (const variant of round % 2 === 0 ? pair : [...pair].reverse()) {
      variant.costs.push(await variant.slice())
    }
  }
  await Promise.all(pair.map((variant) => variant.stop()))
  const [base, variant] = pair
  return { base: median(base.costs), ratio: median(variant.costs.map((cost, i) => cost / base.costs[i])) }
}

/**
 * @param {string[]} variants of a framework in server.js, the base first
 * @param {{ connections: number, headers?: string }} load
 */
async function compare(framework, [base, ...others], load, { starts, rounds } = TIMES) {
  const bases = []
  const ratios = others.map(() => [])
  for (let start = 1; start <= starts; start++) {
    for (const [i, name] of others.entries()) {
      progress(`${framework}, ${load.connections} connections: start ${start} of ${starts}, ${name}`)
      const compared = await comparePair(framework, [base, name], load, rounds)
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

module.exports = { SLICE, TIMES, compare }
