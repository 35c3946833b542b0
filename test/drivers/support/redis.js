'use strict'
// A redis-server for one test file or bench, on 127.0.0.1 with a free port, that keeps nothing on disk.

const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const { untilSays } = require('../../../bench/support/database-server')
const { freePort } = require('../../../bench/support/free-port')

/** Why the tests cannot run here, or false. */
function isMissing() {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return false
  } catch {
    return 'needs redis-server in the PATH, such as by apt-get install redis-server'
  }
}

/** @returns {Promise<{ port: number, url: string, stop: () => Promise<void> }>} */
async function startRedis() {
  const port = await freePort()
  // By default it looks for commands that time out ten times a second.
  const flags = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--hz', '200']
  const child = spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = once(child, 'exit')
  await untilSays(child.stdout, 'Ready to accept')
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      child.kill()
      await gone
    },
  }
}

module.exports = { isMissing, startRedis }
