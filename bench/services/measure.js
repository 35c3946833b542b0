'use strict'
// One run: a fresh server with a variant, its load, and the CPU time of the server while the load is counted.

const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { startServer } = require('../support/pinned')
const { percentile } = require('../support/statistics')

const SERVER = path.join(__dirname, 'server.js')

/**
 * @param {import('./services').Service} service
 * @param {{ variant: { name: string, src?: string }, given: unknown, warmUpSeconds: number, seconds: number }} run
 */
async function measure(service, { variant, given, warmUpSeconds, seconds }) {
  const options = JSON.stringify({ service: service.name, variant, given })
  const server = await startServer(SERVER, [options], { nodeArgs: ['--no-deprecation'] })
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
    load.stop()
    await server.stop()
  }
}

module.exports = { measure }
