'use strict'
// npm run test:pm2: PM2 itself, from the registry into a temporary folder, in cluster mode. Its primary is a
// daemon that runs no code of ours and outlives the app.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const { mkdtempSync, readdirSync, rmSync } = require('node:fs')
const net = require('node:net')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { after, before, test } = require('node:test')
const { promisify } = require('node:util')
const { parse, oneValue } = require('../support/metrics-text')

const run = promisify(execFile)
const APP = path.join(__dirname, 'pm2-app.js')
const COUNT = 'http_server_request_duration_seconds_count'
const home = mkdtempSync(path.join(tmpdir(), 'sw-'))
const env = { ...process.env, PM2_HOME: home, TMPDIR: home }
let port

const pm2 = (...args) =>
  run(process.execPath, [path.join(home, 'node_modules', 'pm2', 'bin', 'pm2'), ...args], { cwd: home, env })

before(async () => {
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', home, 'pm2@7'], { cwd: home })
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = server.address().port
  server.close()
  env.PORT = String(port)
})

after(async () => {
  await pm2('kill')
  rmSync(home, { recursive: true, force: true })
})

const get = async (url) =>
  (await fetch(`http://127.0.0.1:${port}${url}`, { headers: { connection: 'close' } })).text()
const scrape = async () => parse(await get('/metrics'))
const live = (families) => oneValue(families, 'spillway_workers', { state: 'live' })

/** A scrape may share a rendering that is a second old: from before the requests. */
const hasAll = (families) => {
  const counts = [...families.values()].flatMap(({ samples }) => samples.filter(({ name }) => name === COUNT))
  return counts.length === 1 && counts[0].value === 40
}

/** Workers come up when they do. */
async function onceThere(holds) {
  for (;;) {
    const families = await scrape().catch(() => undefined)
    if (families !== undefined && holds(families)) return families
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

test('workers of PM2 answer for all, keep their counts over a reload, and do not see another app', async () => {
  await pm2('start', APP, '-i', '2', '--name', 'shop')
  await onceThere((families) => live(families) === 2)
  const pids = new Set()
  for (let i = 0; i < 40; i++) pids.add(await get('/'))
  assert.equal(pids.size, 2)
  for (let i = 0; i < 6; i++) {
    const families = await onceThere(hasAll)
    const { samples } = families.get('spillway_heap_limit_bytes')
    assert.deepEqual(samples.map(({ labels }) => labels.worker).sort(), ['0', '1'])
  }

  await pm2('reload', 'shop')
  const reloaded = await onceThere((families) => oneValue(families, 'spillway_workers_departed_total') === 2)
  assert.ok(hasAll(reloaded))

  // Where it listens does not matter: another app of the same daemon is another fleet.
  env.PORT = '0'
  await pm2('start', APP, '-i', '1', '--name', 'other', '-f')
  while (readdirSync(home).filter((name) => name.startsWith('spillway-')).length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const families = await onceThere(hasAll)
  assert.equal(live(families), 2)
})
