'use strict'
// The last lines of a process that ends: whichever logger it has, they are written.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { describe, it } = require('node:test')
const { promisify } = require('node:util')
const { outsideTests } = require('../support/outside-tests')

const run = promisify(execFile)
const ROOT = path.join(__dirname, '..', '..')

/** Five requests to a server in a process of its own, which ends by itself. */
const script = (logger, { end = '', status = 200 } = {}) => `
  const http = require('node:http')
  const pino = require('pino')
  const { createSpillway } = require('./src')
  const spillway = createSpillway({ logger: ${logger}, log: { access: true }, insight: false })
  const server = http.createServer(spillway.wrap((req, res) => res.writeHead(${status}).end('ok'))).listen(0, '127.0.0.1', async () => {
    for (let i = 0; i < 5; i++) await (await fetch('http://127.0.0.1:' + server.address().port)).text()
    server.closeAllConnections()
    server.close(() => {
      process.stderr.write(JSON.stringify(spillway.snapshot().internalErrors))
      spillway.close()
      ${end}
    })
  })`

describe('in a process that ends', () => {
  for (const [what, logger, end] of [
    ['that writes later', 'pino(pino.destination({ sync: false, minLength: 4096 }))'],
    [
      'that writes later, by process.exit()',
      'pino(pino.destination({ sync: false, minLength: 4096 }))',
      'process.exit()',
    ],
    ['that writes in a worker', "pino({ transport: { target: 'pino/file' } })"],
    ['of its own', 'undefined'],
  ]) {
    it(`every line of a logger ${what} is written`, async () => {
      const { stdout, stderr } = await run(process.execPath, ['-e', script(logger, { end })], {
        cwd: ROOT,
        env: outsideTests(),
      })
      const messages = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map(({ event, msg }) => event ?? msg)
      assert.deepEqual(messages, ['started', ...Array(5).fill('request completed')])
      assert.equal(stderr, '{}')
    })
  }

  it('a full disk behind standard output does not end the process', async () => {
    const command = `"${process.execPath}" -e "$SCRIPT" > /dev/full`
    const { stderr } = await run('sh', ['-c', command], {
      cwd: ROOT,
      env: outsideTests({ SCRIPT: script('undefined', { status: 500 }) }),
    })
    assert.match(stderr, /^\{"logger":\d+\}$/)
  })
})
