'use strict'
// Ctrl-C and a watcher in real processes, whose production drain would never end: in development they end at
// once.

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { Connection } = require('../support/connection')
const { startProgram } = require('../support/program')

const UPGRADE = 'GET / HTTP/1.1\r\nHost: a\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n'

/** In production it would keep idle connections for a quarter of this. */
const ENDLESS_MS = 2 ** 31 - 1
const SERVING = `
  const http = require('node:http')
  const { createSpillway } = require(${JSON.stringify(path.join(__dirname, '..', '..', 'src', 'index.js'))})
  const spillway = createSpillway({ logger: false, drain: { timeout: ${ENDLESS_MS} } })
  const held = []
  const server = http.createServer((req, res) => {
    if (req.url === '/hold') return void held.push(res)
    if (req.url !== '/events') return res.end('done')
    res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\\n\\n')
  })
  server.keepAliveTimeout = ${ENDLESS_MS}
  server.on('upgrade', (_req, socket) => socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: echo\\r\\nConnection: Upgrade\\r\\n\\r\\n'))
  spillway.on('draining', ({ mode, reason }) => {
    console.log('draining in ' + mode + ' by ' + reason)
    setImmediate(() => held.forEach((res) => res.end('held until now')))
  })
  spillway.attach(server, { signals: true }).listen(0, '127.0.0.1', () => console.log('port ' + server.address().port + ' of ' + process.pid))
`
const get = (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

/** A browser's tab, an event stream and a WebSocket, and a request that waits for its answer. */
async function occupy(port) {
  const [idle, events, webSocket, busy] = await Promise.all(
    Array.from({ length: 4 }, () => Connection.open(port))
  )
  idle.send(get('/'))
  events.send(get('/events'))
  webSocket.send(UPGRADE)
  await Promise.all([idle.until('done'), events.until('data: 1'), webSocket.until('101')])
  busy.send(get('/hold'))
  return busy
}

async function answered(busy) {
  await busy.untilClosed()
  assert.match(busy.received, /held until now$/)
}

for (const [what, signal, env] of [
  ['Ctrl-C', 'SIGINT', {}],
  ['the restart of node --watch', 'SIGTERM', { WATCH_REPORT_DEPENDENCIES: '1' }],
  ['the restart of nodemon', 'SIGUSR2', { npm_lifecycle_script: 'nodemon server.js' }],
  ['SIGTERM with NODE_ENV development', 'SIGTERM', { NODE_ENV: 'development' }],
]) {
  test(`${what} ends a process that has kept connections`, {
    skip: process.platform === 'win32',
  }, async (t) => {
    const { child, closed, until } = startProgram(SERVING, { t, env })
    const [, port] = await until(/port (\d+)/)
    const busy = await occupy(Number(port))
    // It is in flight when this has its answer.
    const later = await Connection.open(Number(port))
    later.send(get('/'))
    await later.until('done')
    child.kill(/** @type {NodeJS.Signals} */ (signal))
    await answered(busy)
    assert.deepEqual(await closed, { code: 0, signal: null })
    assert.match((await until(/draining in .*\n/))[0], new RegExp(`in development by ${signal}`))
  })
}

const LEADING = `
  const cluster = require('node:cluster')
  if (cluster.isPrimary) require(${JSON.stringify(path.join(__dirname, '..', '..', 'src', 'index.js'))}).clusterPrimary({ workers: 1, logger: false })
  else { ${SERVING} }
`
for (const [signal, env] of [
  ['SIGINT', {}],
  ['SIGUSR2', { npm_lifecycle_script: 'nodemon server.js' }],
]) {
  test(`clusterPrimary() tells its workers of its ${signal}`, {
    skip: process.platform === 'win32',
  }, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'spillway-development-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = path.join(folder, 'server.js')
    writeFileSync(file, LEADING)
    const { child, closed, until } = startProgram(undefined, { t, file, env })
    const [, port, pid] = await until(/port (\d+) of (\d+)/)
    t.after(() => {
      try {
        process.kill(Number(pid), 'SIGKILL')
      } catch {
        // It has ended, as it should.
      }
    })
    const busy = await occupy(Number(port))
    child.kill(/** @type {NodeJS.Signals} */ (signal))
    await answered(busy)
    assert.deepEqual(await closed, { code: 0, signal: null })
    await until(/draining in development by stopped/)
  })
}

for (const [what, env] of [
  ['NODE_ENV production', { NODE_ENV: 'production' }],
  ['PM2', { pm_id: '0' }],
]) {
  test(`with ${what}, SIGINT drains as in production`, { skip: process.platform === 'win32' }, async (t) => {
    const { child, until } = startProgram(SERVING, { t, env })
    const [, port] = await until(/port (\d+)/)
    const idle = await Connection.open(Number(port))
    idle.send(get('/'))
    await idle.until('done')
    child.kill('SIGINT')
    await until(/draining in production by SIGINT/)
    // Still served on the connection that was kept.
    idle.send(get('/'))
    await idle.until('done', 2)
  })
}
