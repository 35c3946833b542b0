'use strict'
// An application under its own tests: it fails, drains and is never closed, and neither prints a line nor
// keeps the process.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { outsideTests } = require('../support/outside-tests')

const ROOT = path.join(__dirname, '..', '..')
const needs = (name) => JSON.stringify(path.join(ROOT, name))

const APPLICATION = `
  const express = require(${needs('node_modules/express')})
  const { createSpillway } = require(${needs('src')})
  const spillway = createSpillway({ log: { access: true, slowAfter: 1 }, insight: false })
  const app = express().use(spillway.express())
  app.get('/fails', () => { throw new Error('as it should') })
  app.get('/slow', (req, res) => setTimeout(() => res.end('slow'), 20))
  app.use(spillway.errorHandler())
  async function statuses() {
    const server = app.listen(0, '127.0.0.1')
    spillway.attach(server, { signals: true })
    await new Promise((resolve) => server.once('listening', resolve))
    const ask = async (path) => {
      const answer = await fetch('http://127.0.0.1:' + server.address().port + path)
      await answer.text()
      return answer.status
    }
    const all = [await ask('/fails'), await ask('/slow'), await ask('/metrics')].join()
    // As supertest does.
    server.close()
    server.closeAllConnections()
    return all
  }
`
const NODE_TEST = `
  const { after, test } = require('node:test')
  ${APPLICATION}
  test('answers', async () => require('node:assert').equal(await statuses(), '500,200,200'))
  after(() => spillway.drain({ delay: 0, timeout: 50 }))
`
const MOCHA = `
  globalThis.describe = globalThis.it = () => {}
  ${APPLICATION}
  statuses().then((all) => require('node:assert').equal(all, '500,200,200'))
`
const BY_ITSELF = `
  ${APPLICATION}
  statuses().then((all) => require('node:assert').equal(all, '500,200,200'))
`

for (const [runner, source, args, env] of [
  ['node --test', NODE_TEST, ['--test'], {}],
  ['node:test, run as a program', NODE_TEST, [], {}],
  ['mocha', MOCHA, [], {}],
  ['jest', BY_ITSELF, [], { JEST_WORKER_ID: '1', NODE_ENV: 'test' }],
  ['vitest', BY_ITSELF, [], { VITEST: 'true', NODE_ENV: 'test' }],
]) {
  test(`under ${runner} it prints nothing, and the process ends`, (t) => {
    const { status, output } = run(t, source, args, env)
    assert.equal(status, 0, output)
    assert.doesNotMatch(output, /spillway|as it should/)
  })
}

test('outside of test runners it prints errors', (t) => {
  const { status, output } = run(t, BY_ITSELF, [], {})
  assert.equal(status, 0, output)
  assert.match(output, /"component":"spillway".*as it should/)
})

function run(t, source, args, env) {
  const folder = mkdtempSync(path.join(tmpdir(), 'own-tests-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'app.test.js')
  writeFileSync(file, source)
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, file], {
    encoding: 'utf8',
    env: outsideTests(env),
    timeout: 60_000,
  })
  return { status, output: stdout + stderr }
}
