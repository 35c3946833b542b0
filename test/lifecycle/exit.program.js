'use strict'
// No spillway keeps a process alive, and none that is closed keeps anything.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { runNode } = require('../support/run-node')

const TIMEOUT_MS = 120_000
const CREATE = "const { createSpillway } = require('./src/index.js'); const spillway = createSpillway();"

const PROGRAMS = {
  'with a spillway open': CREATE,
  'with two open': `${CREATE} createSpillway()`,
  'with one closed': `${CREATE} spillway.close(); spillway.close()`,
  'after a snapshot': `${CREATE} spillway.snapshot()`,
  'when a server it is attached to has closed': `${CREATE}
    const server = spillway.attach(require('node:http').createServer((_req, res) => res.end('ok')))
    server.listen(0, '127.0.0.1', async () => {
      await fetch('http://127.0.0.1:' + server.address().port + '/metrics').then((answer) => answer.text())
      server.close()
      server.closeAllConnections()
    })`,
}

for (const [when, program] of Object.entries(PROGRAMS)) {
  test(`a process ends by itself ${when}`, { timeout: TIMEOUT_MS }, async (t) => {
    const { code, signal } = await runNode(program, { t })
    assert.deepEqual({ code, signal }, { code: 0, signal: null })
  })
}

test('a process may close its spillway by `using`-style disposal', { timeout: TIMEOUT_MS }, async (t) => {
  const { output } = await runNode(
    `${CREATE} spillway[Symbol.dispose](); console.log(JSON.stringify(process.getActiveResourcesInfo()))`,
    { t }
  )
  assert.ok(!output.includes('Immediate') && !output.includes('Timeout'), String(output))
})
