'use strict'
// A real server that hangs in the handler of a request, and what its watching thread answers.

const { once } = require('node:events')
const http = require('node:http')
const { text: textIn } = require('node:stream/consumers')
const { startProgram } = require('../support/program')

const ALWAYS = { insight: { stalls: 'always' } }

/** For the start of the watching thread. */
const WATCHED_MS = 1500
const SERVER = `
  const http = require('node:http')
  const express = require('express')
  const { createSpillway } = require('./src/index.js')
  const spillway = createSpillway({ fleet: false, ...OPTIONS })
  const app = express()
  app.use(spillway.express())
  app.get('/hang/:id', function hang() { HANG })
  const server = http.createServer(app)
  spillway.attach(server)
  process.on('exit', (code) => require('node:fs').writeSync(1, 'exit listener ' + code + '\\n'))
  // The thread watches once it has taken two beats.
  server.listen(0, '127.0.0.1', () => setTimeout(() => TELL({ port: server.address().port }), WATCHED_MS))
`
const HANGS = {
  'an endless loop': 'for (;;);',
  'a catastrophic regular expression': "/^(a+)+$/.test('a'.repeat(40) + '!')",
  'Atomics.wait()': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)',
}
const NATIVE = {
  'a synchronous child process': [
    "require('node:child_process').execFileSync('sleep', ['600'])",
    /waiting for the child process sleep \(pid \d+\)/,
  ],
  'a synchronous call of crypto': [
    "require('node:crypto').pbkdf2Sync('password', 'salt', 2 ** 31 - 1, 32, 'sha512')",
    /in native code: a collection of the heap, or a synchronous call of crypto/,
  ],
}

/** @param {import('node:test').TestContext} t */
async function hung(
  t,
  hang,
  {
    options = /** @type {object} */ (ALWAYS),
    isWorker = false,
    env = {},
    nodeArgs = /** @type {string[]} */ ([]),
  } = {}
) {
  const tell = isWorker ? "require('node:worker_threads').parentPort.postMessage" : 'process.send'
  const server = SERVER.replace('WATCHED_MS', String(WATCHED_MS))
    .replace('OPTIONS', JSON.stringify(options))
    .replace('HANG', () => hang)
    .replace('TELL', tell)
  const inWorker = `
    const { Worker } = require('node:worker_threads')
    new Worker(${JSON.stringify(server)}, { eval: true })
      .on('message', (message) => process.send(message))
      .on('exit', (threadCode) => process.send({ threadCode }, () => process.exit(3)))`
  const program = startProgram(isWorker ? inWorker : server, {
    t,
    env,
    nodeArgs,
    hasChannel: true,
    tellsErrors: true,
  })
  const port = await program.next('port')
  http.get({ host: '127.0.0.1', port, path: '/hang/1', agent: false }).on('error', () => {})
  return program
}

/** Of the server in the watching thread. */
async function asked(port, path, headers = {}) {
  const req = http.get({ host: '127.0.0.1', port, path, agent: false, headers })
  const [res] = await once(req, 'response')
  const text = await textIn(res)
  return { status: res.statusCode, age: res.headers.age, text }
}

const LISTEN = `
  spillway.listen({ port: 0, blockedPort: 0, token: 'a-token-of-the-test' })
    .then(({ blockedPort }) => process.send({ blockedPort }), (error) => process.send({ error: error.message }))
`

module.exports = { ALWAYS, HANGS, LISTEN, NATIVE, SERVER, WATCHED_MS, asked, hung }
