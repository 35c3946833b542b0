'use strict'
// `log.access` as an object, with the logger of our own: in a process of its own, for it writes to standard
// output.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { test } = require('node:test')
const { promisify } = require('node:util')

const SCRIPT = `
  const http = require('node:http')
  const { createSpillway } = require('./src')
  const round = { big: 2n }
  round.itself = round
  const spillway = createSpillway({ log: { access: { fields: () => ({ round }), level: () => 'fatal' } }, insight: false })
  const server = http.createServer(spillway.wrap((req, res) => res.end())).listen(0, '127.0.0.1', async () => {
    await (await fetch('http://127.0.0.1:' + server.address().port)).text()
    server.closeAllConnections()
    server.close(() => spillway.close())
  })`

test('fields that JSON cannot express and levels that only pino has are written', async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const cwd = path.join(__dirname, '..', '..')
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', SCRIPT], { cwd, env })
  const line = stdout
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text))
    .find(({ msg }) => msg === 'request completed')
  assert.equal(line.level, 60)
  assert.equal(line.round.big, 2)
  assert.equal(line.round.itself, '[Circular]')
})
