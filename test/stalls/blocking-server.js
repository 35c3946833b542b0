'use strict'
// A server whose routes each block in one call of Node or V8, for test/stalls/blocking-call.program.js. A
// body of JSON is parsed by Express.

const { spawnSync } = require('node:child_process')
const crypto = require('node:crypto')
const fs = require('node:fs')
const zlib = require('node:zlib')
const express = require('express')
const { createSpillway } = require('../../src/index.js')

const FILE = process.argv[2]
/** Large enough to block for longer than the threshold on a fast machine. */
const ROWS = Array.from({ length: 1_000_000 }, (_, i) => ({ i, name: `the name of row ${i}` }))
const TEXT = JSON.stringify(ROWS)
fs.writeFileSync(FILE, Buffer.alloc(4e8, 'a line of text\n'))
const BYTES = crypto.randomBytes(16e6)
const EMAIL = /^([a-z]+)+$/
const countOf = (list) => list.length

function parseLarge() {
  return JSON.parse(TEXT)
}

const BLOCKS = {
  read() {
    // JSON.parse(TEXT) in a comment is not called.
    const bytes = fs.readFileSync(FILE)
    return countOf(bytes)
  },
  // The function that called has returned when V8 can read the stack.
  within() {
    return countOf(parseLarge())
  },
  argument() {
    return countOf({ rows: parseLarge() }.rows)
  },
  nested() {
    return countOf(JSON.parse(fs.readFileSync(__filename, 'utf8').slice(0, 0) + TEXT))
  },
  stringify: () => JSON.stringify(ROWS.concat(ROWS)).length,
  pbkdf2: () => crypto.pbkdf2Sync('password', 'salt', 900_000, 32, 'sha512').length,
  scrypt: () => crypto.scryptSync('password', 'salt', 64, { N: 2 ** 17, maxmem: 1e9 }).length,
  random() {
    const bytes = crypto.randomBytes(4e8)
    return countOf(bytes)
  },
  key: () => typeof crypto.generateKeyPairSync('rsa', { modulusLength: 4096 }).publicKey,
  hash: () => crypto.createHash('sha512').update(Buffer.alloc(3e8)).digest('hex'),
  gzip: () => zlib.gzipSync(BYTES, { level: 9 }).length,
  child: () => spawnSync('sleep', ['0.4']).status + countOf([]),
  clone() {
    const rows = structuredClone(ROWS)
    return countOf(rows)
  },
  regexp: () => EMAIL.test(`${'a'.repeat(27)}!`),
  replace: () => `${'a'.repeat(27)}!`.replace(/^([a-z]+)+$/, ''),
  sort: () => ROWS.slice().sort((a, b) => Math.sin(a.i) - Math.sin(b.i))[0].i,
  map: () => ROWS.concat(ROWS).map(({ i, name }) => `${name} ${Math.sin(i)} ${Math.cos(i)}`).length,
}

const spillway = createSpillway({
  logger: false,
  fleet: false,
  errors: { answer: false },
  shed: { mode: 'off' },
  insight: { stalls: 'always' },
})
const app = express()
app.use(spillway.express())
app.use(express.json({ limit: '100mb' }))
for (const [name, block] of Object.entries(BLOCKS))
  app.get(`/${name}`, (_req, res) => {
    const told = block()
    res.send(String(told))
  })
app.get('/awaited', async (_req, res) => {
  const rows = parseLarge()
  await new Promise((resolve) => setTimeout(resolve, 1))
  for (const until = process.cpuUsage().user + 250_000; process.cpuUsage().user < until; );
  res.send(String(rows.length))
})
app.post('/body', (req, res) => res.send(String(req.body.length)))
app.get('/rows', (_req, res) => res.json(ROWS.concat(ROWS)))
// A parent that took too long is dead, and its runner waits for whoever has its standard error.
process.on('disconnect', () => process.exit())
let stalls = []
spillway.on('stall', (stall) => stalls.push(stall))
// A stall is known at the end of its loop turn, and a question comes in a later one.
process.on('message', () => {
  process.send?.({ stalls })
  stalls = []
})
const server = app.listen(0, '127.0.0.1', () =>
  process.send?.({ port: /** @type {import('node:net').AddressInfo} */ (server.address()).port })
)
spillway.attach(server)
