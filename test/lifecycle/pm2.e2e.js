'use strict'
// A real PM2, from npm, with a home of its own in a temporary folder: `npm run test:pm2`. Nothing is shed,
// for what comes at once to a process that has just started is a matter of its own; nor is anything cut off
// or given up within a minute.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { createServer } = require('node:net')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')
const { promisify } = require('node:util')
const { startLoad } = require('../../bench/restart/client')

const run = promisify(execFile)
const SOURCE = path.join(__dirname, '..', '..', 'src', 'index.js')
const home = mkdtempSync(path.join(tmpdir(), 'spillway-pm2-'))
const env = { ...process.env, PM2_HOME: path.join(home, '.pm2') }
const pm2 = (...args) => run(path.join(home, 'node_modules', '.bin', 'pm2'), args, { cwd: home, env })

const APPLICATION = `
  const http = require('node:http')
  const { createSpillway } = require(${JSON.stringify(SOURCE)})
  const spillway = createSpillway({ drain: { timeout: 60_000 }, shed: { mode: 'off' }, logger: false })
  const server = http.createServer((req, res) => {
    req.resume()
    setTimeout(() => res.end('done'), Math.random() * 30)
  })
  server.keepAliveTimeout = 60_000
  spillway.attach(server, { signals: true })
  server.listen(Number(process.env.PORT), '127.0.0.1')
`

before(async () => {
  writeFileSync(path.join(home, 'package.json'), '{}')
  writeFileSync(path.join(home, 'application.js'), APPLICATION)
  await run('npm', ['install', '--no-audit', '--no-fund', 'pm2@7'], { cwd: home })
})

after(async () => {
  await pm2('kill')
  rmSync(home, { recursive: true, force: true })
})

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.on('listening', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

const MODES = {
  'a cluster of two, reloaded by signal': { exec_mode: 'cluster', instances: 2 },
  'a cluster of two, reloaded by message': {
    exec_mode: 'cluster',
    instances: 2,
    shutdown_with_message: true,
  },
  'one process, restarted': { exec_mode: 'fork', instances: 1 },
}

for (const [what, mode] of Object.entries(MODES)) {
  test(`${what}: no request fails, and PM2 learns that each is ready`, async () => {
    const port = await freePort()
    const name = what.replace(/\W+/g, '-')
    const app = {
      name,
      script: 'application.js',
      wait_ready: true,
      // PM2 goes on without a 'ready' after that, and so would the test.
      listen_timeout: 60_000,
      kill_timeout: 90_000,
      env: { PORT: String(port) },
      ...mode,
    }
    writeFileSync(path.join(home, 'ecosystem.json'), JSON.stringify({ apps: [app] }))
    await pm2('start', 'ecosystem.json')
    const load = startLoad({ port, ratePerSecond: 100, connections: 24, isOneEach: true })
    // A connection that is opened at the moment of the close is reset by the kernel, whatever the process
    // does.
    await load.whenConnected
    for (let i = 0; i < 2; i++) await pm2('reload', name)
    const { outcomes } = await load.stop()
    const processes = JSON.parse((await pm2('jlist')).stdout).filter((each) => each.name === name)
    await pm2('delete', name)
    assert.deepEqual(Object.keys(outcomes), ['200'], JSON.stringify(outcomes))
    assert.deepEqual(
      processes.map(({ pm2_env: { status } }) => status),
      processes.map(() => 'online')
    )
    assert.equal(processes.length, mode.instances)
  })
}
