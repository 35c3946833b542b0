// A redis-server for one test file, on 127.0.0.1 with a free port, that keeps nothing on disk.

const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')

/** Why the tests cannot run here, or false. */
function isMissing() {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return false
  } catch {
    return 'needs redis-server in the PATH'
  }
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}

/** @returns {Promise<{ port: number, url: string, stop: () => Promise<void> }>} */
async function startRedis() {
  const port = await freePort()
  // By default it looks for commands that time out ten times a second.
  const flags = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--hz', '200']
  const child = spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = once(child, 'exit')
  const lines = child.stdout.iterator({ destroyOnReturn: false })
  for await (const line of lines) if (String(line).includes('Ready to accept')) break
  child.stdout.resume()
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
