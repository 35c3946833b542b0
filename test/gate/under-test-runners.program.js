'use strict'
// An application under its own tests serves all requests that a test sends at once.
// A mode that the application gives is kept.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { outsideTests } = require('../support/outside-tests')

const INDEX = JSON.stringify(path.join(__dirname, '..', '..', 'src'))
/** Together they take a second of the loop, which is `shed.maxDelay`. */
const COUNT = 20
const ALL = { 200: COUNT }

const application = (shed) => `
  const http = require('node:http')
  const { createSpillway } = require(${INDEX})
  const told = []
  const logger = { debug: ({ event }) => told.push(event), info() {}, warn() {}, error() {} }
  const spillway = createSpillway({ logger, shed: ${JSON.stringify(shed)} })
  const answer = (res) => {
    const endMs = performance.now() + 50
    while (performance.now() < endMs);
    res.end()
  }
  // A request that awaits something holds its place of \`maxConcurrent\` meanwhile.
  const server = http.createServer((_req, res) => void setTimeout(answer, 1, res))
  const ask = (port) =>
    new Promise((resolve) =>
      http.get({ port, host: '127.0.0.1', agent: false }, (res) =>
        res.resume().on('end', () => resolve(res.statusCode))
      )
    )
  async function run() {
    spillway.attach(server).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const statuses = {}
    const { port } = server.address()
    for (const status of await Promise.all(Array.from({ length: ${COUNT} }, () => ask(port))))
      statuses[status] = (statuses[status] ?? 0) + 1
    server.close()
    const { mode } = spillway.snapshot().admission
    require('node:fs').writeFileSync(process.env.RESULT, JSON.stringify({ mode, statuses, told }))
  }
`
const asTest = (shed) =>
  `const { test } = require('node:test')\n${application(shed)}\ntest('requests at once', run)`
const asProgram = (shed) => `${application(shed)}\nrun()`

/** @returns {{ mode: string, statuses: Record<string, number>, told: string[] }} */
function resultOf(t, source, args, env) {
  const folder = mkdtempSync(path.join(tmpdir(), 'spillway-under-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [file, result] = ['app.test.js', 'result.json'].map((name) => path.join(folder, name))
  writeFileSync(file, source)
  const { status, stdout } = spawnSync(process.execPath, [...args, file], {
    encoding: 'utf8',
    env: outsideTests({ ...env, RESULT: result }),
  })
  assert.equal(status, 0, stdout)
  return JSON.parse(readFileSync(result, 'utf8'))
}

for (const [where, sourceOf, args, env] of /** @type {const} */ ([
  ['node --test', asTest, ['--test'], {}],
  ['node:test, run as a program', asTest, [], {}],
  ['NODE_ENV=test', asProgram, [], { NODE_ENV: 'test' }],
])) {
  test(`${where}: requests at once are all served, and the log says why`, (t) => {
    assert.deepEqual(resultOf(t, sourceOf({}), args, env), {
      mode: 'observe',
      statuses: ALL,
      told: ['observedInTest'],
    })
  })

  test(`${where}: the mode that the application gives is kept`, (t) => {
    const shed = { mode: 'adaptive', maxConcurrent: 1, targetDelay: 1, maxDelay: 1 }
    const { mode, statuses, told } = resultOf(t, sourceOf(shed), args, env)
    assert.deepEqual([mode, told], ['adaptive', []])
    assert.ok(statuses[503] > 0, JSON.stringify(statuses))
  })
}

test('outside tests, the mode is adaptive by default', (t) => {
  const { mode, told } = resultOf(t, asProgram({}), [], {})
  assert.deepEqual([mode, told], ['adaptive', []])
})
