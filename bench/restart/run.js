'use strict'
// Restarts a server by SIGTERM again and again under load, as a supervisor does.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { startLoad } = require('./client')

const SETTLE_MS = 300
/** What a supervisor waits before it kills, as Kubernetes does. */
const GRACE_MS = 30_000

/**
 * @param {{ how: 'spillway' | 'close' | 'nothing', restarts: number, ratePerSecond: number,
 *   connections: number, timeoutMs: number }} plan
 * @returns {Promise<{ outcomes: Record<string, number>, refused: number, exits: string[] }>}
 */
async function restartUnderLoad({ how, restarts, timeoutMs, ...plan }) {
  const start = async (port) => {
    const server = fork(path.join(__dirname, 'server.js'), [how, String(port), String(timeoutMs)])
    const [given] = await once(server, 'message')
    return { server, port: given }
  }
  const exits = []
  let { server, port } = await start(0)
  const load = startLoad({ port, ...plan })
  try {
    for (let i = 0; i < restarts; i++) {
      await sleep(SETTLE_MS)
      exits.push(await stop(server))
      server = (await start(port)).server
    }
    await sleep(SETTLE_MS)
    return { ...(await load.stop()), exits }
  } finally {
    load.stop()
    server.kill('SIGKILL')
  }
}

/** @returns {Promise<string>} its exit code, or the signal that ended it */
async function stop(server) {
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  const impatience = setTimeout(() => server.kill('SIGKILL'), GRACE_MS)
  const [code, signal] = await ended
  clearTimeout(impatience)
  return String(code ?? signal)
}

module.exports = { restartUnderLoad }
