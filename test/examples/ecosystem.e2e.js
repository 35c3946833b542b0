'use strict'
// examples/service/ecosystem.config.js under a real PM2, from npm, with a home of its own: it starts,
// answers, reloads.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { promisify } = require('node:util')
const { copyService } = require('./service-folder')
const { freePort } = require('../support/prometheus')

const run = promisify(execFile)

/**
 * Asked until it answers: the worker that had the port has gone, and another takes it over within a second.
 */
async function metricsOf(port) {
  for (;;) {
    try {
      return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    } catch {
      // Nobody has it yet.
    }
  }
}

test('pm2 start ecosystem.config.js serves, and pm2 reload replaces every worker', async (t) => {
  const home = mkdtempSync(path.join(tmpdir(), 'spillway-pm2-'))
  const [port, adminPort] = [await freePort(), await freePort()]
  const env = {
    ...process.env,
    PM2_HOME: path.join(home, '.pm2'),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
  }
  const pm2 = (...args) => run(path.join(home, 'node_modules', '.bin', 'pm2'), args, { cwd: folder, env })
  // Before its folder goes.
  t.after(async () => {
    await pm2('kill')
    rmSync(home, { recursive: true, force: true })
  })
  const folder = copyService(t)
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', home, 'pm2@7'])
  const workers = async () => JSON.parse((await pm2('jlist')).stdout)
  const user = async () => (await fetch(`http://127.0.0.1:${port}/users/7`)).json()

  await pm2('start', 'ecosystem.config.js')
  const before = await workers()
  assert.ok(before.every(({ pm2_env: { status } }) => status === 'online'))
  assert.deepEqual(await user(), { id: '7' })

  await pm2('reload', 'shop')
  const after = await workers()
  assert.equal(after.length, before.length)
  assert.ok(after.every(({ pid }) => before.every((worker) => worker.pid !== pid)))
  assert.deepEqual(await user(), { id: '7' })
  const metrics = await metricsOf(adminPort)
  assert.match(metrics, new RegExp(`^spillway_workers\\{state="live"\\} ${after.length}$`, 'm'))
})
