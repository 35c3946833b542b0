'use strict'
// One run: a fresh server with a variant, its load, and the CPU time of the server while the load is counted.

const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { ONE_THREAD, startServer } = require('../support/pinned')
const { percentile } = require('../support/statistics')

const SERVER = path.join(__dirname, 'server.js')
/** A run is disturbed, and repeated, where others took more of the server's core. */
const MAX_FOREIGN = 0.15
const TRIES = 2

/**
 * @param {import('./services').Service} service
 * @param {{ variant: { name: string, src?: string }, given: unknown, warmUpSeconds: number, seconds: number,
 *   hasGcThreads?: boolean }} run
 */
async function measure(service, { variant, given, warmUpSeconds, seconds, hasGcThreads = false }) {
  const options = JSON.stringify({ service: service.name, variant, given })
  const server = await startServer(SERVER, [options], {
    nodeArgs: ['--no-deprecation', ...(hasGcThreads ? [] : ONE_THREAD)],
  })
  const load = service.load(server.port)
  try {
    await load.start()
    await sleep(warmUpSeconds * 1000)
    const before = await server.ask('cpu')
    load.tally.reset()
    await sleep(seconds * 1000)
    const after = await server.ask('cpu')
    const { units, rejected, failed, latencies } = load.tally
    const { seen } = await server.ask('seen')
    if (units === 0) throw new Error(`${service.name}, ${variant.name}: nothing was answered`)
    if (seen === 0) throw new Error(`${service.name}: ${variant.name} has seen no request`)
    const cpuMs = after.cpuMs - before.cpuMs
    const wallMs = after.atMs - before.atMs
    return {
      unitMicroseconds: (cpuMs * 1000) / units,
      busy: cpuMs / wallMs,
      p99Ms: percentile(latencies, 0.99),
      rejected,
      failed,
      foreign: (after.foreignMs - before.foreignMs) / wallMs,
    }
  } finally {
    // First, or the server would answer errors to clients that are gone.
    await server.stop()
    load.stop()
  }
}

/** The first run that is not disturbed, or the least disturbed one. */
async function measureQuietly(service, run) {
  let best
  for (let i = 0; i < TRIES && (best === undefined || best.foreign > MAX_FOREIGN); i++) {
    const found = await measure(service, run)
    if (best === undefined || found.foreign < best.foreign) best = found
  }
  return best
}

module.exports = { MAX_FOREIGN, measure, measureQuietly }
