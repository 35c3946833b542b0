'use strict'
// An application to be put into one file by a bundler: it tells its parent where it listens and what Spillway
// logs. `checkAlone` and `checkInstalled` say what must work of it.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { ask } = require('./serve')
const { startProgram } = require('./program')

const IMPORTS = {
  cjs: `
const http = require('node:http')
const express = require('express')
const { createSpillway } = require('spillway')
`,
  esm: `
import http from 'node:http'
import express from 'express'
import { createSpillway } from 'spillway'
`,
}

const APP = `
const tell = (message) => process.connected && process.send(message, () => {})
const log = (fields) => tell({ logged: { ...fields, err: undefined, text: fields.err?.message } })
const spillway = createSpillway({
  fleet: false,
  shed: { mode: 'off' },
  logger: { info: log, warn: log, error: log },
  insight: { stalls: 'always' },
})
spillway.on('stall', (stall) => tell({ stall }))
const app = express()
app.use(spillway.express())
app.get('/users/:id', (req, res) => res.json({ id: req.params.id }))
app.get('/block', function blockTheLoop(req, res) {
  const until = Date.now() + 400
  // rollup leaves out a loop that has no effect.
  let turns = 0
  while (Date.now() < until) turns++
  res.end(String(turns))
})
app.get('/throw', () => {
  throw Object.assign(new Error('out of stock'), { status: 409 })
})
app.use(spillway.errorHandler())
const server = http.createServer(app).listen(0, '127.0.0.1', async () => {
  spillway.attach(server)
  const { port } = await spillway.listen({ port: 0 })
  const second = createSpillway({ fleet: false, logger: false })
  const blocked = await second.listen({ port: 0, blockedPort: 0 }).then(
    ({ blockedPort }) => ({ port: blockedPort }),
    ({ code, message }) => ({ code, message })
  )
  tell({ ports: { app: server.address().port, admin: port, blocked } })
})
process.on('disconnect', () => process.exit())
`

/** @param {'cjs' | 'esm'} format */
const sourceOf = (format) => IMPORTS[format] + APP

/** Starts the bundle, and asks it for what no bundler may change: routes, errors, metrics. */
async function start(t, { file, cwd, nodeArgs = [] }) {
  const program = startProgram('', { t, file, cwd, nodeArgs, hasChannel: true })
  const ports = await program.next('ports')
  const get = (port, path, headers = {}) => ask({ port, path, headers })
  assert.equal((await get(ports.app, '/users/7')).body, '{"id":"7"}')
  assert.equal((await get(ports.app, '/throw')).status, 409)
  const metrics = (await get(ports.app, '/metrics')).body
  assert.match(metrics, /^http_server_request_duration_seconds_count\{[^}]*http_route="\/users\/:id".* 1$/m)
  assert.match(metrics, /^spillway_errors_total\{[^}]*http_route="\/throw".* 1$/m)
  return { ...program, ports, get }
}

const missing = (name) =>
  new RegExp(`^(The page could not be made: )?The file node_modules/spillway/src/${name} is missing`)

/** The bundle with nothing beside it: what needs a file says which one. */
async function checkAlone(t, options) {
  const { ports, get, messages } = await start(t, options)
  const list = await get(ports.admin, '/')
  const page = await get(ports.admin, '/', { accept: 'text/html' })
  assert.equal(page.body, list.body)
  // Lines come over a channel of their own, which may be later than the answer.
  const untilLogged = async (name) => {
    while (!messages.some(({ logged }) => missing(name).test(logged?.text))) await sleep(1)
  }
  await untilLogged('features/admin/page/index.html')
  await untilLogged('features/stalls/stall-watcher-thread.js')
  const failed = []
  for (const [path] of list.body.matchAll(/^\/\S+/gm)) {
    if (path === '/live') continue
    const { status, body } = await get(ports.admin, path)
    if (status >= 500) failed.push([path, body])
  }
  assert.deepEqual(
    failed.map(([path]) => path),
    ['/report']
  )
  assert.match(failed[0][1], missing('features/admin/page/colors.css'))
  for (const path of ['/profile', '/heap']) {
    const { status, body } = await ask({ port: ports.admin, method: 'POST', path })
    assert.equal(status, 503)
    assert.match(body, missing('features/profiles/profile-thread.js'))
  }
  assert.equal(ports.blocked.code, 'ERR_SPILLWAY_MISSING_FILE')
  assert.match(ports.blocked.message, missing('blocked-thread.js'))
  return { ports, get }
}

/** What blocks the loop rests in between, and says how long. */
async function askRested(options) {
  for (;;) {
    const answer = await ask(options)
    if (answer.status !== 429) return answer
    await sleep(Number(answer.headers['retry-after']) * 1000)
  }
}

/** The bundle where the package is installed: everything works. */
async function checkInstalled(t, options) {
  const { child, ports, get, next } = await start(t, options)
  const profile = await askRested({ port: ports.admin, method: 'POST', path: '/profile?seconds=1' })
  assert.equal(profile.status, 200, profile.body)
  const page = await get(ports.admin, '/', { accept: 'text/html' })
  assert.match(page.headers['content-type'], /^text\/html/)
  const report = await askRested({ port: ports.admin, path: '/report' })
  assert.deepEqual([report.status, /^<!doctype html>/.test(report.body)], [200, true])
  assert.equal((await get(ports.blocked.port, '/livez')).status, 200)
  // A busy machine may see another stall first.
  for (;;) {
    await get(ports.app, '/block')
    const stall = await next('stall')
    if (stall.route !== '/block' || stall.cause !== 'javascript') continue
    assert.equal(stall.function, 'blockTheLoop')
    child.disconnect()
    await once(child, 'exit')
    return stall
  }
}

module.exports = { checkAlone, checkInstalled, sourceOf }
